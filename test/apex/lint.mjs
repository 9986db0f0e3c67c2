// Lints every class and trigger with PMD by ruleset.xml.
//
//   node lint.mjs PROJECT
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { below, finish, jars } from './files.mjs';

const files = below(process.argv[2], '.cls', '.trigger');
const scratch = mkdtempSync(join(tmpdir(), 'lint-'));
try {
  const [wanted, found] = [join(scratch, 'in.json'), join(scratch, 'out.json')];
  const ruleSetInputFile = new URL('ruleset.xml', import.meta.url).pathname;
  writeFileSync(wanted, JSON.stringify({ ruleSetInputFile, runDataPerLanguage: { apex: { filesToScan: files } } }));
  execFileSync('java', ['-cp', jars, 'com.salesforce.sfca.pmdwrapper.PmdWrapper', 'run', wanted, found], { stdio: 'pipe' });
  const { violations, processingErrors } = JSON.parse(readFileSync(found, 'utf8'));
  const lines = violations.map((v) => `${v.codeLocation.file}:${v.codeLocation.startLine}: ${v.rule}: ${v.message.trim()}`);
  finish([...lines, ...processingErrors.map((e) => `${e.file}: ${e.message}`)], files.length);
} finally {
  rmSync(scratch, { recursive: true });
}
