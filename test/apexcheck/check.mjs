// Checks SFDX metadata files against the types of the Metadata WSDL.
//
//   node check.mjs FOLDER|FILE …
//
// Looks at every *-meta.xml below the folders and prints one line per mistake:
// FILE: ELEMENT: WHAT. Exit code 0: nothing found; 1: something found; 2: asked
// wrongly, or there was no file to look at.
//
// Found are: text that is no well-formed XML, a wrong namespace, unknown types
// and elements, missing and doubled elements, repeated elements that don't
// stand together (a deploy refuses them), and values that are no boolean,
// number, date or word of the enumeration.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { loadTypes, membersOf } from './types.mjs';

const NAMESPACE = 'http://soap.sforce.com/2006/04/metadata';
const ATTRIBUTES = ':@';
const TEXT = '#text';

const scalars = {
  string: () => true,
  any: () => true,
  boolean: (text) => text === 'true' || text === 'false',
  number: (text) => /^-?\d+(\.\d+)?$/.test(text),
  Date: (text) => !Number.isNaN(Date.parse(text)),
};

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
});

/** checkText gives the mistakes of one file as {element, what}. */
export function checkText(types, text) {
  const wellFormed = XMLValidator.validate(text);
  if (wellFormed !== true) return [{ element: '', what: `is no well-formed XML: ${wellFormed.err.msg}` }];
  const root = parser.parse(text).find((node) => nameOf(node) && nameOf(node) !== TEXT);
  const name = nameOf(root);
  const namespace = root[ATTRIBUTES]?.xmlns;
  const problems = [];
  if (namespace !== NAMESPACE) problems.push({ element: name, what: `has the namespace ${namespace ?? 'none'}, not ${NAMESPACE}` });
  if (!types.get(name)?.members) problems.push({ element: name, what: 'is no type of metadata' });
  else checkObject(types, types.get(name), { path: name, children: root[name], problems });
  return problems;
}

function nameOf(node) {
  return Object.keys(node).find((key) => key !== ATTRIBUTES);
}

function checkObject(types, type, at) {
  const members = membersOf(types, type);
  const seen = new Map();
  let previous;
  for (const child of at.children) {
    const name = nameOf(child);
    if (name === TEXT) {
      if (child[TEXT].trim() !== '') at.problems.push({ element: at.path, what: 'holds text between its elements' });
      continue;
    }
    const path = `${at.path}.${name}`;
    const member = members.get(name);
    if (!member) at.problems.push({ element: path, what: 'is unknown' });
    else {
      if (seen.has(name) && !member.list) at.problems.push({ element: path, what: 'stands twice' });
      if (seen.has(name) && member.list && previous !== name) at.problems.push({ element: path, what: 'does not stand together with the others of its name' });
      checkValue(types, member.type, { path, children: child[name], nil: child[ATTRIBUTES]?.['xsi:nil'], problems: at.problems });
    }
    seen.set(name, true);
    previous = name;
  }
  for (const [name, member] of members) {
    if (member.required && !seen.has(name)) at.problems.push({ element: `${at.path}.${name}`, what: 'is missing' });
  }
}

function checkValue(types, typeName, at) {
  if (at.nil === 'true') return;
  const type = types.get(typeName);
  if (type?.members) {
    checkObject(types, type, at);
    return;
  }
  const text = at.children.map((child) => child[TEXT] ?? '').join('');
  if (at.children.some((child) => nameOf(child) !== TEXT)) at.problems.push({ element: at.path, what: 'holds elements, and is a plain value' });
  else if (type?.words) {
    if (!type.words.has(text)) at.problems.push({ element: at.path, what: `${JSON.stringify(text)} is not one of ${[...type.words].join(', ')}` });
  } else {
    const kind = type?.alias ?? typeName;
    if (!scalars[kind]) at.problems.push({ element: at.path, what: `has the type ${kind}, which this check does not know` });
    else if (!scalars[kind](text)) at.problems.push({ element: at.path, what: `${JSON.stringify(text)} is no ${kind}` });
  }
}

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules' && !entry.name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => filesBelow(join(path, entry.name)))
    .filter((file) => file.endsWith('-meta.xml'));
}

function main(paths) {
  const files = paths.flatMap(filesBelow);
  if (files.length === 0) {
    console.error('usage: node check.mjs FOLDER|FILE … with *-meta.xml files');
    return 2;
  }
  const types = loadTypes();
  let found = 0;
  for (const file of files) {
    for (const { element, what } of checkText(types, readFileSync(file, 'utf8'))) {
      console.log(`${file}: ${element}: ${what}`);
      found++;
    }
  }
  console.error(`${files.length} files, ${found} mistakes`);
  return found > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
