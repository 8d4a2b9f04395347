import { printable } from '../../core/base/printable.ts';
import { isJournalBegun } from '../../store/parse-journal.ts';
import { journalPath } from '../../store/run-directory.ts';
import { adoptObjects } from '../../workspace/git/adopt-objects.ts';
import { type GitDirectory, gitLine, isGitFault, runGit } from '../../workspace/git/git.ts';
import { fetchedLogRef, isLogRef } from '../../workspace/git/log-refs.ts';
import { type RefUpdate, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type FetchConnection, unmoved } from './fetch-connection.ts';
import { filedRef, filedSource } from './filed-record.ts';
import { compareVersions, presentCommits, type Standing } from './lineage.ts';
import { listRemoteRefs } from './list-remote-refs.ts';
import type { MovedRef, MoveStatus } from './move-outcome.ts';
import { networkPlace, pickRemote, type Remote } from './network-git.ts';
import { plansOfRuns } from './plans-of-runs.ts';
import { recordPublishedLogs } from './published-logs.ts';
import { expiredContent, type Moved, type MoveRequest } from './push-refs.ts';
import { receiveRefs } from './receive-refs.ts';
import { openRefView } from './ref-view.ts';
import { isDeletable, listStoredRefs, type StoredRef, toStoredRef, travels } from './stored-ref.ts';

const refsAtOnce = 200;
const maxListBytes = 256 * 1024 * 1024;

/** One ref to be moved here, after its objects have come. */
interface Arrival {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string;
  readonly status: MoveStatus;
  readonly reason?: string;
}

/**
 * Fetches a remote's refs. As with push, records only grow and the later-written content wins; expired content is not
 * fetched.
 *
 * If this machine has a part in a run, the local record stays in effect. A changed remote record is kept next to it,
 * with its content and plans, until a person picks one (`pickRecord`). A ref moves by compare-and-swap after its
 * objects have arrived. Throws REMOTE_UNKNOWN, REMOTE_FAILED.
 */
export async function fetchRefs(request: MoveRequest): Promise<Moved> {
  const { repository, clock, signal } = request;
  const remote = await pickRemote(repository, request.remote, request.cwd);
  const network = await networkPlace(repository);
  const connection = { repository, network, remote, signal, doubled: [], parts: new Set<string>() };
  // Of an older version, one for all runs of a repository: no two of them could be joined.
  const there = (await listRemoteRefs(network, remote, signal)).filter(travels);
  const refs: MovedRef[] = [];
  const records = there.filter((one) => !isDeletable(one));
  refs.push(...(await bring(connection, records)));
  // The fetched records can make more content expired.
  const here = await listStoredRefs(repository);
  const content = there.filter(isDeletable);
  const expired = await expiredContent(repository, here, content, clock.now());
  for (const { ref } of content) {
    if (!expired.has(ref)) continue;
    const own = here.find((one) => one.ref === ref)?.object ?? null;
    refs.push({ ref, from: own, to: own, status: 'expired' });
  }
  const kept = content.filter(({ ref }) => !expired.has(ref));
  refs.push(...(await bring(connection, kept)));
  await recordPublishedLogs(repository, refs);
  return { remote: remote.shown, refs: refs.sort((a, b) => (a.ref < b.ref ? -1 : 1)) };
}

async function bring(connection: FetchConnection, there: readonly StoredRef[]): Promise<readonly MovedRef[]> {
  const { repository, network, remote } = connection;
  const all = await listAllRefs(repository);
  const here = new Map(all.map(({ ref, object }) => [ref, object]));
  const settled = there
    .filter(({ ref, object }) => here.get(ref) === object)
    .map(({ ref, object }): MovedRef => ({ ref, from: object, to: object, status: 'current' }));
  const wanted = there.filter(({ ref, object }) => here.get(ref) !== object);
  if (wanted.length === 0) return settled;

  await using view = await openRefView(network, repository);
  await view.setRefs(
    all.map(({ ref, object }, index) => ({
      // Out of the way of what comes.
      ref: toStoredRef(ref, object) ? `refs/have/${index}` : ref,
      object,
    })),
  );
  const refused: MovedRef[] = [];
  const came = await receiveRefs(connection, view.place, wanted, (ref, reason) =>
    refused.push({ ...unmoved(ref, here.get(ref) ?? null, 'rejected'), reason }),
  );
  settled.push(...refused);
  const present = await presentCommits(
    view.place,
    came.map(({ object }) => object),
  );
  const standings = await compareVersions(
    view.place,
    came.map(({ ref, object }) => ({ here: here.get(ref) ?? object, there: object })),
  );
  const names = new Set([...came, ...refused].map(({ ref }) => ref));
  for (const { ref } of wanted)
    if (!names.has(ref)) settled.push(unmoved(ref, here.get(ref) ?? null, 'moved'));
  const arrivals: Arrival[] = [];
  const filed: Filing[] = [];
  const clashes: (Arrival & { readonly from: string })[] = [];
  const settle = async (theirs: StoredRef, standing: Standing = 'unknown'): Promise<void> => {
    const { ref, object, kind } = theirs;
    const from = here.get(ref) ?? null;
    const planned = from === null ? 'created' : planFetch(theirs, standing);
    const status =
      planned === 'diverged' && from && (await areSame(view.place, from, object)) ? 'replaced' : planned;
    const filing = from === null ? undefined : await filingOf(connection, theirs, from, status);
    if (!present.has(object)) settled.push({ ...unmoved(ref, from, 'rejected'), reason: 'it is no commit' });
    else if (filing) filed.push(filing);
    else if (status === 'created' || status === 'updated' || status === 'replaced')
      arrivals.push({ ref, from, to: object, status, ...changedReason(kind, from, status) });
    else if (status === 'diverged' && kind === 'approval' && from !== null)
      clashes.push({ ref, from, to: object, status: 'replaced' });
    else settled.push(unmoved(ref, from, status));
  };
  // Runs first: if ours holds, so do its plans.
  for (const [index, theirs] of came.entries())
    if (theirs.kind === 'run') await settle(theirs, standings[index]);
  for (const ref of (await plansOfRuns(view.place, connection.doubled)).keys()) connection.parts.add(ref);
  for (const [index, theirs] of came.entries())
    if (theirs.kind !== 'run') await settle(theirs, standings[index]);
  if (arrivals.length + clashes.length + filed.length > 0) await adoptObjects(view.place, repository);
  for (let at = 0; at < arrivals.length; at += refsAtOnce)
    settled.push(...(await land(repository, remote, arrivals.slice(at, at + refsAtOnce))));
  for (const filing of filed) settled.push(await fileTheirs(repository, remote, filing, here));
  const taken = new Set([...here.keys(), ...there.map(({ ref }) => ref)]);
  for (const clash of clashes) settled.push(...(await renumber(repository, remote, clash, taken)));
  return settled;
}

/** Whether two commits have the same tree, written at different times: replacing one loses no data. */
async function areSame(place: GitDirectory, ...commits: readonly [string, string]): Promise<boolean> {
  const trees = commits.map((commit) => `${commit}^{tree}`);
  const [ours, theirs] = (await gitLine(place, ['rev-parse', '--end-of-options', ...trees]))
    .split('\n')
    .slice(-2);
  return ours === theirs;
}

/** Every ref of the repository: what need not be sent again. */
async function listAllRefs(
  repository: Repository,
): Promise<readonly { readonly ref: string; readonly object: string }[]> {
  const listed = await runGit(repository, ['for-each-ref', '--format=%(objectname) %(refname)'], {
    maxBytes: maxListBytes,
  });
  return listed
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ object: line.slice(0, line.indexOf(' ')), ref: line.slice(line.indexOf(' ') + 1) }));
}

function planFetch(theirs: StoredRef, standing: Standing): MoveStatus {
  switch (standing) {
    case 'same':
      return 'current';
    case 'behind':
      return 'updated';
    case 'ahead':
      return 'ahead';
    case 'diverged-earlier':
      return isDeletable(theirs) ? 'replaced' : 'diverged';
    case 'diverged-later':
    case 'diverged-tie':
      return isDeletable(theirs) ? 'ahead' : 'diverged';
    case 'unknown':
      return 'rejected';
  }
}

/** Moves refs together; where git refuses, by halves, so that one bad name stops no other. */
async function land(
  repository: Repository,
  remote: Remote,
  arrivals: readonly Arrival[],
): Promise<readonly MovedRef[]> {
  const updates = arrivals.map(({ ref, from, to }): RefUpdate => ({ ref, old: from ?? undefined, new: to }));
  try {
    const outcome = await updateRefs(repository, updates, `writ: fetch from ${remote.shown}`);
    if (outcome.moved) return arrivals;
    const stale = new Map(outcome.stale.map(({ ref, found }) => [ref, found ?? null]));
    const refused = [...stale].map(([ref, found]) => unmoved(ref, found, 'moved'));
    const rest = arrivals.filter(({ ref }) => !stale.has(ref));
    return rest.length === 0 ? refused : [...refused, ...(await land(repository, remote, rest))];
  } catch (fault) {
    if (!isGitFault(fault)) throw fault;
    const [only] = arrivals;
    if (arrivals.length === 1 && only !== undefined)
      return [{ ...unmoved(only.ref, only.from, 'rejected'), reason: printable(fault.message) }];
    const middle = Math.ceil(arrivals.length / 2);
    return [
      ...(await land(repository, remote, arrivals.slice(0, middle))),
      ...(await land(repository, remote, arrivals.slice(middle))),
    ];
  }
}

/**
 * Two people who approve in separate clones can use the same number. The number has no meaning, so ours moves to the
 * next free number and theirs keeps it. Both exist here and, after the next push, at the remote.
 */
async function renumber(
  repository: Repository,
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
    repository,
    [
      { ref: free, old: undefined, new: from },
      { ref, old: from, new: to },
    ],
    `writ: fetch from ${remote.shown}`,
  );
  if (!outcome.moved) return [unmoved(ref, from, 'moved')];
  return [
    { ref: free, from: null, to: from, status: 'renumbered', reason: `was \`${ref}\`` },
    { ref, from, to, status: 'replaced' },
  ];
}

/** A version of theirs that is to be kept beside ours. */
interface Filing {
  readonly filed: string;
  readonly to: string;
  readonly told: MovedRef;
}

/** Returns where to keep their version next to ours; `undefined` if it need not be kept. */
async function filingOf(
  { repository, remote, doubled, parts }: FetchConnection,
  theirs: StoredRef,
  from: string,
  status: MoveStatus,
): Promise<Filing | undefined> {
  const { ref, object, kind, prefix, id } = theirs;
  if (isLogRef(ref) && status === 'diverged')
    return { filed: fetchedLogRef(ref), to: object, told: unmoved(ref, from, status) };
  if (status === 'current' || status === 'rejected') return undefined;
  if (kind === 'run') {
    if (status === 'ahead') return undefined;
    if (status === 'updated' && !(await isJournalBegun(journalPath(repository, id)))) return undefined;
    doubled.push({ object: from, prefix }, { object, prefix });
    parts.add(`${prefix}/content/${id}`);
  } else if (kind === 'intent' || kind === 'plan') {
    if (status !== 'diverged' && !parts.has(ref)) return undefined;
  } else if (kind !== 'content' || !parts.has(ref)) return undefined;
  // Of content that was written apart the later counts as ahead: beside a record that is doubled both are kept.
  const filed = filedRef(theirs, filedSource(remote), kind);
  const reason =
    kind === 'run' || kind === 'content'
      ? `ours holds, theirs is kept as \`${filed}\`: \`writ fetch --theirs ${id}\` takes it, \`--ours ${id}\` keeps this one`
      : `it goes with the run that is chosen; theirs is kept as \`${filed}\``;
  const told = { ...unmoved(ref, from, status === 'diverged' ? 'diverged' : 'changed'), reason };
  return { filed, to: object, told };
}

/**
 * Reason for a run record that grew elsewhere while this machine has no part in the run: the ref follows it and the
 * change is reported.
 */
function changedReason(
  kind: StoredRef['kind'],
  from: string | null,
  status: MoveStatus,
): { readonly reason?: string } {
  return kind === 'run' && status === 'updated'
    ? { reason: `the record changed; before it was ${from}` }
    : {};
}

/** Keeps theirs beside ours, in the place of an earlier one. */
async function fileTheirs(
  repository: Repository,
  remote: Remote,
  { filed, to, told }: Filing,
  here: ReadonlyMap<string, string>,
): Promise<MovedRef> {
  const old = here.get(filed);
  if (old === to) return told;
  const outcome = await updateRefs(
    repository,
    [{ ref: filed, old, new: to }],
    `writ: fetch from ${remote.shown}`,
  );
  return outcome.moved
    ? told
    : { ...told, status: 'moved', reason: 'what is kept beside it was moved while we looked' };
}
