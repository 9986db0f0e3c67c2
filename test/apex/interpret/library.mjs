// The part of Apex's own classes that the package uses. A method that isn't
// here is refused by name.
import { createHash } from 'node:crypto';
import { ApexDate, ApexMap, ApexSet, Blob, Datetime, Decimal, EnumValue, Instance, List, Thrown, TimeZone, compareNumbers, formatGmt, isNumeric, same, textOf } from './values.mjs';
import { textMethods, textStatics } from './text.mjs';
import { collectionMethods } from './collections.mjs';
import { tokens } from './tokens.mjs';

const EXCEPTIONS = ['JSONException', 'StringException', 'TypeException', 'QueryException', 'DmlException', 'NoAccessException', 'SecurityException',
  'NullPointerException', 'ListException', 'AsyncException', 'DuplicateMessageException', 'LimitException', 'AssertException', 'InvalidParameterValueException', 'SObjectException', 'MathException'];

class Enumeration {
  constructor(name, values) {
    this.name = name;
    this.values = new Map(values.map((v, i) => [v.toLowerCase(), new EnumValue(this, v, BigInt(i))]));
  }
}

class Namespace {
  constructor(name, statics) {
    Object.assign(this, { name, statics });
  }
}

class JsonParser {
  constructor(text) {
    this.source = tokens(text);
    this.current = null;
  }
}

const need = (ok, interpreter, name, message) => ok || interpreter.raise(name, message);

const integer = (text, interpreter) => (need(/^-?\d+$/.test(text), interpreter, 'TypeException', `Invalid integer: ${text}`) && BigInt(text));

const statics = {
  string: textStatics,
  math: {
    min: (i, a, b) => (compareNumbers(a, b) <= 0 ? a : b),
    max: (i, a, b) => (compareNumbers(a, b) >= 0 ? a : b),
    mod: (i, a, b) => a % b,
    random: () => Math.random(),
    abs: (i, a) => (a < 0 ? -a : a),
  },
  integer: { valueof: (i, v) => integer(textOf(v instanceof Decimal ? v.whole() : v), i) },
  long: { valueof: (i, v) => integer(textOf(v), i) },
  decimal: { valueof: (i, v) => Decimal.of(v) },
  boolean: { valueof: (i, v) => textOf(v).toLowerCase() === 'true' },
  id: { valueof: (i, v) => need(/^[a-zA-Z0-9]{15,18}$/.test(v ?? ''), i, 'StringException', `Invalid id: ${v}`) && v },
  pattern: {
    compile: (i, text) => ({ pattern: text }),
    quote: (i, text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, (c) => (c === '-' ? '\\x2d' : `\\${c}`)),
  },
  encodingutil: {
    converttohex: (i, blob) => blob.bytes.toString('hex'),
    base64decode: (i, text) => new Blob(Buffer.from(text, 'base64')),
    base64encode: (i, blob) => blob.bytes.toString('base64'),
  },
  crypto: { generatedigest: (i, name, blob) => new Blob(createHash('sha256').update(blob.bytes).digest()) },
  blob: { valueof: (i, text) => new Blob(Buffer.from(text, 'utf8')) },
  json: { createparser: (i, text) => new JsonParser(text) },
  date: { newinstance: (i, y, m, d) => new ApexDate(`${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`) },
  datetime: {
    now: () => new Datetime(Date.now()),
    newinstance: (i, ms) => new Datetime(ms),
    newinstancegmt: (i, y, mo, d, h, mi, s) => new Datetime(Date.UTC(...[y, mo - 1n, d, h, mi, s].map(Number))),
  },
  timezone: { gettimezone: (i, id) => new TimeZone(zoneExists(id) ? id : 'GMT') },
  userinfo: { getusername: () => 'person@example.test', getuserid: () => '005000000000001AAA' },
};

function zoneExists(id) {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: id }));
  } catch {
    return false;
  }
}

function offsetOf(zone, ms) {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', era: 'short' });
  const p = Object.fromEntries(format.formatToParts(new Date(ms)).map(({ type, value }) => [type, value]));
  const wall = new Date(0);
  wall.setUTCFullYear(p.era === 'BC' ? 1 - Number(p.year) : Number(p.year), Number(p.month) - 1, Number(p.day));
  wall.setUTCHours(Number(p.hour), Number(p.minute), Number(p.second));
  return wall.getTime() - Math.floor(ms / 1000) * 1000;
}

const parserMethods = {
  nexttoken(i, self) {
    try {
      self.current = self.source.next().value ?? null;
    } catch (e) {
      if (e instanceof SyntaxError) i.raise('JSONException', 'Unexpected character');
      throw e;
    }
    return self.current && i.library.enumerations.get('jsontoken').values.get(self.current[0].toLowerCase());
  },
  getcurrenttoken: (i, self) => self.current && i.library.enumerations.get('jsontoken').values.get(self.current[0].toLowerCase()),
  gettext: (i, self) => self.current && self.current[1],
};

const otherMethods = [
  [(v) => v instanceof JsonParser, parserMethods],
  [(v) => v?.pattern !== undefined, { matcher: (i, self, text) => ({ regexp: regexp(self.pattern), text, found: null, at: 0 }), pattern: (i, self) => self.pattern }],
  [(v) => v?.regexp !== undefined, {
    matches: (i, self) => new RegExp(`^(?:${self.regexp.source})$`, self.regexp.flags.replace('g', '')).test(self.text),
    find: (i, self) => {
      self.regexp.lastIndex = self.at;
      self.found = self.regexp.exec(self.text);
      self.at = self.regexp.lastIndex;
      return self.found !== null;
    },
    group: (i, self, n = 0n) => self.found[Number(n)] ?? null,
  }],
  [(v) => v instanceof TimeZone, { getid: (i, self) => self.zone, getoffset: (i, self, at) => BigInt(offsetOf(self.zone, Number(at.ms))) }],
  [(v) => v instanceof Blob, {
    tostring: (i, self) => {
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(self.bytes);
      } catch {
        return i.raise('StringException', 'BLOB is not a valid UTF-8 string');
      }
    },
  }],
  [(v) => v instanceof Datetime, {
    gettime: (i, self) => self.ms, addseconds: (i, self, n) => new Datetime(self.ms + n * 1000n), addhours: (i, self, n) => new Datetime(self.ms + n * 3600000n),
    adddays: (i, self, n) => new Datetime(self.ms + n * 86400000n), formatgmt: (i, self, pattern) => formatGmt(self, pattern),
  }],
  [(v) => isNumeric(v), {
    intvalue: (i, self) => whole(self), longvalue: (i, self) => whole(self), toplainstring: (i, self) => Decimal.of(self).toString(),
    striptrailingzeros: (i, self) => Decimal.of(self).stripped(),
  }],
];

function whole(value) {
  if (typeof value === 'bigint') return value;
  return value instanceof Decimal ? value.whole() : BigInt(Math.trunc(value));
}

/** regexp makes a JS expression of a Java one; both count by code points. */
export function regexp(source) {
  const flags = source.startsWith('(?s)') ? 'gus' : 'gu';
  return new RegExp(source.replace(/^\(\?s\)/, '').replaceAll('\\z', '$'), flags);
}

export class Library {
  constructor() {
    this.exceptions = new Map([['exception', { name: 'Exception', superName: null }]]);
    for (const name of EXCEPTIONS) this.exceptions.set(name.toLowerCase(), { name, superName: 'exception' });
    this.enumerations = new Map([['jsontoken', new Enumeration('JSONToken', ['START_OBJECT', 'END_OBJECT', 'START_ARRAY', 'END_ARRAY', 'FIELD_NAME', 'VALUE_STRING', 'VALUE_NUMBER_INT', 'VALUE_NUMBER_FLOAT', 'VALUE_TRUE', 'VALUE_FALSE', 'VALUE_NULL'])]]);
    this.statics = new Map(Object.entries(statics));
  }

  root(name, interpreter) {
    if (this.enumerations.has(name)) return this.enumerations.get(name);
    const found = interpreter.org?.root(name);
    if (found !== undefined && found !== null) return found;
    if (this.statics.has(name)) return new Namespace(name, this.statics.get(name));
    throw new Error(`unknown name ${name}`);
  }

  member(value, name, interpreter) {
    if (value instanceof Enumeration && value.values.has(name)) return value.values.get(name);
    const found = interpreter.org?.member(value, name);
    if (found !== undefined) return found;
    throw new Error(`unknown member ${name} of ${textOf(value)}`);
  }

  putField(holder, name, value, interpreter) {
    interpreter.org.put(holder, name, value);
  }

  create(name, args, interpreter) {
    return interpreter.org?.create(name, args) ?? null;
  }

  call(holder, name, args, interpreter) {
    if (holder instanceof Namespace) return this.named(holder.statics, holder.name, name)(interpreter, ...args);
    if (typeof holder === 'string' && textMethods[name]) return textMethods[name](interpreter, holder, ...args);
    const own = collectionMethods(holder)?.[name] ?? otherMethods.find(([is]) => is(holder))?.[1][name];
    if (own) return own(interpreter, holder, ...args);
    if (name === 'equals') return holder === args[0] || same(holder, args[0]);
    const found = interpreter.org?.call(holder, name, args);
    if (found !== undefined) return found;
    throw new Error(`unknown method ${name} of ${textOf(holder)} (${holder?.constructor?.name})`);
  }

  named(table, owner, name) {
    if (!table[name]) throw new Error(`unknown method ${owner}.${name}`);
    return table[name];
  }

  callInstance(self, name, args) {
    if (name === 'getmessage') return self.message ?? 'Script-thrown exception';
    if (name === 'gettypename') return self.cls.name;
    if (self.methods?.[name]) return self.methods[name](...args);
    throw new Error(`unknown method ${name} of ${self.cls.name}`);
  }
}

export { ApexMap, ApexSet, Instance, List, Namespace, Thrown };
