import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/digest.ts';
import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

const maxBytes = 64 * 1024 * 1024;

/**
 * A digest of where HEAD is and of everything that the work tree holds beside it: equal as long as nobody committed,
 * switched, staged, wrote or removed anything that git does not ignore. GIT_FAILED where more differs than can be
 * listed.
 */
export async function workspaceFingerprint(repository: Repository): Promise<string> {
  const args = ['status', '--porcelain=v2', '-z', '--branch', '--no-ahead-behind', '--no-renames'];
  const listed = (await runGit(repository, [...args, '--untracked-files=all'], { maxBytes })).toString(
    'utf8',
  );
  const seen: string[] = [];
  for (const record of listed.split('\0')) {
    const path = pathOf(record);
    // What writ itself keeps there is no change of anybody's.
    if (record.startsWith('? .writ/')) continue;
    seen.push(record);
    if (path !== undefined) seen.push(await stateOf(join(repository.root, path)));
  }
  return sha256Hex(seen.join('\0'));
}

function pathOf(record: string): string | undefined {
  const fields = { 1: 8, u: 10, '?': 1, 2: 9 } as const;
  const [kind = ''] = record.split(' ', 1);
  const from = (fields as Readonly<Record<string, number>>)[kind];
  return from === undefined ? undefined : record.split(' ').slice(from).join(' ');
}

/** What changes with every write; the time of the last change cannot be set. */
async function stateOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? 'gone' : `${found.mode} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}
