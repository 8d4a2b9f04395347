import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory that holds `size` and no more; `undefined` where the system does not let us mount one. */
export function mountTiny(size: string): { readonly dir: string; readonly remove: () => void } | undefined {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-tiny-')));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'writ-test', dir], { stdio: 'ignore' });
  } catch {
    rmdirSync(dir);
    return undefined;
  }
  const remove = (): void => {
    execFileSync('umount', ['-l', dir]);
    rmdirSync(dir);
  };
  return { dir, remove };
}
