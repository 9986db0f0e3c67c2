// A project made ready to run: its classes, and an org with its objects.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Blob, Interpreter, Library, load } from './index.mjs';
import { Org } from './org.mjs';

function filesBelow(folder, ending) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path, ending) : path.endsWith(ending) ? [path] : [];
  });
}

function forget(classes) {
  for (const cls of classes) {
    if (!cls.statics) continue;
    cls.isReady = false;
    cls.staticValues.clear();
    forget(cls.inner.values());
  }
}

export class Project {
  constructor(serializer, folder) {
    const folders = ['force-app', 'samples', 'tests'].map((f) => join(folder, f, 'main', 'default'));
    this.classes = load(serializer, folders.flatMap((f) => filesBelow(f, '.cls')));
    const resources = filesBelow(folders[2], '.json').map((f) => [basename(f, '.json'), new Blob(readFileSync(f))]);
    this.org = new Org(folders.slice(0, 2).map((f) => join(f, 'objects')), resources);
  }

  /** transaction forgets static values, as every transaction begins without. */
  transaction() {
    forget(this.classes.values());
    return new Interpreter(this.classes, new Library(), this.org);
  }

  /** fresh begins with an empty org. */
  fresh() {
    const interpreter = this.transaction();
    this.org.reset();
    return interpreter;
  }
}
