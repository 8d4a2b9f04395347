import { cpSync, globSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The repository that tests are run in. */
export const root = resolve(import.meta.dirname, '../..');

const copied =
  '{api,attest,bench,bin,core,docs,engine,gates,http,plugins,providers,readers,service,test,*.ts,*.json}';

/** A copy of the tree to break things in: what nothing is broken in is linked. The caller removes it. */
export function makeBrokenTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'writ-guards-'));
  for (const path of globSync(copied, { cwd: root }))
    cpSync(join(root, path), join(copy, path), { recursive: true });
  for (const shared of ['node_modules', 'fixtures', 'scripts'])
    symlinkSync(join(root, shared), join(copy, shared));
  return copy;
}
