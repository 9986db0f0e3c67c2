// The tokens of a JSON text, strict, numbers as written: what JSONParser gives.
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORDS = { true: 'VALUE_TRUE', false: 'VALUE_FALSE', null: 'VALUE_NULL' };

/** tokens gives [name, text] pairs; it throws a SyntaxError where Jackson would. */
export function* tokens(text) {
  const reader = new Reader(text);
  for (reader.space(); reader.at < text.length; reader.space()) yield* reader.value();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  space() {
    while (' \t\n\r'.includes(this.text[this.at]) && this.at < this.text.length) this.at += 1;
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) throw new SyntaxError(`at ${this.at}`);
    this.at = pattern.lastIndex;
    return found[0];
  }

  *value() {
    const sign = this.text[this.at];
    if (sign === '{') yield* this.members();
    else if (sign === '[') yield* this.elements();
    else if (sign === '"') yield ['VALUE_STRING', JSON.parse(this.take(STRING))];
    else if (/[tfn]/.test(sign ?? '')) {
      const word = this.take(/true|false|null/y);
      yield [WORDS[word], word];
    } else {
      const number = this.take(NUMBER);
      yield [/^-?\d+$/.test(number) ? 'VALUE_NUMBER_INT' : 'VALUE_NUMBER_FLOAT', number];
    }
  }

  *members() {
    yield ['START_OBJECT', '{'];
    this.at += 1;
    for (let isFirst = true; !this.ends('}', isFirst); isFirst = false) {
      yield ['FIELD_NAME', JSON.parse(this.take(STRING))];
      this.space();
      this.take(/:/y);
      this.space();
      yield* this.value();
    }
    yield ['END_OBJECT', '}'];
  }

  *elements() {
    yield ['START_ARRAY', '['];
    this.at += 1;
    for (let isFirst = true; !this.ends(']', isFirst); isFirst = false) yield* this.value();
    yield ['END_ARRAY', ']'];
  }

  ends(sign, isFirst) {
    this.space();
    if (this.text[this.at] === sign) {
      this.at += 1;
      return true;
    }
    if (!isFirst) this.take(/,/y);
    this.space();
    return false;
  }
}
