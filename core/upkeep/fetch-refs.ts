import { isWritError } from '../base/errors.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { printable } from '../vcs/ref-name.ts';
import { type RefUpdate, updateRefs } from '../vcs/refs.ts';
import { compareVersions, presentCommits, type Standing } from './lineage.ts';
import { listRemoteRefs } from './list-remote-refs.ts';
import type { MovedRef, MoveStatus } from './move-outcome.ts';
import { askRemote, networkPlace, pickRemote, type Remote, remoteFailed } from './network-git.ts';
import { expiredContent, type Moved, type MoveRequest } from './push-refs.ts';
import { isDeletable, listStoredRefs, type StoredRef } from './stored-ref.ts';

const refsAtOnce = 200;

interface Arrival {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string;
  readonly status: MoveStatus;
}

/**
 * Brings the refs of a remote here. As with pushing, records only grow and the content that was written later wins; content whose retention is
 * over is not brought back. A ref is moved by compare-and-swap after its objects are here. REMOTE_UNKNOWN, REMOTE_FAILED.
 */
export async function fetchRefs(request: MoveRequest): Promise<Moved> {
  const { repository, clock, signal } = request;
  const remote = await pickRemote(repository, request.remote, request.cwd);
  const place = await networkPlace(repository);
  const there = (await listRemoteRefs(place, remote, signal)).filter(({ kind }) => kind !== 'orphans');
  const refs: MovedRef[] = [];
  const records = there.filter(({ kind }) => kind !== 'content');
  refs.push(...(await bring(place, remote, records, signal)));
  // The records that say what has expired may just have come.
  const here = await listStoredRefs(repository);
  const content = there.filter(({ kind }) => kind === 'content');
  const expired = await expiredContent(place, here, content, clock.now());
  for (const { ref } of content) {
    if (!expired.has(ref)) continue;
    const own = here.find((one) => one.ref === ref)?.object ?? null;
    refs.push({ ref, from: own, to: own, status: 'expired' });
  }
  refs.push(
    ...(await bring(
      place,
      remote,
      content.filter(({ ref }) => !expired.has(ref)),
      signal,
    )),
  );
  return { remote: remote.shown, refs: refs.sort((a, b) => (a.ref < b.ref ? -1 : 1)) };
}

async function bring(
  place: GitDirectory,
  remote: Remote,
  there: readonly StoredRef[],
  signal: AbortSignal,
): Promise<readonly MovedRef[]> {
  const here = new Map((await listStoredRefs(place)).map((one) => [one.ref, one.object]));
  const wanted = there.filter(({ ref, object }) => here.get(ref) !== object);
  await fetchObjects(place, remote, wanted, signal);
  const present = await presentCommits(
    place,
    wanted.map(({ object }) => object),
  );
  const standings = await compareVersions(
    place,
    there.map(({ ref, object }) => ({ here: here.get(ref) ?? object, there: object })),
  );
  const settled: MovedRef[] = [];
  const arrivals: Arrival[] = [];
  const taken = new Set([...here.keys(), ...there.map(({ ref }) => ref)]);
  for (const [index, theirs] of there.entries()) {
    const { ref, object, kind } = theirs;
    const from = here.get(ref) ?? null;
    const stays = (status: MoveStatus): void => {
      settled.push({ ref, from, to: from, status });
    };
    if (from === object) stays('current');
    else if (!present.has(object)) stays('moved');
    else if (from === null) arrivals.push({ ref, from, to: object, status: 'created' });
    else {
      const status = planFetch(theirs, standings[index] ?? 'unknown');
      if (status === 'updated' || status === 'replaced') arrivals.push({ ref, from, to: object, status });
      else if (status === 'diverged' && kind === 'approval')
        settled.push(...(await renumber(place, remote, { ref, from, to: object }, taken)));
      else stays(status);
    }
  }
  for (let at = 0; at < arrivals.length; at += refsAtOnce)
    settled.push(...(await land(place, remote, arrivals.slice(at, at + refsAtOnce))));
  return settled;
}

function planFetch(theirs: StoredRef, standing: Standing): MoveStatus {
  switch (standing) {
    case 'behind':
      return 'updated';
    case 'ahead':
      return 'ahead';
    case 'diverged-earlier':
      return isDeletable(theirs) ? 'replaced' : 'diverged';
    case 'diverged-later':
    case 'diverged-tie':
      return isDeletable(theirs) ? 'ahead' : 'diverged';
    default:
      return 'moved';
  }
}

/**
 * Two people who approve in clones of their own take the same number. The number means nothing, so ours moves to the next free one and theirs takes
 * its place: both stand, here and, with the next push, there.
 */
async function renumber(
  place: GitDirectory,
  remote: Remote,
  { ref, from, to }: { readonly ref: string; readonly from: string; readonly to: string },
  taken: Set<string>,
): Promise<readonly MovedRef[]> {
  const stem = ref.slice(0, ref.lastIndexOf('/') + 1);
  let number = 1;
  while (taken.has(`${stem}${number}`)) number += 1;
  const free = `${stem}${number}`;
  taken.add(free);
  const outcome = await updateRefs(
    place,
    [
      { ref: free, old: undefined, new: from },
      { ref, old: from, new: to },
    ],
    `writ: fetch from ${remote.shown}`,
  );
  if (!outcome.moved) return [{ ref, from, to: from, status: 'moved' }];
  return [
    { ref: free, from: null, to: from, status: 'renumbered', reason: `was \`${ref}\`` },
    { ref, from, to, status: 'replaced' },
  ];
}

/** Objects alone: git would move refs outside `refs/heads` to wherever the remote says. */
async function fetchObjects(
  place: GitDirectory,
  remote: Remote,
  wanted: readonly StoredRef[],
  signal: AbortSignal,
): Promise<void> {
  if (wanted.length === 0) return;
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--no-show-forced-updates',
    '--no-filter',
    '--refmap=',
    '--upload-pack=git-upload-pack',
    '--stdin',
    '--end-of-options',
    remote.address,
  ];
  const answer = await askRemote(place, args, {
    input: wanted.map(({ ref }) => `${ref}\n`).join(''),
    signal,
  });
  if (answer.code !== 0) throw remoteFailed(remote, answer);
}

/** Moves refs together; where git refuses, by halves, so that one bad name stops no other. */
async function land(
  place: GitDirectory,
  remote: Remote,
  arrivals: readonly Arrival[],
): Promise<readonly MovedRef[]> {
  const updates = arrivals.map(({ ref, from, to }): RefUpdate => ({ ref, old: from ?? undefined, new: to }));
  try {
    const outcome = await updateRefs(place, updates, `writ: fetch from ${remote.shown}`);
    if (outcome.moved) return arrivals;
    const stale = new Map(outcome.stale.map(({ ref, found }) => [ref, found ?? null]));
    const refused = arrivals
      .filter(({ ref }) => stale.has(ref))
      .map(({ ref }): MovedRef => {
        const found = stale.get(ref) ?? null;
        return { ref, from: found, to: found, status: 'moved' };
      });
    const rest = arrivals.filter(({ ref }) => !stale.has(ref));
    return rest.length === 0 ? refused : [...refused, ...(await land(place, remote, rest))];
  } catch (fault) {
    if (!isWritError(fault, 'GIT_FAILED')) throw fault;
    const [only] = arrivals;
    if (arrivals.length === 1 && only !== undefined) {
      const { ref, from } = only;
      return [{ ref, from, to: from, status: 'rejected', reason: printable(fault.message) }];
    }
    const middle = Math.ceil(arrivals.length / 2);
    return [
      ...(await land(place, remote, arrivals.slice(0, middle))),
      ...(await land(place, remote, arrivals.slice(middle))),
    ];
  }
}
