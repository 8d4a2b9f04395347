import { mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { launcher } from './launcher.ts';

const held = new Map<boolean, number>();

/**
 * A descriptor from which the launcher for this machine can be read once; the caller closes it. SANDBOX_UNAVAILABLE
 * where calls cannot be filtered on this architecture: without that a sandbox is none.
 */
export function openLauncher(isUntraced = false): number {
  let descriptor = held.get(isUntraced);
  if (descriptor === undefined) {
    const program = launcher(process.arch, isUntraced);
    if (program === undefined) {
      throw new WritError('SANDBOX_UNAVAILABLE', {
        message: `system calls of \`${process.arch}\` cannot be filtered: expected x64 or arm64`,
        detail: { architecture: process.arch },
      });
    }
    const directory = mkdtempSync(path.join(realpathSync(tmpdir()), 'writ-launcher-'));
    try {
      writeFileSync(path.join(directory, 'launcher'), program, { mode: 0o600 });
      descriptor = openSync(path.join(directory, 'launcher'), 'r');
      held.set(isUntraced, descriptor);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  // Opened anew: a shared position would be at the end after the first reader.
  return openSync(`/proc/self/fd/${descriptor}`, 'r');
}
