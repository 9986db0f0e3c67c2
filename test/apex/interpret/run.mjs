// Runs the package's Apex tests in an org in memory.
//
//   node run.mjs SERIALIZER PROJECT [TEST …]
//
// Prints one line per test that fails and a closing line; exit code 1 if one
// failed. What passes here was run by this interpreter, not by Salesforce.
import { Thrown } from './index.mjs';
import { Project } from './project.mjs';

// What a transaction may do, as far as an org in memory counts it.
const LIMITS = [['queries', 100n], ['dmlstatements', 150n], ['dmlrows', 10000n]];

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

const [serializer, project, ...wanted] = process.argv.slice(2);
const running = new Project(serializer, project);
const { org } = running;
let failed = 0;
const tests = testsOf(running.classes, wanted);
for (const { cls, method, name } of tests) {
  const interpreter = running.fresh();
  try {
    interpreter.callStatic(cls, method.name, []);
    for (const [what, most] of LIMITS) if (org.counters[what] > most) throw new Error(`${org.counters[what]} ${what}, and Salesforce allows ${most}`);
  } catch (e) {
    failed += 1;
    console.log(`${name}: ${e instanceof Thrown ? e.message : e.stack.split('\n').slice(0, 4).join(' | ')}`);
  }
}
console.log(`${tests.length - failed} tests passed, ${failed} failed`);
process.exitCode = failed > 0 || tests.length === 0 ? 1 : 0;
