import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomOctets } from '../core/base/ids.ts';
import type { Repository } from '../workspace/git/repository.ts';
import {
  isProvenDead,
  ownIdentity,
  type ProcessIdentity,
  toIdentity,
} from '../workspace/process/process-identity.ts';

const prefix = 'store-';

/** Where work in progress of the stores lies, in the repository's own file system: `<git-common-dir>/writ/tmp`. */
export function temporaryRoot(repo: Pick<Repository, 'commonDir'>): string {
  return join(repo.commonDir, 'writ', 'tmp');
}

/**
 * A new private directory for one write. Its name says which process made it, so that there is no instant at which a
 * kill leaves one that nobody can tell; what earlier processes left is removed first.
 */
export async function makeTemporary(repo: Pick<Repository, 'commonDir'>): Promise<string> {
  await removeLitter(repo);
  const root = temporaryRoot(repo);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { host, boot, namespace, pid, started } = await ownIdentity();
  const maker = [host, boot, namespace, String(pid), started].map(encodeURIComponent).join('+');
  const dir = join(root, `${prefix}${maker}+${randomOctets(6).toString('hex')}`);
  await mkdir(dir, { mode: 0o700 });
  return dir;
}

/** Removes the directories of killed writes: those whose maker is proven dead. Answers how many. */
export async function removeLitter(repo: Pick<Repository, 'commonDir'>): Promise<number> {
  const root = temporaryRoot(repo);
  const names = await readdir(root).catch((fault: unknown) => {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return [];
    throw fault;
  });
  let removed = 0;
  for (const name of names) {
    const maker = makerOf(name);
    if (maker === undefined || !(await isProvenDead(maker))) continue;
    await rm(join(root, name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

function makerOf(name: string): ProcessIdentity | undefined {
  if (!name.startsWith(prefix)) return undefined;
  try {
    const [host, boot, namespace, pid, started] = name
      .slice(prefix.length)
      .split('+')
      .map(decodeURIComponent);
    return toIdentity({ host, boot, namespace, pid: Number(pid), started });
  } catch {
    return undefined;
  }
}
