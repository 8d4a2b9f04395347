import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../core/base/printable.ts';
import type { GitDirectory } from './git.ts';
import { askObjects } from './object-reader.ts';
import { encodeId } from './ref-name.ts';
import { listRefs, readRef } from './refs.ts';
import type { Repository } from './repository.ts';

const prefix = 'refs/writ/set-aside';
const workTreeLabel = 'Work-Tree: ';
const maxCommitBytes = 64 * 1024;

/** The ref that holds the local changes that a run set aside. */
export function setAsideRef(runId: string): string {
  return `${prefix}/${encodeId(runId)}`;
}

/** The commit that holds the local changes of a run; `undefined` if nothing is set aside. */
export function readSetAside(place: GitDirectory, runId: string): Promise<string | undefined> {
  return readRef(place, setAsideRef(runId));
}

/** The line of a stored commit's message that names the work tree whose local changes it holds. */
export function workTreeLine(root: string): string {
  return `${workTreeLabel}${root}`;
}

/** One sentence for each ref that holds local changes: what restores them, and what removes them. */
export async function setAsideNotices(
  repo: Pick<Repository, 'commonDir' | 'root'> & GitDirectory,
): Promise<readonly string[]> {
  const refs = await listRefs(repo, prefix);
  return Promise.all(
    refs.map(async ({ ref, object }) => {
      const name = ref.slice(prefix.length + 1);
      // A run that has ended leaves no scratch directory.
      const isOpen = await exists(join(repo.commonDir, 'writ', 'runs', name, 'scratch'));
      const place = await otherWorkTree(repo, object);
      return setAsideNotice(ref, { ...(isOpen && { openRun: name }), ...(place && { place }) });
    }),
  );
}

/** The notice about the local changes of one run; `undefined` if nothing is set aside. */
export async function setAsideNoticeOf(
  repo: Pick<Repository, 'root'> & GitDirectory,
  runId: string,
): Promise<string | undefined> {
  const object = await readSetAside(repo, runId);
  if (object === undefined) return undefined;
  const place = await otherWorkTree(repo, object);
  return setAsideNotice(setAsideRef(runId), place === undefined ? {} : { place });
}

/**
 * What holds local changes, and how to restore them. `openRun`: the run if it has not ended, so that resuming it merges
 * the changes back, or includes them. `place`: the work tree that they belong to, if it is not this one.
 */
export function setAsideNotice(
  ref: string,
  { openRun, place }: { readonly openRun?: string; readonly place?: string } = {},
): string {
  const shown = printable(ref);
  const where = place === undefined ? undefined : quoted(printable(place));
  const resume =
    openRun === undefined
      ? ''
      : `\`writ ${where === undefined ? '' : `--repo ${where} `}resume ${printable(openRun)}\` finishes the run with them; `;
  const of = place === undefined ? '' : ` of the work tree \`${printable(place)}\``;
  const git = where === undefined ? 'git' : `git -C ${where}`;
  return `\`${shown}\` holds local changes${of} that a run set aside: ${resume}\`${git} stash apply ${shown}\` restores them, \`git update-ref -d ${shown}\` deletes them`;
}

/** The work tree that a stored commit names, if it is another one than `root` and still exists. */
async function otherWorkTree(
  repo: Pick<Repository, 'root'> & GitDirectory,
  stored: string,
): Promise<string | undefined> {
  let place: string | undefined;
  await askObjects(repo, {
    names: [stored],
    command: 'contents',
    maxBytes: maxCommitBytes,
    take: (_, object) => {
      if (object?.type !== 'commit' || object.bytes === undefined) return;
      const lines = object.bytes.toString('utf8').split('\n');
      place = lines.find((line) => line.startsWith(workTreeLabel))?.slice(workTreeLabel.length);
    },
  });
  return place !== undefined && place !== repo.root && (await exists(place)) ? place : undefined;
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** A path as one word of a shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
