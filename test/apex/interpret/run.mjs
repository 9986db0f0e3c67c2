// Runs the package's Apex tests in an org in memory.
//
//   node run.mjs SERIALIZER PROJECT [TEST …]
//
// Prints one line per test that fails and a closing line; exit code 1 if one
// failed. What passes here was run by this interpreter, not by Salesforce.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Blob, Interpreter, Library, Thrown, load } from './index.mjs';
import { Org } from './org.mjs';

function filesBelow(folder, ending) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path, ending) : path.endsWith(ending) ? [path] : [];
  });
}

function testsOf(classes, wanted) {
  const tests = [];
  for (const cls of classes.values()) {
    for (const [method] of cls.methods.values()) {
      const name = `${cls.name}.${method.name}`;
      if (method.annotations.includes('istest') && (wanted.length === 0 || wanted.some((w) => name.toLowerCase().includes(w.toLowerCase())))) tests.push({ cls, method, name });
    }
  }
  return tests;
}

function forget(classes) {
  for (const cls of classes) {
    if (!cls.statics) continue;
    cls.isReady = false;
    cls.staticValues.clear();
    forget(cls.inner.values());
  }
}

const [serializer, project, ...wanted] = process.argv.slice(2);
const folders = ['force-app', 'samples', 'tests'].map((f) => join(project, f, 'main', 'default'));
const classes = load(serializer, folders.flatMap((f) => filesBelow(f, '.cls')));
const resources = filesBelow(folders[2], '.json').map((f) => [basename(f, '.json'), new Blob(readFileSync(f))]);
const org = new Org(folders.slice(0, 2).map((f) => join(f, 'objects')), resources);
let failed = 0;
const tests = testsOf(classes, wanted);
for (const { cls, method, name } of tests) {
  forget(classes.values());
  const interpreter = new Interpreter(classes, new Library(), org);
  org.reset();
  try {
    interpreter.callStatic(cls, method.name, []);
  } catch (e) {
    failed += 1;
    console.log(`${name}: ${e instanceof Thrown ? e.message : e.stack.split('\n').slice(0, 4).join(' | ')}`);
  }
}
console.log(`${tests.length - failed} tests passed, ${failed} failed`);
process.exitCode = failed > 0 || tests.length === 0 ? 1 : 0;
