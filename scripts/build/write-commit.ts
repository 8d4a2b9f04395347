import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/**
 * Writes down of what commit the package is made, for `api/build.ts`; nothing where this is no repository of its own
 * (a package that is built from an archive).
 */
export function writeCommit(path: string): void {
  const ask = (...args: readonly string[]): string | undefined => {
    const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  };
  if (ask('rev-parse', '--show-prefix') !== '') return;
  const commit = ask('rev-parse', '--verify', '--quiet', 'HEAD');
  if (commit === undefined) return;
  const isChanged = ask('status', '--porcelain', '--untracked-files=no') !== '';
  writeFileSync(path, `${JSON.stringify({ commit: isChanged ? `${commit}-changed` : commit })}\n`);
}
