// Runs the trees: a plain walk, one method per kind of node. What it doesn't
// know it refuses by name, so that a green run means that all was understood.
import { ApexMap, ApexSet, Decimal, EnumValue, Instance, List, Thrown, compareNumbers, isNumeric, same, textOf, typeNames } from './values.mjs';
import { kind, optional, typeName } from './program.mjs';

const BREAK = { signal: 'break' };
const CONTINUE = { signal: 'continue' };

export class Interpreter {
  /** library: system classes; org: SObjects, SOQL and DML, may be null. */
  constructor(classes, library, org = null) {
    Object.assign(this, { classes, library, org });
    org?.attach(this);
  }

  // Classes ---------------------------------------------------------------

  classNamed(name, from) {
    for (let scope = from; scope; scope = scope.outer) {
      if (scope.name.split('.').pop().toLowerCase() === name) return scope;
      if (scope.inner?.has(name)) return scope.inner.get(name);
    }
    const [first, ...rest] = name.split('.');
    let found = rest.length > 0 ? this.classNamed(first, from) : this.classes.get(first);
    for (const part of rest) found = found?.inner?.get(part);
    return found ?? null;
  }

  ready(cls) {
    if (cls.isReady || !cls.statics) return cls;
    cls.isReady = true;
    for (const s of cls.statics) cls.staticValues.set(s.name, null);
    for (const s of cls.statics) {
      if (s.init) cls.staticValues.set(s.name, this.fit(this.eval(s.init, { cls, self: null, vars: new Map() }), s.type));
    }
    return cls;
  }

  parentOf(cls) {
    return cls.superName ? this.classNamed(cls.superName, cls.outer) ?? this.library.exceptions.get(cls.superName) ?? null : null;
  }

  isA(cls, name) {
    for (let c = cls; c; c = this.parentOf(c)) {
      const full = c.name.toLowerCase();
      if (full === name || full.endsWith(`.${name}`) || c.interfaces?.includes(name) || c.names?.includes(name)) return true;
    }
    return false;
  }

  isInstance(value, type) {
    const name = typeName(type);
    if (value === null || value === undefined) return false;
    if (name === 'object') return true;
    if (value instanceof Instance) return this.isA(value.cls, name);
    if (value instanceof EnumValue) return value.owner.name.toLowerCase().endsWith(name);
    if (this.org?.isInstance(value, name)) return true;
    return typeNames(value).includes(name.split('.').pop());
  }

  create(cls, args) {
    const made = new Instance(this.ready(cls));
    this.initialize(made, cls);
    const own = cls.constructors.length > 0 || !this.isA(cls, 'exception');
    if (own) this.construct(made, cls, args);
    else made.message = args[0] === undefined ? null : args[0];
    return made;
  }

  initialize(made, cls) {
    const parent = this.parentOf(cls);
    if (parent?.fields) this.initialize(made, parent);
    for (const f of cls.fields) {
      made.fields.set(f.name, f.init ? this.fit(this.eval(f.init, { cls, self: made, vars: new Map() }), f.type) : null);
    }
  }

  construct(made, cls, args) {
    if (cls.constructors.length === 0) {
      const parent = this.parentOf(cls);
      if (parent?.constructors) this.construct(made, parent, args);
      return;
    }
    const ctor = this.choose(cls.constructors, args, cls.name);
    const first = ctor.body.stmnts[0];
    const calls = first && kind(first) === 'Stmnt$ExpressionStmnt' && /Expr\$(Super|This)MethodCallExpr/.test(kind(first.expr));
    const parent = this.parentOf(cls);
    if (!calls && parent?.constructors?.length > 0) this.construct(made, parent, []);
    this.run(ctor, made, args);
  }

  // Methods ---------------------------------------------------------------

  choose(methods, args, name) {
    const fitting = methods.filter((m) => m.parameters.length === args.length);
    const exact = fitting.find((m) => m.parameters.every((p, i) => args[i] === null || this.isInstance(args[i], p.type)));
    if (!exact) throw new Error(`no method ${name}(${args.map(textOf).join(', ')})`);
    return exact;
  }

  findMethods(cls, name) {
    for (let c = cls; c; c = this.parentOf(c)) if (c.methods?.has(name)) return c.methods.get(name);
    return null;
  }

  run(method, self, args) {
    const vars = new Map(method.parameters.map((p, i) => [p.name, this.fit(args[i], p.type)]));
    const done = this.exec(method.body, { cls: method.owner, self, vars });
    if (done?.signal !== 'return') return null;
    return method.type ? this.fit(done.value, method.type) : done.value;
  }

  call(self, name, args) {
    const methods = this.findMethods(self.cls, name);
    if (methods) return this.run(this.choose(methods, args, name), self, args);
    return this.library.callInstance(self, name, args);
  }

  callStatic(cls, name, args) {
    const methods = this.findMethods(this.ready(cls), name);
    if (!methods) throw new Error(`no static method ${cls.name}.${name}`);
    return this.run(this.choose(methods, args, name), null, args);
  }

  /** fit gives a value the form of a declared type: 1 as Decimal is a Decimal. */
  fit(value, type) {
    const name = typeName(type);
    if (name === 'decimal' && isNumeric(value)) return Decimal.of(value);
    if (name === 'double' && isNumeric(value)) return Number(textOf(value));
    if (value instanceof List && name !== 'list' && this.org?.isObject(name)) return this.org.only(value);
    return value === undefined ? null : value;
  }

  raise(name, message) {
    const made = new Instance(this.library.exceptions.get(name.toLowerCase()));
    made.message = message;
    throw new Thrown(made);
  }

  // Statements ------------------------------------------------------------

  exec(node, env) {
    return this[kind(node)](node, env);
  }

  Stmnt$BlockStmnt(node, env) {
    const inner = { ...env, vars: Object.assign(new Map(), { parent: env.vars }) };
    for (const statement of node.stmnts) {
      const done = this.exec(statement, inner);
      if (done) return done;
    }
    return undefined;
  }

  Stmnt$ExpressionStmnt(node, env) {
    this.eval(node.expr, env);
  }

  Stmnt$VariableDeclStmnt({ variableDecls: { decls, type } }, env) {
    for (const d of decls) env.vars.set(d.name.value.toLowerCase(), optional(d.assignment) ? this.fit(this.eval(d.assignment.value, env), type) : null);
  }

  Stmnt$ReturnStmnt(node, env) {
    return { signal: 'return', value: optional(node.expr) ? this.eval(node.expr.value, env) : null };
  }

  Stmnt$BreakStmnt = () => BREAK;
  Stmnt$ContinueStmnt = () => CONTINUE;

  Stmnt$ThrowStmnt(node, env) {
    throw new Thrown(this.eval(node.expr, env));
  }

  Stmnt$DmlInsertStmnt(node, env) {
    this.org.dml('insert', this.eval(node.expr, env), true);
  }

  Stmnt$DmlUpdateStmnt(node, env) {
    this.org.dml('update', this.eval(node.expr, env), true);
  }

  Stmnt$RunAsBlock(node, env) {
    return this.exec(node.stmnt, env);
  }

  Stmnt$IfElseBlock(node, env) {
    for (const block of node.ifBlocks) if (this.eval(block.expr, env) === true) return this.exec(block.stmnt, env);
    return optional(node.elseBlock) ? this.exec(node.elseBlock.value.stmnt, env) : undefined;
  }

  loop(condition, body, step) {
    while (condition()) {
      const done = body();
      if (done === BREAK) return undefined;
      if (done && done !== CONTINUE) return done;
      step();
    }
    return undefined;
  }

  Stmnt$WhileLoop(node, env) {
    return this.loop(() => this.eval(node.condition, env), () => this.exec(node.stmnt.value, env), () => {});
  }

  Stmnt$ForLoop(node, env) {
    const inner = { ...env, vars: Object.assign(new Map(), { parent: env.vars }) };
    const { forControl: control } = node;
    if (kind(control) === 'ForControl$EnhancedForControl') return this.forEach(node, control, inner);
    const inits = optional(control.inits);
    const type = inits && optional(inits.type);
    for (const init of inits?.inits ?? []) inner.vars.set(init.name[0].value.toLowerCase(), type ? this.fit(this.eval(init.expr.value, inner), type) : this.eval(init.expr.value, inner));
    const condition = optional(control.condition);
    return this.loop(
      () => !condition || this.eval(condition, inner),
      () => this.exec(node.stmnt.value, inner),
      () => optional(control.control) && this.eval(control.control.value, inner),
    );
  }

  forEach(node, control, env) {
    const values = this.eval(optional(control.init.expr), env);
    const items = [...(values instanceof ApexSet ? values.members : values.items)];
    let i = 0;
    return this.loop(
      () => i < items.length,
      () => {
        env.vars.set(control.init.name[0].value.toLowerCase(), items[i++]);
        return this.exec(node.stmnt.value, env);
      },
      () => {},
    );
  }

  Stmnt$SwitchStmnt(node, env) {
    const value = this.eval(node.expr, env);
    for (const block of node.whenBlocks) {
      if (kind(block) === 'WhenBlock$ElseWhen' || block.whenCases.some((c) => this.isCase(c, value, env))) return this.exec(block.stmnt, env);
    }
    return undefined;
  }

  isCase(node, value, env) {
    if (kind(node) === 'WhenCase$LiteralCase') return this.eval(node.expr, env) === value;
    return value !== null && node.identifiers[0].value.toLowerCase() === textOf(value).toLowerCase();
  }

  Stmnt$TryCatchFinallyBlock(node, env) {
    try {
      return this.exec(node.tryBlock, env);
    } catch (e) {
      if (!(e instanceof Thrown)) throw e;
      const block = node.catchBlocks.find((b) => this.isA(e.instance.cls, typeName(b.parameter.typeRef)));
      if (!block) throw e;
      const inner = { ...env, vars: Object.assign(new Map(), { parent: env.vars }) };
      inner.vars.set(block.parameter.name.value.toLowerCase(), e.instance);
      return this.exec(block.stmnt, inner);
    } finally {
      if (optional(node.finallyBlock)) this.exec(node.finallyBlock.value.stmnt, env);
    }
  }

  // Expressions are in expressions.mjs --------------------------------------

  eval(node, env) {
    return this[kind(node)](node, env);
  }
}

export { ApexMap, ApexSet, List, compareNumbers, same };
