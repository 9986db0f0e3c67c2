// What an org refuses: lengths, picklists, required and unique fields, and the
// two validation rules, written a second time here.
import { sameKey } from './soql.mjs';
import { same } from './values.mjs';

/** faultOf gives the error of a row that breaks its fields' rules, or null. */
export function faultOf(org, row, before) {
  for (const field of row.object.fields.values()) {
    const name = field.name.toLowerCase();
    const value = row.get(name);
    const error = value === null ? missing(field) : oversize(field, value) ?? unknown(field, value) ?? double(org, row, field, before);
    if (error) return error;
  }
  return null;
}

const missing = (field) => (field.isRequired ? { code: 'REQUIRED_FIELD_MISSING', message: `Required fields are missing: [${field.name}]` } : null);

function oversize(field, value) {
  const isLong = typeof value === 'string' && field.length > 0 && value.length > field.length;
  return isLong ? { code: 'STRING_TOO_LONG', message: `${field.name}: data value too large (max length=${field.length})` } : null;
}

function unknown(field, value) {
  const isBad = field.display === 'PICKLIST' && field.restricted && !field.values.some((v) => v.value === value);
  return isBad ? { code: 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', message: `${field.name}: bad value for restricted picklist field: ${value}` } : null;
}

function double(org, row, field, before) {
  if (!field.isUnique) return null;
  const name = field.name.toLowerCase();
  const value = row.get(name);
  const isTaken = field.isCaseSensitive ? (r) => r.values.get(name) === value : (r) => sameKey(field, r.get(name), value);
  const other = org.rowsOf(row.object).find((r) => isTaken(r) && r !== before);
  return other ? { code: 'DUPLICATE_VALUE', message: `duplicate value found: ${field.name} duplicates value on record with id: ${other.get('id').slice(0, 15)}` } : null;
}

const refused = (message) => ({ code: 'FIELD_CUSTOM_VALIDATION_EXCEPTION', message });

/** validationMessage runs Refuse_Old_Revision and Refuse_Moved. */
export function validationMessage(row, before) {
  if (row.object.rules.includes('Refuse_Old_Revision') && before && isOldRevision(row, before)) return refused('REVISION: read again');
  return row.object.rules.includes('Refuse_Moved') && isMoved(row, before) ? refused('MOVED: read again') : null;
}

function isOldRevision(row, before) {
  if (same(row.get('status__c'), before.get('status__c')) && same(row.get('revision__c'), before.get('revision__c'))) return false;
  const revision = row.get('revision__c');
  return revision === null || !same(row.get('expected_revision__c'), before.get('revision__c')) || revision.compare(before.get('revision__c')) <= 0;
}

function isMoved(row, before) {
  const prior = row.get('source_prior__c');
  if (!before) return prior !== null;
  const held = before.get('source_event__c');
  return row.get('source_event__c') !== held && prior !== held;
}
