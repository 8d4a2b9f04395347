/* Lists refs of a remote, opens a view of refs for one transfer, and names what became of each ref. */
import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../../core/base/files.ts';
import { makeTemporary } from '../../store/remove-litter.ts';
import { type GitDirectory, maxListBytes } from '../../workspace/git/git.ts';
import { askRemote, type Remote, remoteFailed } from '../../workspace/git/network.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { parseRefLines, type StoredRef } from './stored-ref.ts';

/** Our refs at a remote, without names that git would refuse. REMOTE_FAILED. */
export async function listRemoteRefs(
  place: GitDirectory,
  remote: Remote,
  signal: AbortSignal,
): Promise<readonly StoredRef[]> {
  const patterns = ['refs/ai/*', 'refs/x-*'];
  return parseRefLines(await listRemote(place, remote, ['--refs'], patterns, signal), '\t');
}

/** Any one ref at a remote; `null` if it has none of that name. REMOTE_FAILED. */
export async function readRemoteRef(
  place: GitDirectory,
  remote: Remote,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const listed = await listRemote(place, remote, [], [ref], signal);
  // git also lists refs that end with the name.
  const line = listed.split('\n').find((one) => one.endsWith(`\t${ref}`));
  return line?.split('\t')[0] ?? null;
}

/** Lines of `git ls-remote`. */
async function listRemote(
  place: GitDirectory,
  remote: Remote,
  options: readonly string[],
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const args = ['ls-remote', '--quiet', ...options, '--upload-pack=git-upload-pack', '--end-of-options'];
  const call = { signal, maxBytes: maxListBytes };
  const answer = await askRemote(place, [...args, remote.address, ...patterns], call);
  if (answer.code !== 0) throw remoteFailed(remote, answer);
  return answer.stdout.toString('utf8');
}

/** A git directory of our own over the repository's objects, with exactly the refs of one transfer. */
interface RefView extends AsyncDisposable {
  readonly place: Scratch;
  setRefs(refs: readonly { readonly ref: string; readonly object: string }[]): Promise<void>;
}

/**
 * Opens a view to push from or fetch into. git compares each ref that is given by name with all refs of the remote:
 * 10,000 names cost minutes, while the pattern `refs/*` over a view costs seconds. What arrives is separate until it
 * was checked. The remotes and connection settings of the repository's config apply.
 */
export async function openRefView(network: GitDirectory, repository: Repository): Promise<RefView> {
  const dir = await makeTemporary(repository);
  const scratch = await createScratch(dir, repository);
  const config = join(dir, 'config');
  // Included first, so that our own lines override it.
  const own = await readFile(config, 'utf8');
  await writeFile(config, `[include]\n\tpath = ${quoted(join(repository.commonDir, 'config'))}\n`);
  await appendFile(config, own);
  // Without it, each side assumes that the history behind the cut of a shallow clone is here.
  await copyFile(join(repository.commonDir, 'shallow'), join(dir, 'shallow')).catch(absent);
  const { GIT_WORK_TREE: _, ...env } = network.env;
  const place: Scratch = {
    ...scratch,
    cwd: network.cwd,
    env: { ...env, GIT_DIR: dir },
    settings: [...network.settings, ...scratch.settings, ['fetch.unpackLimit', '100']],
  };
  return {
    place,
    async setRefs(refs) {
      const lines = [...refs]
        .sort((a, b) => (a.ref < b.ref ? -1 : 1))
        .map(({ ref, object }) => `${object} ${ref}\n`);
      await writeFile(join(dir, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`);
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** A value in quotes in git's config. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * The result for one ref. `behind`: the other side has more; `ahead` (fetch): we have more; `expired`: retention has
 * ended, so it is not sent; `changed` (fetch): the remote has another record of a run with a journal here, which is
 * kept beside ours; `held` (push): its run was refused or abandoned; `renumbered` (fetch): our approval had a number
 * that the remote uses; `diverged`: each side has what the other lacks; `unfetched`: the version of the other side is
 * not here; `moved`: it was moved meanwhile; `rejected`: git or the remote refused.
 */
export type MoveStatus =
  | 'created'
  | 'updated'
  | 'replaced'
  | 'renumbered'
  | 'deleted'
  | 'current'
  | 'ahead'
  | 'behind'
  | 'expired'
  | 'held'
  | 'changed'
  | 'diverged'
  | 'unfetched'
  | 'moved'
  | 'rejected';

/** Versions at the side that is written to. `null`: the ref does not exist there. Both are equal if nothing moved. */
export interface MovedRef {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly status: MoveStatus;
  /** The reason that git or the remote gave. */
  readonly reason?: string;
}

const refusals: readonly MoveStatus[] = ['diverged', 'unfetched', 'moved', 'rejected'];

/** True for a ref that should have moved and did not. */
export function isRefused({ status }: MovedRef): boolean {
  return refusals.includes(status);
}

/** True for two records that are both here: a person has to choose one. */
export function awaitsChoice({ status, reason }: MovedRef): boolean {
  return status === 'diverged' && reason !== undefined;
}
