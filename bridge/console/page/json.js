// JSON whose digits are kept. A payload may hold 1.10 or an id of 20 digits;
// JSON.parse would show another value than the one that came.

/** A number whose text JavaScript would write otherwise. */
export class Digits {
  constructor(text) {
    this.text = text;
  }
}

const token = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null))/y;

/** parse reads JSON text; numbers that would change are Digits. */
export function parse(text) {
  token.lastIndex = 0;
  return new Reader(text).value();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  next() {
    token.lastIndex = this.at;
    const found = token.exec(this.text);
    if (!found) {
      throw new SyntaxError("the answer is not JSON");
    }
    this.at = token.lastIndex;
    return found;
  }

  peek() {
    const at = this.at;
    const found = this.next();
    this.at = at;
    return found[1];
  }

  value() {
    const [, mark, string, number, word] = this.next();
    if (mark === "{") {
      return this.members();
    }
    if (mark === "[") {
      return this.elements();
    }
    if (number !== undefined) {
      return String(Number(number)) === number ? Number(number) : new Digits(number);
    }
    return JSON.parse(string ?? word);
  }

  members() {
    const object = Object.create(null);
    for (let mark = this.peek(); mark !== "}"; mark = this.peek()) {
      if (mark === ",") {
        this.next();
      }
      const name = JSON.parse(this.next()[2]);
      this.next(); // the colon
      object[name] = this.value();
    }
    this.next();
    return object;
  }

  elements() {
    const list = [];
    for (let mark = this.peek(); mark !== "]"; mark = this.peek()) {
      if (mark === ",") {
        this.next();
      }
      list.push(this.value());
    }
    this.next();
    return list;
  }
}

/** format writes a value for people, indented, digits as they came. */
export function format(value, indent = "") {
  const inner = indent + "  ";
  if (value instanceof Digits) {
    return value.text;
  }
  if (Array.isArray(value)) {
    const lines = value.map((v) => inner + format(v, inner));
    return lines.length ? `[\n${lines.join(",\n")}\n${indent}]` : "[]";
  }
  if (value !== null && typeof value === "object") {
    const lines = Object.keys(value).map((k) => `${inner}${JSON.stringify(k)}: ${format(value[k], inner)}`);
    return lines.length ? `{\n${lines.join(",\n")}\n${indent}}` : "{}";
  }
  return JSON.stringify(value);
}
