// The objects of the package's metadata, as describe calls show them.
import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const one = (text, tag) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];
const DISPLAY = { Text: 'STRING', LongTextArea: 'TEXTAREA', Number: 'DOUBLE', DateTime: 'DATETIME', Picklist: 'PICKLIST', Lookup: 'REFERENCE', MasterDetail: 'REFERENCE', Email: 'EMAIL', Checkbox: 'BOOLEAN' };

function fieldOf(text) {
  const type = one(text, 'type');
  return {
    name: one(text, 'fullName'), display: DISPLAY[type] ?? type.toUpperCase(), length: Number(one(text, 'length') ?? 0),
    isUnique: one(text, 'unique') === 'true', isCaseSensitive: one(text, 'caseSensitive') === 'true', isRequired: one(text, 'required') === 'true',
    defaultText: one(text, 'defaultValue'), restricted: one(text, 'restricted') === 'true',
    values: [...text.matchAll(/<value>\s*<fullName>([^<]*)<\/fullName>\s*<default>(true|false)/g)].map((m) => ({ value: m[1], isDefault: m[2] === 'true' })),
  };
}

const STANDARD = {
  User: ['Alias', 'Email', 'EmailEncodingKey', 'LastName', 'LanguageLocaleKey', 'LocaleSidKey', 'ProfileId', 'TimeZoneSidKey', 'Username'],
  Profile: [], PermissionSet: [], PermissionSetAssignment: ['AssigneeId', 'PermissionSetId'], StaticResource: ['Body'], CronTrigger: [],
};

const standard = (name, display) => ({ name, display, length: 0, values: [], isUnique: false, isCaseSensitive: false });

function addObject(objects, folder, name) {
  const fields = new Map([['id', standard('Id', 'ID')], ['name', standard('Name', 'STRING')], ['createddate', standard('CreatedDate', 'DATETIME')]]);
  const object = objects.get(name.toLowerCase()) ?? { name, fields, rules: [] };
  const at = join(folder, name);
  const files = (kind) => (existsSync(join(at, kind)) ? readdirSync(join(at, kind)) : []);
  for (const file of files('fields')) {
    const field = fieldOf(readFileSync(join(at, 'fields', file), 'utf8'));
    object.fields.set(field.name.toLowerCase(), field);
  }
  for (const file of files('validationRules')) object.rules.push(one(readFileSync(join(at, 'validationRules', file), 'utf8'), 'fullName'));
  objects.set(name.toLowerCase(), object);
}

/** readObjects reads every object of the package folders. */
export function readObjects(folders) {
  const objects = new Map();
  for (const folder of folders) for (const name of readdirSync(folder)) addObject(objects, folder, name);
  // Of standard objects only the fields that the tests name.
  for (const [name, fields] of Object.entries(STANDARD)) {
    addObject(objects, '/nowhere', name);
    for (const field of fields) objects.get(name.toLowerCase()).fields.set(field.toLowerCase(), standard(field, 'STRING'));
  }
  return objects;
}
