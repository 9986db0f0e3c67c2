// The methods of String.
import { Decimal, List, textOf } from './values.mjs';
import { regexp } from './library.mjs';

const n = Number;
const only = (text, set) => [...text].every((c) => set.includes(c));

export const textStatics = {
  valueof: (i, v) => textOf(v),
  join: (i, parts, separator) => (parts.items ?? [...parts.members]).map(textOf).join(separator),
  isblank: (i, v) => v === null || v === undefined || v.trim() === '',
  isnotblank: (i, v) => v !== null && v.trim() !== '',
  isempty: (i, v) => v === null || v === undefined || v === '',
  fromchararray: (i, list) => String.fromCharCode(...list.items.map(n)),
  format: (i, text, args) => text.replace(/\{(\d)\}/g, (_, k) => textOf(args.items[n(k)])),
};

export const textMethods = {
  length: (i, s) => BigInt(s.length),
  charat: (i, s, at) => BigInt(s.charCodeAt(n(at))),
  substring(i, s, start, stop = BigInt(s.length)) {
    if (start < 0n || stop > BigInt(s.length) || start > stop) i.raise('StringException', `Ending position out of bounds: ${stop}`);
    return s.substring(n(start), n(stop));
  },
  mid: (i, s, start, length) => s.substr(n(start), n(length)),
  left: (i, s, length) => s.slice(0, n(length)),
  equals: (i, s, other) => s === other,
  equalsignorecase: (i, s, other) => other !== null && s.toLowerCase() === other.toLowerCase(),
  compareto: (i, s, other) => (s < other ? -1n : s > other ? 1n : 0n),
  startswith: (i, s, part) => s.startsWith(part),
  startswithignorecase: (i, s, part) => s.toLowerCase().startsWith(part.toLowerCase()),
  endswith: (i, s, part) => s.endsWith(part),
  contains: (i, s, part) => s.includes(part),
  containsignorecase: (i, s, part) => s.toLowerCase().includes(part.toLowerCase()),
  containsonly: (i, s, set) => only(s, set),
  isnumeric: (i, s) => /^\d+$/.test(s),
  indexof: (i, s, part, at = 0n) => BigInt(s.indexOf(part, n(at))),
  indexofany: (i, s, signs) => BigInt([...s].findIndex((c) => signs.includes(c))),
  tolowercase: (i, s) => s.toLowerCase(),
  touppercase: (i, s) => s.toUpperCase(),
  trim: (i, s) => s.trim(),
  remove: (i, s, part) => s.replaceAll(part, ''),
  removestart: (i, s, part) => (s.startsWith(part) ? s.slice(part.length) : s),
  replace: (i, s, part, by) => s.replaceAll(part, by),
  replacefirst: (i, s, pattern, by) => s.replace(new RegExp(regexp(pattern).source, 'u'), by),
  replaceall: (i, s, pattern, by) => s.replace(regexp(pattern), by),
  leftpad: (i, s, width, sign) => s.padStart(n(width), sign),
  rightpad: (i, s, width, sign) => s.padEnd(n(width), sign),
  repeat: (i, s, count) => s.repeat(n(count)),
  split: (i, s, pattern) => new List(s.split(regexp(pattern))),
  normalizespace: (i, s) => s.trim().replace(/\s+/g, ' '),
  substringafter: (i, s, mark) => (s.includes(mark) ? s.slice(s.indexOf(mark) + mark.length) : ''),
  substringbefore: (i, s, mark) => (s.includes(mark) ? s.slice(0, s.indexOf(mark)) : s),
  substringbetween(i, s, open, close) {
    const start = s.indexOf(open);
    const stop = s.indexOf(close, start + open.length);
    return start < 0 || stop < 0 ? null : s.slice(start + open.length, stop);
  },
  tostring: (i, s) => s,
  hashcode: (i, s) => BigInt(Decimal.parse('0').digits + BigInt(s.length)),
};
