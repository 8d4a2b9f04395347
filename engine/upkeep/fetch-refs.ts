/* `writ fetch`: brings the refs of a remote here, and keeps conflicting records beside ours. */
import { printable } from '../../core/base/printable.ts';
import { isJournalBegun } from '../../store/parse-journal.ts';
import { journalPath } from '../../store/run-directory.ts';
import { type GitDirectory, gitLine } from '../../workspace/git/git.ts';
import { adoptObjects } from '../../workspace/git/import-objects.ts';
import {
  askRemote,
  networkPlace,
  pickRemote,
  type Remote,
  remoteFailed,
} from '../../workspace/git/network.ts';
import { halving, presentCommits } from '../../workspace/git/read-objects.ts';
import { fetchedLogRef, isLogRef, matchRefs, type RefUpdate, updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { expiredContent } from './expire-content.ts';
import { filedRef, filedSource } from './filed-records.ts';
import { type Moved, type MoveRequest, recordPublishedLogs } from './push-refs.ts';
import { listRemoteRefs, type MovedRef, type MoveStatus, openRefView } from './remote.ts';
import {
  compareVersions,
  isDeletable,
  listStoredRefs,
  plansOfRuns,
  type Relation,
  type StoredRef,
  toStoredRef,
  travels,
} from './stored-ref.ts';

const refsAtOnce = 200;

/** A ref to be moved here, after its objects have arrived. */
interface Arrival {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string;
  readonly status: MoveStatus;
  readonly reason?: string;
}

/**
 * Records only grow, and the content that was written later wins; expired content is not fetched. For a run that has
 * a journal here, our record stays and a changed one of the remote is kept beside it, with its content and plans,
 * until a person chooses (`pickRecord`). A ref is moved by compare-and-swap after its objects are here.
 * REMOTE_UNKNOWN, REMOTE_FAILED.
 */
export async function fetchRefs(request: MoveRequest): Promise<Moved> {
  const { repository, clock, signal } = request;
  const remote = await pickRemote(repository, request.remote, request.cwd);
  const network = await networkPlace(repository);
  const connection = { repository, network, remote, signal, doubled: [], parts: new Set<string>() };
  const there = (await listRemoteRefs(network, remote, signal)).filter(travels);
  const refs: MovedRef[] = [];
  const records = there.filter((one) => !isDeletable(one));
  refs.push(...(await bring(connection, records)));
  // The records that decide what has expired may just have arrived.
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
  // Git need not send again what any ref here holds.
  const all = await matchRefs(repository);
  const here = new Map(all.map(({ ref, object }) => [ref, object]));
  const settled = there
    .filter(({ ref, object }) => here.get(ref) === object)
    .map(({ ref, object }): MovedRef => ({ ref, from: object, to: object, status: 'current' }));
  const wanted = there.filter(({ ref, object }) => here.get(ref) !== object);
  if (wanted.length === 0) return settled;

  await using view = await openRefView(network, repository);
  await view.setRefs(
    all.map(({ ref, object }, index) => ({
      // Moved aside, so that it cannot conflict with arrivals.
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
  const relations = await compareVersions(
    view.place,
    came.map(({ ref, object }) => ({ here: here.get(ref) ?? object, there: object })),
  );
  const names = new Set([...came, ...refused].map(({ ref }) => ref));
  for (const { ref } of wanted)
    if (!names.has(ref)) settled.push(unmoved(ref, here.get(ref) ?? null, 'moved'));
  const arrivals: Arrival[] = [];
  const filed: Filing[] = [];
  const clashes: (Arrival & { readonly from: string })[] = [];
  const settle = async (theirs: StoredRef, relation: Relation = 'unknown'): Promise<void> => {
    const { ref, object, kind } = theirs;
    const from = here.get(ref) ?? null;
    const planned = from === null ? 'created' : planFetch(theirs, relation);
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
  // Runs first: if our record stays, so do its plans.
  for (const [index, theirs] of came.entries())
    if (theirs.kind === 'run') await settle(theirs, relations[index]);
  for (const ref of (await plansOfRuns(view.place, connection.doubled)).keys()) connection.parts.add(ref);
  for (const [index, theirs] of came.entries())
    if (theirs.kind !== 'run') await settle(theirs, relations[index]);
  if (arrivals.length + clashes.length + filed.length > 0) await adoptObjects(view.place, repository);
  for (let at = 0; at < arrivals.length; at += refsAtOnce)
    settled.push(...(await land(repository, remote, arrivals.slice(at, at + refsAtOnce))));
  for (const filing of filed) settled.push(await fileTheirs(repository, remote, filing, here));
  const used = new Set([...here.keys(), ...there.map(({ ref }) => ref)]);
  for (const clash of clashes) settled.push(...(await renumber(repository, remote, clash, used)));
  return settled;
}

/** The same content, written at different times: one version can replace the other. */
async function areSame(place: GitDirectory, ...commits: readonly [string, string]): Promise<boolean> {
  const trees = commits.map((commit) => `${commit}^{tree}`);
  const [ours, theirs] = (await gitLine(place, ['rev-parse', '--end-of-options', ...trees]))
    .split('\n')
    .slice(-2);
  return ours === theirs;
}

function planFetch(theirs: StoredRef, relation: Relation): MoveStatus {
  switch (relation) {
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

/** Moves refs together; if git refuses, by halves, so that one invalid name stops no other. */
async function land(
  repository: Repository,
  remote: Remote,
  arrivals: readonly Arrival[],
): Promise<readonly MovedRef[]> {
  const landed: MovedRef[] = [];
  const move = async (some: readonly Arrival[]): Promise<void> => {
    const refused: MovedRef[] = [];
    for (let rest = some; ; ) {
      const updates = rest.map(({ ref, from, to }): RefUpdate => ({ ref, old: from ?? undefined, new: to }));
      const outcome = await updateRefs(repository, updates, `writ: fetch from ${remote.shown}`);
      if (outcome.moved) return void landed.push(...refused, ...rest);
      const stale = new Map(outcome.stale.map(({ ref, found }) => [ref, found ?? null]));
      refused.push(...[...stale].map(([ref, found]) => unmoved(ref, found, 'moved')));
      rest = rest.filter(({ ref }) => !stale.has(ref));
      if (rest.length === 0) return void landed.push(...refused);
    }
  };
  await halving(arrivals, move, ({ ref, from }, fault) =>
    landed.push({ ...unmoved(ref, from, 'rejected'), reason: printable(fault.message) }),
  );
  return landed;
}

/**
 * Two people who approve in different clones use the same number. The number has no meaning, so ours moves to the
 * next free one and theirs gets its place.
 */
async function renumber(
  repository: Repository,
  remote: Remote,
  { ref, from, to }: { readonly ref: string; readonly from: string; readonly to: string },
  used: Set<string>,
): Promise<readonly MovedRef[]> {
  const stem = ref.slice(0, ref.lastIndexOf('/') + 1);
  let number = 1;
  while (used.has(`${stem}${number}`)) number += 1;
  const free = `${stem}${number}`;
  used.add(free);
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

/** A version of the remote that is kept beside ours. */
interface Filing {
  readonly filed: string;
  readonly to: string;
  readonly moved: MovedRef;
}

/** Where the version of the remote is kept beside ours; `undefined` if it is not. */
async function filingOf(
  { repository, remote, doubled, parts }: FetchConnection,
  theirs: StoredRef,
  from: string,
  status: MoveStatus,
): Promise<Filing | undefined> {
  const { ref, object, kind, prefix, id } = theirs;
  if (isLogRef(ref) && status === 'diverged')
    return { filed: fetchedLogRef(ref), to: object, moved: unmoved(ref, from, status) };
  if (status === 'current' || status === 'rejected') return undefined;
  if (kind === 'run') {
    if (status === 'ahead') return undefined;
    if (status === 'updated' && !(await isJournalBegun(journalPath(repository, id)))) return undefined;
    doubled.push({ object: from, prefix }, { object, prefix });
    parts.add(`${prefix}/content/${id}`);
  } else if (kind === 'intent' || kind === 'plan') {
    if (status !== 'diverged' && !parts.has(ref)) return undefined;
  } else if (kind !== 'content' || !parts.has(ref)) return undefined;
  // Content that was written later counts as ahead, but beside two records both versions are kept.
  const filed = filedRef(theirs, filedSource(remote), kind);
  const reason =
    kind === 'run' || kind === 'content'
      ? `ours holds, theirs is kept as \`${filed}\`: \`writ fetch --theirs ${id}\` takes it, \`--ours ${id}\` keeps this one`
      : `it goes with the run that is chosen; theirs is kept as \`${filed}\``;
  const moved = { ...unmoved(ref, from, status === 'diverged' ? 'diverged' : 'changed'), reason };
  return { filed, to: object, moved };
}

/** The record of a run without a journal here follows the remote, which is reported. */
function changedReason(
  kind: StoredRef['kind'],
  from: string | null,
  status: MoveStatus,
): { readonly reason?: string } {
  return kind === 'run' && status === 'updated'
    ? { reason: `the record changed; before it was ${from}` }
    : {};
}

/** Keeps the version of the remote beside ours, and replaces an earlier one. */
async function fileTheirs(
  repository: Repository,
  remote: Remote,
  { filed, to, moved }: Filing,
  here: ReadonlyMap<string, string>,
): Promise<MovedRef> {
  const old = here.get(filed);
  if (old === to) return moved;
  const outcome = await updateRefs(
    repository,
    [{ ref: filed, old, new: to }],
    `writ: fetch from ${remote.shown}`,
  );
  return outcome.moved
    ? moved
    : { ...moved, status: 'moved', reason: 'what is kept beside it was moved while we looked' };
}

/** Up to so many refs are requested by name, more by pattern. */
const maxNamed = 500;
/** Most failing refs before a fetch is given up; each costs several connections. */
const maxFailures = 200;
const arrived = 'refs/in/';

/**
 * Fetches into the view and returns the refs that arrived, which may be newer than listed. If the remote cannot send
 * the objects of one ref, or sends others, git refuses all of them: the failing refs are found by dividing, and
 * passed to `refuse`.
 */
async function receiveRefs(
  connection: FetchConnection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
  refuse: (ref: string, reason: string) => void,
): Promise<readonly StoredRef[]> {
  const { remote } = connection;
  let failures = 0;
  const attempt = async (part: readonly StoredRef[]): Promise<void> => {
    let answer = await requestRefs(connection, view, part);
    // The remote sent deltas against objects that a partial clone left out: let it assume that nothing is here.
    if (/could not fetch [0-9a-f]{40,64} from promisor remote/.test(answer.stderr))
      answer = await requestRefs(connection, view, part, ['--refetch']);
    if (answer.code === 0) return;
    failures += 1;
    if (failures > maxFailures) throw remoteFailed(remote, answer);
    const [only] = part;
    if (part.length === 1 && only) return refuse(only.ref, remoteFailed(remote, answer).message);
    // By name from here on: a pattern would request the same refs again.
    const size = Math.min(maxNamed, Math.ceil(part.length / 2));
    for (let at = 0; at < part.length; at += size) await attempt(part.slice(at, at + size));
  };
  await attempt(wanted);
  const names = new Set(wanted.map(({ ref }) => ref));
  return (await matchRefs(view, [arrived])).flatMap(({ ref: there, object }) => {
    const ref = `refs/${there.slice(arrived.length)}`;
    return names.has(ref) ? (toStoredRef(ref, object) ?? []) : [];
  });
}

function requestRefs(
  { remote, signal }: FetchConnection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
  more: readonly string[] = [],
): ReturnType<typeof askRemote> {
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
    ...more,
    '--stdin',
    '--end-of-options',
    remote.address,
  ];
  const input = refspecsOf(wanted)
    .map((refspec) => `${refspec}\n`)
    .join('');
  return askRemote(view, args, { input, signal });
}

function refspecsOf(wanted: readonly StoredRef[]): readonly string[] {
  if (wanted.length <= maxNamed)
    return wanted.map(({ ref }) => `+${ref}:${arrived}${ref.slice('refs/'.length)}`);
  const folders = new Set(wanted.map(({ ref }) => ref.slice('refs/'.length, ref.lastIndexOf('/'))));
  return [...folders].map((folder) => `+refs/${folder}/*:${arrived}${folder}/*`);
}

interface FetchConnection {
  readonly repository: Repository;
  readonly network: GitDirectory;
  readonly remote: Remote;
  readonly signal: AbortSignal;
  /** Versions of the runs with two records. */
  readonly doubled: Pick<StoredRef, 'object' | 'prefix'>[];
  /** Refs of the content and plans of those runs, which stay with their record. */
  readonly parts: Set<string>;
}

function unmoved(ref: string, at: string | null, status: MoveStatus): MovedRef {
  return { ref, from: at, to: at, status };
}
