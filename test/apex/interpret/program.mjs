// Reads Apex classes with Salesforce's own parser and makes classes of their
// trees: fields, constructors, methods, inner classes and enums, all by
// lower-case name.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { EnumValue } from './values.mjs';

const OUTPUT = 'apex.jorje.semantic.compiler.parser.ParserOutput';

/** parse gives the parser's answer for one file. */
export function parse(serializer, file) {
  const answer = JSON.parse(execFileSync(serializer, [], { input: readFileSync(file), maxBuffer: 1 << 28 }));
  return answer[OUTPUT];
}

/** kind is the short class name of a node: Expr$VariableExpr. */
export const kind = (node) => node['@class'].replace(/^apex\.jorje\.data\.(ast\.)?/, '');

/** optional unwraps what the parser writes as {} or {value}. */
export const optional = (box) => box?.value ?? null;

const lower = (identifier) => identifier.value.toLowerCase();

/** typeName writes a type without its arguments: bridgewrite.action. */
export const typeName = (type) => type.names.map((n) => n.value.toLowerCase()).join('.');

const has = (modifiers, name) => modifiers.some((m) => kind(m) === `Modifier$${name}Modifier`);

export class ApexClass {
  constructor(name, decl, outer) {
    Object.assign(this, {
      name, outer, superName: null, fields: [], statics: [], methods: new Map(), constructors: [],
      inner: new Map(), staticValues: new Map(), isReady: false, annotations: [], isException: false,
    });
    if (decl) this.read(decl);
  }

  read(decl) {
    const parent = optional(decl.superClass);
    this.superName = parent && typeName(parent);
    this.interfaces = decl.interfaces.map(typeName);
    this.annotations = annotationsOf(decl.modifiers);
    for (const member of decl.members) this[kind(member).split('$')[1]](member);
  }

  FieldMember({ variableDecls }) {
    const list = has(variableDecls.modifiers, 'Static') ? this.statics : this.fields;
    for (const d of variableDecls.decls) list.push({ name: lower(d.name), init: optional(d.assignment), type: variableDecls.type });
  }

  PropertyMember({ propertyDecl }) {
    const list = has(propertyDecl.modifiers, 'Static') ? this.statics : this.fields;
    list.push({ name: lower(propertyDecl.name), init: null, type: propertyDecl.type });
  }

  MethodMember({ methodDecl: m }) {
    const method = {
      owner: this, name: lower(m.name), isStatic: has(m.modifiers, 'Static'), body: optional(m.stmnt), type: optional(m.type),
      parameters: m.parameters.map((p) => ({ name: lower(p.name), type: p.typeRef })), annotations: annotationsOf(m.modifiers),
    };
    if (!optional(m.type) && method.name === this.name.split('.').pop().toLowerCase()) {
      this.constructors.push(method);
      return;
    }
    if (!this.methods.has(method.name)) this.methods.set(method.name, []);
    this.methods.get(method.name).push(method);
  }

  InnerClassMember({ body }) {
    this.inner.set(lower(body.name), new ApexClass(`${this.name}.${body.name.value}`, body, this));
  }

  InnerEnumMember({ body }) {
    const values = new Map();
    const owner = { name: `${this.name}.${body.name.value}`, values };
    body.members.forEach((m, i) => values.set(lower(m), new EnumValue(owner, m.value, BigInt(i))));
    this.inner.set(lower(body.name), owner);
  }
}

function annotationsOf(modifiers) {
  return modifiers.filter((m) => kind(m) === 'Modifier$Annotation').map((m) => m.name.value.toLowerCase());
}

/** load reads class files and gives the classes by lower-case name. */
export function load(serializer, files) {
  const classes = new Map();
  for (const file of files) {
    const { parseErrors, unit } = parse(serializer, file);
    if (parseErrors.length > 0) throw new Error(`${file}: ${parseErrors[0].message}`);
    if (kind(unit) !== 'CompilationUnit$ClassDeclUnit') continue; // a trigger: the org calls its dispatcher
    classes.set(lower(unit.body.name), new ApexClass(unit.body.name.value, unit.body, null));
  }
  return classes;
}
