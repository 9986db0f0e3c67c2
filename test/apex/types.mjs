// Checks the types of classes and triggers against the package's objects with
// apex-ls. It knows API 65 and doesn't look into SOQL.
//
//   node types.mjs PROJECT
import { spawnSync } from 'node:child_process';
import { below, finish, jars } from './files.mjs';

const [project] = process.argv.slice(2);
const { stdout, stderr, status } = spawnSync('java', ['-cp', jars, 'io.github.apexdevtools.apexls.CheckForIssues', '-n', '-w', project, '-d', 'warnings'], { encoding: 'utf8' });
const lines = stdout.split('\n').filter(Boolean);
if (status !== 0 && lines.length === 0) lines.push(`the type checker ended with ${status}: ${stderr.slice(0, 500)}`);
finish(lines, below(project, '.cls').length);
