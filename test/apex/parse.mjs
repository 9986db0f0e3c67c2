// Parses every class and trigger with Salesforce's own parser.
//
//   node parse.mjs PROJECT
//
// The parser exits with 0 whatever it finds; its answer has the errors.
import { below, finish, serializer } from './files.mjs';
import { parse } from './interpret/program.mjs';

const files = below(process.argv[2], '.cls', '.trigger');
const problems = files.flatMap((file) => {
  const { parseErrors, internalErrors } = parse(serializer, file);
  return [...parseErrors, ...internalErrors].map((e) => `${file}:${e.error?.error?.loc?.line ?? 1}: ${e.message}`);
});
finish(problems, files.length);
