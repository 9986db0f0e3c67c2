// What the gates share.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** below gives the files of a folder whose names end in one of the endings. */
export function below(folder, ...endings) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name === 'node_modules') return [];
    if (statSync(path).isDirectory()) return below(path, ...endings);
    return endings.some((e) => path.endsWith(e)) ? [path] : [];
  });
}

/** serializer is Salesforce's own parser. */
export const serializer = new URL('node_modules/@prettier-apex/apex-ast-serializer-linux-x64/apex-ast-serializer-linux-x64', import.meta.url).pathname;

/** jars are the type checker's and the linter's. */
export const jars = new URL('node_modules/@salesforce/code-analyzer-pmd-engine/dist/java-lib/*', import.meta.url).pathname;

/** finish prints problems and sets the exit code: 1 for any, 2 for nothing looked at. */
export function finish(problems, count) {
  for (const line of problems) console.log(line);
  if (count === 0) console.error('there was nothing to look at');
  process.exitCode = count === 0 ? 2 : problems.length > 0 ? 1 : 0;
}
