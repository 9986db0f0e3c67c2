// Interprets Apex without Salesforce: what the package does with values can be
// run, and compared with what the bridge does, on any machine.
export { Interpreter } from './evaluate.mjs';
export { Library } from './library.mjs';
export { load } from './program.mjs';
export * from './values.mjs';
import './expressions.mjs';
