// Every order of arrival ends the same: the events of one charge come in every
// permutation, one by one and all at once, and each time the same record must
// be left.
//
//   node arrivals.mjs SERIALIZER PROJECT
import { Project } from './project.mjs';
import { textOf } from './values.mjs';

// Later events have smaller ids, so that no order but the right one ends well.
const EVENTS = [['z', 1n, 'Pending'], ['y', 2n, 'Succeeded'], ['x', 2n, 'Succeeded'], ['w', 3n, 'Refunded'], ['v', 4n, 'Refunded']];

function* permutations(items) {
  if (items.length === 0) yield items;
  for (let i = 0; i < items.length; i++) {
    const rest = [...items.slice(0, i), ...items.slice(i + 1)];
    for (const tail of permutations(rest)) yield [items[i], ...tail];
  }
}

const [serializer, folder] = process.argv.slice(2);
const project = new Project(serializer, folder);
const kit = (interpreter) => interpreter.classes.get('bridgetestkit');

/** arrive stages events and runs a job, in a transaction of its own. */
function arrive(events) {
  const interpreter = project.transaction();
  interpreter.callStatic(kit(interpreter), 'setup', []);
  const noon = interpreter.ready(kit(interpreter)).staticValues.get('noon');
  for (const [key, order, status] of events) {
    project.org.dml('insert', interpreter.callStatic(kit(interpreter), 'charge', [key, noon + order, 'ch_1', status]), true);
  }
  interpreter.callStatic(kit(interpreter), 'process', []);
}

function ending() {
  const interpreter = project.transaction();
  const { items } = interpreter.callStatic(kit(interpreter), 'payments', ['ch_1']);
  const rows = project.org.rowsOf(project.org.objectNamed('Inbound_Event__c'));
  const open = rows.filter((row) => row.get('queue__c') !== null).length;
  return [items.length, ...items.map((row) => `${row.get('status__c')} by ${row.get('source_event__c')}`), `${open} open`].map(textOf).join(', ');
}

let wrong = 0;
let tried = 0;
for (const order of permutations(EVENTS)) {
  for (const size of [1, EVENTS.length]) {
    project.fresh();
    for (let i = 0; i < order.length; i += size) arrive(order.slice(i, i + size));
    tried += 1;
    if (ending() === '1, Refunded by stripe:v, 0 open') continue;
    wrong += 1;
    console.log(`${order.map(([key]) => key).join(' ')} by ${size}: ${ending()}`);
  }
}
console.log(`${tried - wrong} arrivals ended the same, ${wrong} did not`);
process.exitCode = wrong > 0 || tried === 0 ? 1 : 0;
