// The values of interpreted Apex. Text is a JS string, Boolean a JS boolean,
// null is null; Integer and Long are BigInt, so that division cuts as Apex
// does; Double is a JS number. The rest are the classes below.

/** A value of a class written in Apex, or of an exception. */
export class Instance {
  constructor(cls) {
    this.cls = cls;
    this.fields = new Map();
  }
}

export class EnumValue {
  constructor(owner, name, ordinal) {
    Object.assign(this, { owner, name, ordinal });
  }
}

export class List {
  constructor(items = []) {
    this.items = items;
  }
}

export class ApexSet {
  constructor(items = []) {
    this.members = new Set(items);
  }
}

export class ApexMap {
  constructor(entries = []) {
    this.entries = new Map(entries);
  }
}

export class Blob {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes);
  }
}

export class Datetime {
  constructor(ms) {
    this.ms = BigInt(ms);
  }
}

export class ApexDate {
  constructor(text) {
    this.text = text;
  }
}

export class TimeZone {
  constructor(zone) {
    this.zone = zone;
  }
}

/** An exact decimal: digits times ten to the minus scale. */
export class Decimal {
  constructor(digits, scale = 0) {
    Object.assign(this, { digits: BigInt(digits), scale });
  }

  static parse(text) {
    const [, sign, whole, fraction = '', exponent = '0'] = /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
    const scale = fraction.length - Number(exponent);
    const digits = BigInt(sign.replace('+', '') + whole + fraction);
    return scale < 0 ? new Decimal(digits * 10n ** BigInt(-scale), 0) : new Decimal(digits, scale);
  }

  static of(value) {
    if (value instanceof Decimal) return value;
    return typeof value === 'bigint' ? new Decimal(value) : Decimal.parse(String(value));
  }

  compare(other) {
    const [a, b] = Decimal.align(this, other);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  plus(other, factor = 1n) {
    const [a, b] = Decimal.align(this, other);
    return new Decimal(a + factor * b, Math.max(this.scale, other.scale));
  }

  times(other) {
    return new Decimal(this.digits * other.digits, this.scale + other.scale);
  }

  static align(x, y) {
    const scale = Math.max(x.scale, y.scale);
    return [x, y].map((d) => d.digits * 10n ** BigInt(scale - d.scale));
  }

  stripped() {
    let { digits, scale } = this;
    while (scale > 0 && digits % 10n === 0n) [digits, scale] = [digits / 10n, scale - 1];
    return new Decimal(digits, scale);
  }

  whole() {
    return this.digits / 10n ** BigInt(this.scale);
  }

  toString() {
    if (this.scale === 0) return String(this.digits);
    const sign = this.digits < 0n ? '-' : '';
    const text = String(this.digits < 0n ? -this.digits : this.digits).padStart(this.scale + 1, '0');
    return `${sign}${text.slice(0, -this.scale)}.${text.slice(-this.scale)}`;
  }
}

/** What Apex code throws, on its way through the interpreter. */
export class Thrown extends Error {
  constructor(instance) {
    super(`${instance.cls.name}: ${instance.message}`);
    this.instance = instance;
  }
}

/** typeNames gives the names of system types that a value is an instance of. */
export function typeNames(value) {
  if (typeof value === 'string') return value.isId ? ['id', 'string'] : ['string', 'id'];
  if (typeof value === 'boolean') return ['boolean'];
  if (typeof value === 'bigint') return ['integer', 'long', 'decimal', 'double'];
  if (typeof value === 'number') return ['double', 'decimal'];
  if (value instanceof Decimal) return ['decimal', 'double'];
  if (value instanceof List) return ['list'];
  if (value instanceof ApexSet) return ['set'];
  if (value instanceof ApexMap) return ['map'];
  if (value instanceof Datetime) return ['datetime'];
  if (value instanceof ApexDate) return ['date'];
  if (value instanceof Blob) return ['blob'];
  if (value instanceof TimeZone) return ['timezone'];
  return [];
}

const two = (n, width = 2) => String(n).padStart(width, '0');

/** textOf is String.valueOf. */
export function textOf(value) {
  if (value === null || value === undefined) return 'null';
  if (value instanceof EnumValue) return value.name;
  if (value instanceof Datetime) return new Date(Number(value.ms)).toISOString().slice(0, 19).replace('T', ' ');
  if (value instanceof ApexDate) return value.text;
  if (value instanceof List) return `(${value.items.map(textOf).join(', ')})`;
  if (value instanceof ApexSet) return `{${[...value.members].map(textOf).join(', ')}}`;
  if (value instanceof ApexMap) return `{${[...value.entries].map(([k, v]) => `${textOf(k)}=${textOf(v)}`).join(', ')}}`;
  if (value instanceof Instance) return `${value.cls.name}:[…]`;
  return String(value);
}

/** formatGmt writes the patterns that the package uses. */
export function formatGmt(value, pattern) {
  const d = new Date(Number(value.ms));
  const parts = {
    yyyy: two(d.getUTCFullYear(), 4), MM: two(d.getUTCMonth() + 1), dd: two(d.getUTCDate()),
    HH: two(d.getUTCHours()), mm: two(d.getUTCMinutes()), ss: two(d.getUTCSeconds()), SSS: two(d.getUTCMilliseconds(), 3),
  };
  return pattern.replace(/'([^']*)'|yyyy|MM|dd|HH|mm|ss|SSS/g, (word, literal) => literal ?? parts[word]);
}

/** same is the == of Apex: text in any letter case, numbers by value. */
export function same(a, b) {
  if (a === null || b === null || a === undefined || b === undefined) return (a ?? null) === (b ?? null);
  if (typeof a === 'string' && typeof b === 'string') return a.toLowerCase() === b.toLowerCase();
  if (isNumeric(a) && isNumeric(b)) return compareNumbers(a, b) === 0;
  if (a instanceof Datetime && b instanceof Datetime) return a.ms === b.ms;
  if (a instanceof ApexDate && b instanceof ApexDate) return a.text === b.text;
  if (a instanceof List && b instanceof List) return a.items.length === b.items.length && a.items.every((x, i) => same(x, b.items[i]));
  if (a instanceof ApexSet && b instanceof ApexSet) return a.members.size === b.members.size && [...a.members].every((x) => b.members.has(x));
  return a === b;
}

export function isNumeric(value) {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Decimal;
}

export function compareNumbers(a, b) {
  if (a instanceof Decimal || b instanceof Decimal) return Decimal.of(a).compare(Decimal.of(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
