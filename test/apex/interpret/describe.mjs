// The static classes and describe results that need an org.
import { ApexMap, Datetime, EnumValue, Instance, List, Thrown, same, textOf } from './values.mjs';
import { Namespace } from './library.mjs';
import { Result } from './org.mjs';
import { Row } from './rows.mjs';

const DISPLAY_TYPES = ['STRING', 'TEXTAREA', 'DOUBLE', 'CURRENCY', 'PERCENT', 'INTEGER', 'LONG', 'DATE', 'DATETIME', 'BOOLEAN', 'REFERENCE', 'PICKLIST', 'EMAIL', 'ID'];
const display = { name: 'DisplayType', values: new Map(DISPLAY_TYPES.map((n, i) => [n.toLowerCase(), null])) };
DISPLAY_TYPES.forEach((n, i) => display.values.set(n.toLowerCase(), new EnumValue(display, n, BigInt(i))));
const parentResults = { name: 'ParentJobResult', values: new Map() };
['SUCCESS', 'UNHANDLED_EXCEPTION'].forEach((n, i) => parentResults.values.set(n.toLowerCase(), new EnumValue(parentResults, n, BigInt(i))));

const fail = (interpreter, message) => interpreter.raise('AssertException', message);

const assertions = {
  areequal: (i, want, got, message) => isEqual(want, got) || fail(i, `${message}: want ${textOf(want)}, got ${textOf(got)}`),
  arenotequal: (i, want, got, message) => !isEqual(want, got) || fail(i, message),
  istrue: (i, value, message) => value === true || fail(i, message),
  isfalse: (i, value, message) => value === false || fail(i, message),
  isnull: (i, value, message) => value === null || fail(i, `${message}: got ${textOf(value)}`),
  isnotnull: (i, value, message) => value !== null || fail(i, message),
  fail: (i, message) => fail(i, message),
};

const isEqual = (a, b) => (typeof a === 'string' && typeof b === 'string' ? a === b : same(a, b));

function describeField(field) {
  return {
    isField: true,
    call: (name) => ({ gettype: display.values.get(field.display.toLowerCase()), isunique: field.isUnique, iscasesensitive: field.isCaseSensitive, getname: field.name })[name],
  };
}

function describeObject(org, object) {
  const type = { call: (name, [id]) => (name === 'newsobject' ? new Row(object, id ? [['id', id]] : []) : undefined) };
  const token = (field) => ({ isToken: true, call: (name) => (name === 'getdescribe' ? describeField(field) : undefined) });
  return {
    isDescribe: true,
    fields: { call: (name) => (name === 'getmap' ? new ApexMap([...object.fields].map(([n, f]) => [n, token(f)])) : undefined) },
    call: (name) => ({ getname: object.name, getsobjecttype: type })[name],
  };
}

function statics(org) {
  return {
    assert: assertions,
    limits: {
      getqueries: () => org.counters.queries, getdmlstatements: () => org.counters.dmlstatements,
      getqueueablejobs: () => BigInt(org.jobs.length), getlimitqueueablejobs: () => 50n,
    },
    database: {
      insert: (i, rows) => org.dml('insert', rows, false),
      update: (i, rows) => org.dml('update', rows, false),
      delete: (i, rows) => org.dml('delete', rows, false),
      setsavepoint: () => (org.count('dmlstatements'), org.mark()),
      rollback: (i, mark) => (org.count('dmlstatements'), org.revert(mark), null),
      querywithbinds: (i, text, binds) => org.queryText(text, binds),
    },
    schema: { describesobjects: (i, names) => new List(names.items.map((n) => describeObject(org, org.objectNamed(n)))) },
    test: { starttest: () => null, stoptest: (i) => org.jobs.splice(0).forEach((job) => i.call(job, 'execute', [null])) },
    system: { enqueuejob: (i, job) => (org.jobs.push(job), null), attachfinalizer: () => null },
    asyncinfo: { hasmaxstackdepth: () => false },
    bridge_setting__mdt: { getinstance: () => null },
    json: {
      createparser: (i, text) => i.library.statics.get('json').createparser(i, text),
      deserialize: (i, text) => new Result(null, { code: JSON.parse(text).errors[0].statusCode, message: JSON.parse(text).errors[0].message }),
    },
  };
}

/** describeStatics gives the static class of a name, undefined for others. */
export function describeStatics(org, name, access) {
  if (name === 'displaytype') return display;
  if (name === 'parentjobresult') return parentResults;
  if (name === 'accesslevel') return { values: access, access: undefined, isAccess: true };
  if (name === 'sobjectdescribeoptions') return { options: true };
  if (name === 'queueableduplicatesignature') return { signature: true };
  const table = statics(org)[name];
  return table && new Namespace(name, table);
}

/** describeMembers gives members of what describeStatics gave. */
export function describeMembers(org, value, name) {
  if (value.isAccess) return value.values.get(name);
  if (value.values instanceof Map && value.values.get(name)) return value.values.get(name);
  if (value.options) return name;
  if (value.isDescribe && name === 'fields') return value.fields;
  return undefined;
}

export { Datetime, Instance, Thrown };
