// Checks names that no other tool looks at: objects and fields inside SOQL, and
// what permission sets, layouts, list buttons and actions name.
//
//   node names.mjs PROJECT
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { below, finish, serializer } from './files.mjs';
import { parse } from './interpret/program.mjs';
import { readObjects } from './interpret/metadata.mjs';

const [project] = process.argv.slice(2);
const roots = ['force-app', 'samples'].map((f) => join(project, f, 'main', 'default')).filter(existsSync);
const objects = readObjects(roots.map((r) => join(r, 'objects')).filter(existsSync));
const problems = [];

const everyObject = ['Id', 'Name', 'CreatedDate', 'OwnerId'];
const standard = { CronTrigger: ['CronJobDetail.Name'], StaticResource: ['Body', 'Name'], Profile: ['Name'], PermissionSet: ['Name'], User: [] };

function hasField(object, field) {
  if (everyObject.includes(field) || standard[object]?.includes(field)) return true;
  return objects.get(object.toLowerCase())?.fields.has(field.toLowerCase()) === true;
}

const nameOf = (identifier) => [identifier.entity?.value?.field.value, identifier.field.value].filter(Boolean).join('.');

function walk(node, visit) {
  if (Array.isArray(node)) node.forEach((n) => walk(n, visit));
  else if (node && typeof node === 'object') {
    visit(node);
    Object.values(node).forEach((n) => walk(n, visit));
  }
}

function checkQuery(file, query) {
  const object = query.from.exprs[0].table.field.value;
  const line = `${file}:${query.loc?.line ?? 1}`;
  if (!objects.has(object.toLowerCase()) && !standard[object]) {
    problems.push(`${line}: SOQL: there is no object ${object}`);
    return;
  }
  walk({ ...query, from: null }, (node) => {
    if (node['@class'] !== 'apex.jorje.data.soql.Field') return;
    const field = nameOf(node.field);
    if (!hasField(object, field)) problems.push(`${line}: SOQL: ${object} has no field ${field}`);
  });
  if (query.withIdentifiers.length === 0 && !file.includes('/tests/')) problems.push(`${line}: SOQL: no access mode; write WITH SYSTEM_MODE or WITH USER_MODE`);
}

const classes = below(project, '.cls', '.trigger');
for (const file of classes) {
  walk(parse(serializer, file).unit, (node) => {
    if (node['@class'] === 'apex.jorje.data.ast.Expr$SoqlExpr') checkQuery(file, node.query);
  });
}

const all = (text, tag) => [...text.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map((m) => m[1]);
const meta = below(project, '-meta.xml');
const exists = (folder, name, ending) => meta.some((f) => f.includes(`/${folder}/`) && basename(f) === `${name}${ending}`);

function need(file, ok, what) {
  if (!ok) problems.push(`${file}: ${what}`);
}

function checkField(file, name) {
  const [object, field] = name.split('.');
  need(file, objects.has(object.toLowerCase()) && hasField(object, field), `there is no field ${name}`);
}

const checks = {
  '.permissionset-meta.xml': (file, text) => {
    all(text, 'field').forEach((name) => checkField(file, name));
    all(text, 'object').forEach((name) => need(file, objects.has(name.toLowerCase()), `there is no object ${name}`));
    all(text, 'apexClass').forEach((name) => need(file, exists('classes', name, '.cls-meta.xml'), `there is no class ${name}`));
    all(text, 'flow').forEach((name) => need(file, exists('flows', name, '.flow-meta.xml'), `there is no flow ${name}`));
    all(text, 'application').forEach((name) => need(file, exists('applications', name, '.app-meta.xml'), `there is no application ${name}`));
    all(text, 'tab').forEach((name) => need(file, exists('tabs', name, '.tab-meta.xml'), `there is no tab ${name}`));
    all(text, 'name').forEach((name) => need(file, objects.has(name.toLowerCase()), `there is no custom metadata type ${name}`));
  },
  '.layout-meta.xml': (file, text) => {
    const object = basename(file).split('-')[0];
    for (const [, field] of text.matchAll(/<behavior>[^<]*<\/behavior>\s*<field>([^<]*)</g)) checkField(file, `${object}.${field}`);
    for (const [, name] of text.matchAll(/<actionName>([^<]*)</g)) need(file, exists('quickActions', name, '.quickAction-meta.xml'), `there is no quick action ${name}`);
    all(text, 'relatedList').forEach((name) => checkField(file, name));
  },
  '.quickAction-meta.xml': (file, text) => all(text, 'flowDefinition').forEach((name) => need(file, exists('flows', name, '.flow-meta.xml'), `there is no flow ${name}`)),
  '.webLink-meta.xml': (file, text) => all(text, 'url').forEach((url) => need(file, exists('flows', /^\/flow\/(\w+)/.exec(url)?.[1], '.flow-meta.xml'), `there is no flow for ${url}`)),
  '.object-meta.xml': (file, text) => all(text, 'listViewButtons').forEach((name) => need(file, exists('webLinks', name, '.webLink-meta.xml'), `there is no button ${name}`)),
  '.flow-meta.xml': (file, text) => all(text, 'actionName').forEach((name) => need(file, exists('classes', name, '.cls-meta.xml'), `there is no class ${name}`)),
  '.md-meta.xml': (file, text) => all(text, 'field').forEach((name) => checkField(file, `${basename(file).split('.')[0]}__mdt.${name}`)),
  '.app-meta.xml': (file, text) => all(text, 'tabs').forEach((name) => need(file, exists('tabs', name, '.tab-meta.xml'), `there is no tab ${name}`)),
};

for (const file of meta) {
  const [, check] = Object.entries(checks).find(([ending]) => file.endsWith(ending)) ?? [];
  check?.(file, readFileSync(file, 'utf8'));
}
for (const file of classes) need(file, existsSync(`${file}-meta.xml`), 'its -meta.xml is missing');
finish(problems, classes.length);
