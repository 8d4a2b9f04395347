import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The file of an object in a repository, writable; an object in a pack is unpacked first, with all of its pack. */
export function looseObject(gitDirectory: string, id: string): string {
  const path = join(gitDirectory, 'objects', id.slice(0, 2), id.slice(2));
  if (!existsSync(path)) unpackAll(gitDirectory);
  chmodSync(path, 0o644);
  return path;
}

function unpackAll(gitDirectory: string): void {
  const packs = join(gitDirectory, 'objects', 'pack');
  for (const name of readdirSync(packs)) {
    if (!name.endsWith('.pack')) continue;
    const aside = join(gitDirectory, name);
    renameSync(join(packs, name), aside);
    for (const ending of ['idx', 'rev']) rmSync(join(packs, name.replace(/pack$/, ending)), { force: true });
    const input = readFileSync(aside);
    execFileSync('git', ['--git-dir', gitDirectory, 'unpack-objects', '-q'], { input });
    rmSync(aside);
  }
}
