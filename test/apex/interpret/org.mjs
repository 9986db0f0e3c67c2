// An org in memory: enough of Salesforce for the package's own tests to run.
import { readObjects } from './metadata.mjs';
import { Row, idFor } from './rows.mjs';
import { project, sameKey, select } from './soql.mjs';
import { faultOf, validationMessage } from './rules.mjs';
import { describeMembers, describeStatics } from './describe.mjs';
import { ApexMap, ApexSet, Datetime, EnumValue, Instance, List, Thrown, same, textOf } from './values.mjs';

const ACCESS = new Map([['system_mode', { access: 'system' }], ['user_mode', { access: 'user' }]]);
const CHUNK = 200;
const builder = { call: (name) => (name === 'build' ? { signature: true } : builder) };

class Result {
  constructor(id, error) {
    Object.assign(this, { id, error });
  }
}

export class Org {
  constructor(folders, resources) {
    this.objects = readObjects(folders);
    this.resources = resources;
    this.reset();
  }

  reset() {
    this.tables = new Map();
    this.counters = { queries: 0n, dmlstatements: 0n, dmlrows: 0n };
    this.jobs = [];
    this.number = 0;
    for (const [name, body] of this.resources) this.store('staticresource', [['name', name], ['body', body]]);
    this.store('profile', [['name', 'System Administrator']]);
    this.store('permissionset', [['name', 'Bridge_Samples']]);
  }

  attach(interpreter) {
    this.interpreter = interpreter;
  }

  store(object, values) {
    const row = new Row(this.objectNamed(object), values);
    for (const [name] of values) if (!row.object.fields.has(name)) row.object.fields.set(name, { name, display: 'ANY', values: [] });
    row.values.set('id', idFor(object, ++this.number));
    this.rowsOf(row.object).push(row);
  }

  count(what) {
    this.counters[what] += 1n;
  }

  // Objects and rows --------------------------------------------------------

  isObject(name) {
    return this.objects.has(name);
  }

  objectNamed(name) {
    const object = this.objects.get(name.toLowerCase());
    return object ?? this.interpreter.raise('InvalidParameterValueException', `no object ${name}`);
  }

  rowsOf(object) {
    if (!this.tables.has(object.name)) this.tables.set(object.name, []);
    return this.tables.get(object.name);
  }

  isInstance(value, name) {
    return value instanceof Row && (name === 'sobject' || value.object.name.toLowerCase() === name)
      || (value?.isToken && name === 'sobjectfield') || (value?.isField && name === 'describefieldresult') || (value?.isDescribe && name === 'describesobjectresult')
      || (value?.access !== undefined && name === 'accesslevel') || (value instanceof Result && name.endsWith('result')) || (value?.isError && name === 'database.error')
      || (value?.savepoint !== undefined && name === 'savepoint') || name === 'schedulablecontext' || name === 'queueablecontext';
  }

  newRow(name, pairs) {
    const row = new Row(this.objectNamed(name));
    for (const [field, value] of pairs) row.put(field, value, this.interpreter);
    return row;
  }

  only(list) {
    if (list.items.length !== 1) this.interpreter.raise('QueryException', `List has ${list.items.length} rows for assignment to SObject`);
    return list.items[0];
  }

  query(node, evaluate) {
    return select(this, node, evaluate);
  }

  /** queryText runs the one form that the package builds at run time. */
  queryText(text, binds) {
    const [, columns, name, field, bind] = /^SELECT (.+) FROM (\w+) WHERE (\w+) IN :(\w+)(?: FOR UPDATE)?$/.exec(text);
    this.count('queries');
    const object = this.objectNamed(name);
    const values = [...(binds.entries.get(bind).items ?? binds.entries.get(bind).members)];
    const key = object.fields.get(field.toLowerCase());
    const rows = this.rowsOf(object).filter((row) => values.some((v) => sameKey(key, row.get(field.toLowerCase()), v)));
    return new List(rows.map((row) => project(this, row, columns.toLowerCase().split(', '))));
  }

  // DML -----------------------------------------------------------------------

  dml(verb, what, isStrict) {
    const rows = what instanceof List ? what.items : [what];
    this.count('dmlstatements');
    this.counters.dmlrows += BigInt(rows.length);
    const results = rows.map((row, i) => this[verb](row, rows.slice(0, i)));
    const failed = results.findIndex((r) => r.error);
    if (isStrict && failed >= 0) this.interpreter.raise('DmlException', results[failed].error.message);
    if (verb === 'insert') this.fire(rows.filter((_, i) => !results[i].error));
    return what instanceof List ? new List(results) : results[0];
  }

  insert(row) {
    const full = row.copy();
    for (const field of row.object.fields.values()) if (full.get(field.name.toLowerCase()) === null) setDefault(full, field);
    const error = faultOf(this, full, null) ?? validationMessage(full, null);
    if (error) return new Result(null, error);
    const id = idFor(row.object.name, ++this.number);
    full.values.set('id', id);
    full.values.set('createddate', new Datetime(Date.now()));
    row.values.set('id', id);
    this.rowsOf(row.object).push(full);
    return new Result(id, null);
  }

  update(row) {
    const table = this.rowsOf(row.object);
    const at = table.findIndex((r) => r.get('id') === row.get('id'));
    if (at < 0) return new Result(null, { code: 'ENTITY_IS_DELETED', message: 'entity is deleted' });
    const after = table[at].copy();
    for (const [name, value] of row.values) after.values.set(name, value);
    const error = faultOf(this, after, table[at]) ?? validationMessage(after, table[at]);
    if (error) return new Result(null, error);
    table[at] = after;
    return new Result(row.get('id'), null);
  }

  delete(row) {
    const table = this.rowsOf(row.object);
    const at = table.findIndex((r) => r.get('id') === row.get('id'));
    if (at < 0) return new Result(null, { code: 'ENTITY_IS_DELETED', message: 'entity is deleted' });
    table.splice(at, 1);
    return new Result(row.get('id'), null);
  }

  /** fire runs the trigger of the staging object, 200 rows at a time. */
  fire(rows) {
    if (rows.length === 0 || rows[0].object.name !== 'Inbound_Event__c') return;
    const dispatcher = this.interpreter.classes.get('bridgedispatcher');
    for (let i = 0; i < rows.length; i += CHUNK) this.interpreter.callStatic(dispatcher, 'afterinsert', [new List(rows.slice(i, i + CHUNK))]);
  }

  mark() {
    return { savepoint: new Map([...this.tables].map(([name, rows]) => [name, [...rows]])) };
  }

  revert({ savepoint }) {
    this.tables = new Map([...savepoint].map(([name, rows]) => [name, [...rows]]));
  }

  // What the library asks -------------------------------------------------------

  root(name) {
    return describeStatics(this, name, ACCESS);
  }

  member(value, name) {
    if (value instanceof Row) return value.read(name, this.interpreter);
    if (value instanceof List && value.items[0] instanceof Row) return this.only(value).read(name, this.interpreter);
    return describeMembers(this, value, name);
  }

  put(holder, name, value) {
    if (holder instanceof Row) holder.put(name, value, this.interpreter);
    else holder[name] = value;
  }

  create(name, args) {
    if (name === 'asyncoptions') return {};
    return name === 'queueableduplicatesignature.builder' ? builder : null;
  }

  call(holder, name, args) {
    if (holder instanceof Result) return this.ofResult(holder, name);
    if (holder?.isError) return { getstatuscode: holder.code, getmessage: holder.message, getfields: new List() }[name];
    if (holder instanceof Row) return this.ofRow(holder, name, args);
    if (typeof holder?.call === 'function') return holder.call(name, args);
    return undefined;
  }

  ofResult(result, name) {
    if (name === 'issuccess') return result.error === null;
    if (name === 'geterrors') return new List(result.error ? [{ isError: true, ...result.error }] : []);
    return result.id;
  }

  ofRow(row, name, [field, value]) {
    switch (name) {
      case 'get': return row.read(field.toLowerCase(), this.interpreter);
      case 'put': return row.put(field.toLowerCase(), value, this.interpreter) ?? null;
      case 'getsobjecttype': return row.object.name;
      case 'clone': return new Row(row.object, [...row.values].filter(([n]) => n !== 'id'));
      default: return undefined;
    }
  }
}

function setDefault(row, field) {
  const chosen = field.values?.find((v) => v.isDefault);
  const name = field.name.toLowerCase();
  if (chosen) row.values.set(name, chosen.value);
  else if (field.defaultText && field.display === 'DOUBLE') row.put(name, BigInt(field.defaultText), null);
  else if (field.display === 'BOOLEAN') row.values.set(name, field.defaultText === 'true');
}

export { ApexMap, ApexSet, EnumValue, Instance, Result, Thrown, same, textOf };
