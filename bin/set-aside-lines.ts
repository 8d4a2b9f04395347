import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * What every command reports of local changes that a run stored and did not merge back. Costs a few file reads if there
 * are none. Never fails: a repository that cannot be read is reported by the command itself.
 */
export async function setAsideLines(start: string): Promise<readonly string[]> {
  try {
    if (!mayHoldAny(start)) return [];
    const { openRepository } = await import('../engine/vcs/repository.ts');
    const { setAsideNotices } = await import('../engine/vcs/set-aside-refs.ts');
    return await setAsideNotices(await openRepository(start, { bare: true, onlyReads: true }));
  } catch {
    return [];
  }
}

/** False if the files in which git keeps refs show that there is no such ref. */
function mayHoldAny(start: string): boolean {
  const gitDir = findGitDir(start);
  if (gitDir === undefined) return false;
  const common = readText(join(gitDir, 'commondir'));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trimEnd());
  if (exists(join(commonDir, 'refs/writ/set-aside')) || exists(join(commonDir, 'reftable'))) return true;
  return readText(join(commonDir, 'packed-refs'))?.includes(' refs/writ/set-aside/') === true;
}

function findGitDir(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    const found = join(at, '.git');
    if (exists(join(found, 'HEAD'))) return found;
    const link = readText(found)?.match(/^gitdir: (.+)\n$/)?.[1];
    if (link !== undefined) return resolve(at, link);
    if (exists(join(at, 'HEAD')) && exists(join(at, 'refs'))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** False also below a file: `.git` is a file in a linked working tree and in a submodule. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'latin1') : undefined;
  } catch {
    return undefined;
  }
}
