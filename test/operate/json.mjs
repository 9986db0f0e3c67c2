// Compares the page's JSON reader with JavaScript's own over many documents, and
// shows that it keeps the digits which that one loses. PAGE is the folder of the
// page's files. It prints what is wrong as a JSON list.
import { pathToFileURL } from "node:url";

const { Digits, format, parse } = await import(pathToFileURL(process.env.PAGE + "/json.js"));
const wrong = [];
const same = (what, got, want) => got === want || wrong.push(`${what}: ${got}, not ${want}`);

// A generator that gives the same documents each time.
let state = 1;
const draw = (n) => (state = (state * 48271) % 2147483647) % n;
const texts = ["", "a", "é\u2028", '"\\\n', "__proto__", "constructor", "7", "💶"];

function document(depth) {
  switch (draw(depth > 4 ? 4 : 6)) {
    case 0: return [true, false, null][draw(3)];
    case 1: return texts[draw(texts.length)];
    case 2: return draw(1000) - 500;
    case 3: return (draw(1000) - 500) / 8;
    case 4: return Array.from({ length: draw(4) }, () => document(depth + 1));
    default: return Object.fromEntries(Array.from({ length: draw(4) }, () => [texts[draw(texts.length)], document(depth + 1)]));
  }
}

for (let n = 0; n < 5000; n++) {
  const text = JSON.stringify(document(0), null, n % 3);
  same("read", JSON.stringify(parse(text)), JSON.stringify(JSON.parse(text)));
  same("written", JSON.stringify(JSON.parse(format(parse(text)))), JSON.stringify(JSON.parse(text)));
}
for (const digits of ["1.10", "12345678901234567890", "-0", "1e400", "0.1000000000000000055", "1E3"]) {
  same("digits", format(parse(`{"n":[${digits}]}`)), `{\n  "n": [\n    ${digits}\n  ]\n}`);
  same("kept apart", parse(digits) instanceof Digits, true);
}
for (const text of ["", "{", "[1", '{"a"', '{"a":', "tru", '"x', "[}", "{1:2}", '{"a" 1}', "\u00a01"]) {
  try {
    wrong.push(`${JSON.stringify(text)} was read as ${format(parse(text))}`);
  } catch (error) {
    same(text, error instanceof SyntaxError, true);
  }
}
console.log(JSON.stringify(wrong));
