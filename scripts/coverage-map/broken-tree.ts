import { cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The repository that tests are run in. */
export const root = resolve(import.meta.dirname, '../..');

/** What nothing is broken in. */
const linked = ['node_modules', 'fixtures', 'scripts'];
/** What no test reads: the repository itself, and what tools leave behind. */
const leftBehind = ['.git', '.tap', 'dist', 'coverage'];

/** A copy of the tree to break things in. The caller removes it. */
export function makeBrokenTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'writ-guards-'));
  for (const name of readdirSync(root)) {
    if (leftBehind.includes(name)) continue;
    if (linked.includes(name)) symlinkSync(join(root, name), join(copy, name));
    else cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  return copy;
}
