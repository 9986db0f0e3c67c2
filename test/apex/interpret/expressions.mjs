// The expressions of the interpreter.
import { Interpreter } from './evaluate.mjs';
import { ApexMap, ApexSet, Decimal, EnumValue, Instance, List, compareNumbers, isNumeric, same, textOf } from './values.mjs';
import { kind, optional, typeName } from './program.mjs';

const lower = (identifier) => identifier.value.toLowerCase();

function lookUp(vars, name) {
  for (let scope = vars; scope; scope = scope.parent) if (scope.has(name)) return scope;
  return null;
}

const BINARY = {
  ADDITION: (a, b) => (typeof a === 'string' || typeof b === 'string' ? textOf(a) + textOf(b) : numbers(a, b, (x, y) => x + y, (x, y) => x.plus(y))),
  SUBTRACTION: (a, b) => numbers(a, b, (x, y) => x - y, (x, y) => x.plus(y, -1n)),
  MULTIPLICATION: (a, b) => numbers(a, b, (x, y) => x * y, (x, y) => x.times(y)),
  DIVISION: (a, b) => numbers(a, b, (x, y) => x / y, null),
  AND: (a, b) => a & b,
  LEFT_SHIFT: (a, b) => BigInt.asIntN(32, a << b),
  RIGHT_SHIFT: (a, b) => a >> b,
};

function numbers(a, b, plain, exact) {
  if (a instanceof Decimal || b instanceof Decimal) return exact(Decimal.of(a), Decimal.of(b));
  if (typeof a === typeof b) return plain(a, b);
  return plain(Number(a), Number(b));
}

const COMPARE = {
  LESS_THAN: (n) => n < 0, LESS_THAN_EQUAL: (n) => n <= 0, GREATER_THAN: (n) => n > 0, GREATER_THAN_EQUAL: (n) => n >= 0,
};

function order(a, b) {
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b);
  if (a?.ms !== undefined && b?.ms !== undefined) return compareNumbers(a.ms, b.ms);
  throw new Error(`comparing ${textOf(a)} with ${textOf(b)}`);
}

const methods = {
  Expr$LiteralExpr({ literal, type }) {
    switch (type.$) {
      case 'NULL': return null;
      case 'TRUE': return true;
      case 'FALSE': return false;
      case 'STRING': return literal.$;
      case 'DECIMAL': case 'DOUBLE': return Decimal.parse(String(literal.$));
      default: return BigInt(literal.$);
    }
  },

  Expr$NestedExpr(node, env) {
    return this.eval(node.expr, env);
  },

  Expr$ThisVariableExpr(node, env) {
    return env.self;
  },

  Expr$TernaryExpr(node, env) {
    return this.eval(node.condition, env) === true ? this.eval(node.trueExpr, env) : this.eval(node.falseExpr, env);
  },

  Expr$InstanceOf(node, env) {
    return this.isInstance(this.eval(node.expr, env), node.type);
  },

  Expr$CastExpr(node, env) {
    const value = this.eval(node.expr, env);
    const name = typeName(node.type);
    if (value === null || value === undefined || this.isInstance(value, node.type) || name === 'id') return this.fit(value, node.type);
    return this.raise('TypeException', `Invalid conversion of ${textOf(value)} to ${name}`);
  },

  Expr$PrefixExpr(node, env) {
    if (node.op.$ === 'NOT') return !this.eval(node.expr, env);
    if (node.op.$ === 'NEGATIVE') return numbers(0n, this.eval(node.expr, env), (x, y) => x - y, (x, y) => x.plus(y, -1n));
    return this.step(node, env, true);
  },

  Expr$PostfixExpr(node, env) {
    return this.step(node, env, false);
  },

  step(node, env, isPrefix) {
    const before = this.eval(node.expr, env);
    const after = numbers(before, node.op.$.startsWith('INC') || node.op.$ === 'PRE_INC' ? 1n : -1n, (x, y) => x + y, (x, y) => x.plus(y));
    this.assign(node.expr, after, env);
    return isPrefix ? after : before;
  },

  Expr$BinaryExpr(node, env) {
    const left = this.eval(node.left, env);
    return BINARY[node.op.$](left, this.eval(node.right, env));
  },

  Expr$BooleanExpr(node, env) {
    const left = this.eval(node.left, env);
    const op = node.op.$;
    if (op === 'AND') return left === true && this.eval(node.right, env) === true;
    if (op === 'OR') return left === true || this.eval(node.right, env) === true;
    const right = this.eval(node.right, env);
    if (op === 'TRIPLE_EQUAL') return left === right;
    if (op === 'NOT_TRIPLE_EQUAL') return left !== right;
    if (op === 'DOUBLE_EQUAL') return same(left, right);
    if (op === 'NOT_EQUAL') return !same(left, right);
    if (left === null || right === null) return this.raise('NullPointerException', 'comparing null');
    return COMPARE[op](order(left, right));
  },

  Expr$AssignmentExpr(node, env) {
    const op = node.op.$.replace('_EQUALS', '');
    const right = this.eval(node.right, env);
    const value = op === 'EQUALS' ? right : BINARY[op](this.eval(node.left, env), right);
    this.assign(node.left, value, env);
    return value;
  },

  assign(target, value, env) {
    if (kind(target) === 'Expr$ArrayExpr') {
      this.eval(target.expr, env).items[Number(this.eval(target.index, env))] = value;
      return;
    }
    const names = target.names.map(lower);
    const last = names.pop();
    const dotted = optional(target.dottedExpr);
    if (!dotted && names.length === 0) {
      this.assignName(last, value, env);
      return;
    }
    this.put(this.path(dotted, names, env), last, value);
  },

  assignName(name, value, env) {
    const scope = lookUp(env.vars, name);
    if (scope) {
      scope.set(name, value);
      return;
    }
    if (env.self?.fields?.has(name)) {
      env.self.fields.set(name, this.fitField(env.self.cls, name, value));
      return;
    }
    for (let c = env.cls; c; c = c.outer) {
      if (this.ready(c).staticValues?.has(name)) {
        c.staticValues.set(name, value);
        return;
      }
    }
    throw new Error(`assigning the unknown ${name} in ${env.cls.name}`);
  },

  fitField(cls, name, value) {
    for (let c = cls; c; c = this.parentOf(c)) {
      const field = c.fields?.find((f) => f.name === name);
      if (field) return this.fit(value, field.type);
    }
    return value;
  },

  put(holder, name, value) {
    if (holder instanceof Instance) holder.fields.set(name, this.fitField(holder.cls, name, value));
    else if (holder?.staticValues) holder.staticValues.set(name, value);
    else if (holder === null) this.raise('NullPointerException', 'Attempt to de-reference a null object');
    else this.library.putField(holder, name, value, this);
  },

  /** path follows a dotted expression and names: variables, fields, classes. */
  path(dotted, names, env) {
    let value;
    let rest = names;
    if (dotted) value = this.eval(dotted, env);
    else [value, rest] = this.root(names, env);
    for (const name of rest) value = this.member(value, name);
    return value;
  },

  root(names, env) {
    const [name] = names;
    const scope = lookUp(env.vars, name);
    if (scope) return [scope.get(name), names.slice(1)];
    if (env.self?.fields?.has(name)) return [env.self.fields.get(name), names.slice(1)];
    for (let c = env.cls; c; c = c.outer) if (this.ready(c).staticValues?.has(name)) return [c.staticValues.get(name), names.slice(1)];
    for (let c = this.parentOf(env.cls); c; c = this.parentOf(c)) if (c.staticValues && this.ready(c).staticValues.has(name)) return [c.staticValues.get(name), names.slice(1)];
    const cls = this.classNamed(name, env.cls);
    if (cls) return [this.ready(cls), names.slice(1)];
    return [this.library.root(name, this), names.slice(1)];
  },

  member(value, name) {
    if (value === null || value === undefined) return this.raise('NullPointerException', `Attempt to de-reference a null object (${name})`);
    if (value instanceof Instance && value.fields.has(name)) return value.fields.get(name);
    if (value.values instanceof Map && value.values.get(name) instanceof EnumValue) return value.values.get(name);
    if (value.staticValues?.has(name)) return value.staticValues.get(name);
    if (value.inner?.has(name)) return this.ready(value.inner.get(name));
    return this.library.member(value, name, this);
  },

  Expr$VariableExpr(node, env) {
    const names = node.names.map(lower);
    const dotted = optional(node.dottedExpr);
    if (node.isSafeNav && dotted) {
      const value = this.eval(dotted, env);
      return value === null ? null : names.reduce((v, n) => this.member(v, n), value);
    }
    return this.path(dotted, names, env);
  },

  Expr$ArrayExpr(node, env) {
    const list = this.eval(node.expr, env);
    const i = Number(this.eval(node.index, env));
    if (i < 0 || i >= list.items.length) this.raise('ListException', `List index out of bounds: ${i}`);
    return list.items[i];
  },

  Expr$ThisMethodCallExpr(node, env) {
    const args = node.inputParameters.map((p) => this.eval(p, env));
    this.run(this.choose(env.cls.constructors, args, env.cls.name), env.self, args);
    return null;
  },

  Expr$SuperMethodCallExpr(node, env) {
    const args = node.inputParameters.map((p) => this.eval(p, env));
    this.construct(env.self, this.parentOf(env.cls), args);
    return null;
  },

  Expr$MethodCallExpr(node, env) {
    const args = node.inputParameters.map((p) => this.eval(p, env));
    const names = node.names.map(lower);
    const name = names.pop();
    const dotted = optional(node.dottedExpr);
    if (!dotted && names.length === 0) return this.callBare(name, args, env);
    if (dotted && kind(dotted) === 'Expr$SuperVariableExpr') {
      return this.run(this.choose(this.findMethods(this.parentOf(env.cls), name), args, name), env.self, args);
    }
    const holder = this.path(dotted, names, env);
    if (holder === null && node.isSafeNav) return null;
    return this.callOn(holder, name, args);
  },

  callBare(name, args, env) {
    if (env.self) {
      const own = this.findMethods(env.self.cls, name);
      if (own && (own[0].owner === env.cls || this.isA(env.self.cls, env.cls.name.toLowerCase()))) {
        const method = this.choose(own, args, name);
        return this.run(method, method.isStatic ? null : env.self, args);
      }
    }
    for (let c = env.cls; c; c = c.outer) {
      const found = this.findMethods(c, name);
      if (found) return this.run(this.choose(found, args, name), null, args);
    }
    throw new Error(`no method ${name} in ${env.cls.name}`);
  },

  callOn(holder, name, args) {
    if (holder === null || holder === undefined) return this.raise('NullPointerException', `Attempt to de-reference a null object (${name})`);
    if (holder instanceof Instance) return this.call(holder, name, args);
    if (holder.methods instanceof Map && holder.staticValues) return this.callStatic(holder, name, args);
    if (holder instanceof EnumValue) return name === 'ordinal' ? holder.ordinal : name === 'name' ? holder.name : this.library.call(holder, name, args, this);
    return this.library.call(holder, name, args, this);
  },

  Expr$NewExpr({ creator }, env) {
    const values = (list) => list.map((v) => this.eval(v, env));
    switch (kind(creator)) {
      case 'NewObject$NewListLiteral': return new List(values(creator.values));
      case 'NewObject$NewSetLiteral': return new ApexSet(values(creator.values));
      case 'NewObject$NewMapLiteral': return new ApexMap(creator.pairs.map((p) => [this.eval(p.key, env), this.eval(p.value, env)]));
      case 'NewObject$NewListInit': return new List(this.itemsOf(creator.expr, env));
      case 'NewObject$NewSetInit': return new ApexSet(this.itemsOf(creator.expr, env));
      case 'NewObject$NewMapInit': return this.newMap(optional(creator.expr) && this.eval(creator.expr.value, env));
      case 'NewObject$NewKeyValue': return this.org.newRow(typeName(creator.type), creator.keyValues.map((p) => [lower(p.name), this.eval(p.value, env)]));
      default: return this.newStandard(creator, env);
    }
  },

  itemsOf(box, env) {
    if (!optional(box)) return [];
    const value = this.eval(box.value, env);
    return [...(value instanceof List ? value.items : value.members)];
  },

  newMap(value) {
    if (!value) return new ApexMap();
    return new ApexMap(value instanceof List ? value.items.map((row) => [row.get('id'), row]) : value.entries);
  },

  newStandard(creator, env) {
    const args = creator.inputParameters.map((p) => this.eval(p, env));
    const name = typeName(creator.type);
    const cls = this.classNamed(name, env.cls);
    if (cls) return this.create(cls, args);
    if (this.library.exceptions.has(name)) {
      const made = new Instance(this.library.exceptions.get(name));
      made.message = args[0] ?? null;
      return made;
    }
    return this.library.create(name, args, this) ?? this.org.newRow(name, []);
  },

  Expr$ClassRefExpr(node) {
    return { type: typeName(node.type) };
  },

  Expr$SoqlExpr(node, env) {
    return this.org.query(node.query, (expr) => this.eval(expr, env));
  },
};

Object.assign(Interpreter.prototype, methods);
