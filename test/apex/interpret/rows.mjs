// SObjects.
import { ApexDate, Datetime, Decimal, isNumeric } from './values.mjs';

let nextType = 0;
const prefixes = new Map();

/** idFor makes the id of a new row. */
export function idFor(object, number) {
  if (!prefixes.has(object)) prefixes.set(object, `a${String(nextType++).padStart(2, '0')}`);
  return `${prefixes.get(object)}${String(number).padStart(12, '0')}AAA`;
}

export class Row {
  constructor(object, values = [], selected = null) {
    this.object = object;
    this.values = new Map(values);
    this.selected = selected;
  }

  get(name) {
    return this.values.get(name) ?? null;
  }

  /** read refuses what a query didn't select, as Salesforce does. */
  read(name, interpreter) {
    if (!this.object.fields.has(name)) throw new Error(`no field ${this.object.name}.${name}`);
    if (this.selected && !this.selected.has(name) && !this.values.has(name)) {
      interpreter.raise('SObjectException', `SObject row was retrieved via SOQL without querying the requested field: ${this.object.name}.${name}`);
    }
    return this.get(name);
  }

  put(name, value, interpreter) {
    const field = this.object.fields.get(name);
    if (!field) throw new Error(`no field ${this.object.name}.${name}`);
    this.values.set(name, fit(field, value, interpreter));
  }

  copy() {
    return new Row(this.object, this.values);
  }
}

function fit(field, value, interpreter) {
  if (value === null || value === undefined) return null;
  const wrong = () => interpreter.raise('SObjectException', `Illegal assignment to ${field.name}`);
  switch (field.display) {
    case 'DOUBLE': return isNumeric(value) ? Decimal.of(value) : wrong();
    case 'DATETIME': return value instanceof Datetime ? value : wrong();
    case 'DATE': return value instanceof ApexDate ? value : wrong();
    case 'BOOLEAN': return typeof value === 'boolean' ? value : wrong();
    default: return typeof value === 'string' ? value : wrong();
  }
}
