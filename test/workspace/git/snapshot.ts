import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A digest of every name, mode and byte below a directory, `.git` included: equal means bit for bit the same. */
export function snapshot(dir: string): string {
  const hash = createHash('sha256');
  const visit = (path: string, name: string): void => {
    const found = lstatSync(path);
    hash.update(`${name}\0${found.mode.toString(8)}\0`);
    if (found.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (found.isDirectory())
      for (const entry of readdirSync(path).sort()) visit(join(path, entry), `${name}/${entry}`);
    else hash.update(readFileSync(path));
    hash.update('\0');
  };
  visit(dir, '');
  return hash.digest('hex');
}
