// The types of the Metadata WSDL, read from the declarations of
// @salesforce/types:
//
//   export type Color = 'Red' | 'Blue';
//   export type Label = string;
//   export type CustomLabel = Metadata & {
//       language: string;            required
//       categories?: string;         optional
//       values: CustomValue[];       any number
//   };
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** loadTypes gives a map: type name -> {words} | {alias} | {bases, members}. */
export function loadTypes() {
  const entry = createRequire(import.meta.url).resolve('@salesforce/types/metadata');
  return parseTypes(readFileSync(join(dirname(entry), 'metadata.d.ts'), 'utf8'));
}

export function parseTypes(text) {
  const types = new Map();
  let open = null;
  for (const line of text.split('\n')) {
    if (open) {
      open = member(open, line);
      continue;
    }
    const object = /^export type (\w+) = ((?:\w+ & )*)\{$/.exec(line);
    if (object) {
      open = { bases: object[2].split(' & ').filter(Boolean), members: new Map() };
      types.set(object[1], open);
      continue;
    }
    const simple = /^export type (\w+) = (.+);$/.exec(line);
    if (simple) types.set(simple[1], scalar(simple[2]));
  }
  return types;
}

function member(open, line) {
  if (/^\}/.test(line)) return null;
  const found = /^\s+(\w+)(\??): (\w+)(\[\])?;$/.exec(line);
  if (found) {
    const [, name, optional, type, list] = found;
    open.members.set(name, { type, required: !optional && !list, list: Boolean(list) });
  }
  return open;
}

function scalar(text) {
  const words = [...text.matchAll(/'([^']*)'/g)].map((m) => m[1]);
  return words.length > 0 ? { words: new Set(words) } : { alias: text };
}

/** membersOf gives an object type's own and inherited members. */
export function membersOf(types, type) {
  const members = new Map(type.members);
  for (const base of type.bases) {
    const inherited = types.get(base);
    if (inherited?.members) for (const [name, m] of membersOf(types, inherited)) members.set(name, m);
  }
  return members;
}
