import { isWritError } from '../base/errors.ts';
import { isJournalBegun } from '../store/parse-journal.ts';
import { journalPath } from '../store/run-directory.ts';
import { adoptObjects } from '../vcs/adopt-objects.ts';
import type { GitDirectory } from '../vcs/git.ts';
import { gitLine, runGit } from '../vcs/git.ts';
import { printable } from '../vcs/ref-name.ts';
import { type RefUpdate, updateRefs } from '../vcs/refs.ts';
import type { Repository } from '../vcs/repository.ts';
import { filedRef, filedSource } from './filed-record.ts';
import { compareVersions, presentCommits, type Standing } from './lineage.ts';
import { listRemoteRefs } from './list-remote-refs.ts';
import type { MovedRef, MoveStatus } from './move-outcome.ts';
import { askRemote, networkPlace, pickRemote, type Remote, remoteFailed } from './network-git.ts';
import { expiredContent, type Moved, type MoveRequest } from './push-refs.ts';
import { openRefView } from './ref-view.ts';
import { isDeletable, listStoredRefs, type StoredRef, toStoredRef, travels } from './stored-ref.ts';

const refsAtOnce = 200;
/** Up to here git is told refs by name; beyond, by pattern. */
const maxNamed = 500;
/** Refs that may spoil a fetch before it is given up; each costs a handful of connections. */
const maxFailures = 200;
const maxListBytes = 256 * 1024 * 1024;
/** Where arrivals stand in the view. */
const arrived = 'refs/in/';

/** One ref to be moved here, after its objects have come. */
interface Arrival {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string;
  readonly status: MoveStatus;
  readonly reason?: string;
}

/** A version of theirs that is to be kept beside ours. */
interface Filing {
  readonly filed: string;
  readonly to: string;
  readonly told: MovedRef;
}

interface Connection {
  readonly repository: Repository;
  readonly network: GitDirectory;
  readonly remote: Remote;
  readonly signal: AbortSignal;
  /** Runs of which two records are kept, as `<prefix>/<id>`: their content is, too. */
  readonly doubled: Set<string>;
}

/**
 * Brings the refs of a remote here. As with pushing, records only grow and the content that was written later wins; content whose retention is
 * over is not brought back. Of a run that this machine has a part in, ours holds and a record that changed is kept beside it, until a person picks
 * (`pickRecord`). A ref is moved by compare-and-swap after its objects are here. REMOTE_UNKNOWN, REMOTE_FAILED.
 */
export async function fetchRefs(request: MoveRequest): Promise<Moved> {
  const { repository, clock, signal } = request;
  const remote = await pickRemote(repository, request.remote, request.cwd);
  const network = await networkPlace(repository);
  const connection = { repository, network, remote, signal, doubled: new Set<string>() };
  // Of an older version, one for all runs of a repository: no two of them could be joined.
  const there = (await listRemoteRefs(network, remote, signal)).filter(travels);
  const refs: MovedRef[] = [];
  const records = there.filter((one) => !isDeletable(one));
  refs.push(...(await bring(connection, records)));
  // The records that say what has expired may just have come.
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
  return { remote: remote.shown, refs: refs.sort((a, b) => (a.ref < b.ref ? -1 : 1)) };
}

async function bring(connection: Connection, there: readonly StoredRef[]): Promise<readonly MovedRef[]> {
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
  const came = await receive(connection, view.place, wanted, (ref, reason) =>
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
  for (const [index, theirs] of came.entries()) {
    const { ref, object, kind } = theirs;
    const from = here.get(ref) ?? null;
    const planned = from === null ? 'created' : planFetch(theirs, standings[index] ?? 'unknown');
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
  }
  if (arrivals.length + clashes.length + filed.length > 0) await adoptObjects(view.place, repository);
  for (let at = 0; at < arrivals.length; at += refsAtOnce)
    settled.push(...(await land(repository, remote, arrivals.slice(at, at + refsAtOnce))));
  for (const filing of filed) settled.push(await file(repository, remote, filing, here));
  const taken = new Set([...here.keys(), ...there.map(({ ref }) => ref)]);
  for (const clash of clashes) settled.push(...(await renumber(repository, remote, clash, taken)));
  return settled;
}

/** Whether theirs is kept beside ours, and where; `undefined` where nothing is to be kept beside anything. */
async function filingOf(
  { repository, remote, doubled }: Connection,
  theirs: StoredRef,
  from: string,
  status: MoveStatus,
): Promise<Filing | undefined> {
  const { ref, object, kind, prefix, id } = theirs;
  if (kind === 'intent' && status === 'diverged') {
    const filed = filedRef(theirs, filedSource(remote), 'intent');
    return {
      filed,
      to: object,
      told: {
        ...unmoved(ref, from, status),
        reason: `it goes with the run that is chosen; theirs is kept as \`${filed}\``,
      },
    };
  }
  if (status === 'current' || status === 'rejected') return undefined;
  // Of two that were written apart the later counts as ahead: beside a record that is doubled both are kept.
  if (status === 'ahead' && kind !== 'content') return undefined;
  if (kind === 'content') {
    if (!doubled.has(`${prefix}/${id}`)) return undefined;
  } else if (kind !== 'run') return undefined;
  else if (status === 'updated' && !(await isJournalBegun(journalPath(repository, id)))) return undefined;
  doubled.add(`${prefix}/${id}`);
  const filed = filedRef(theirs, filedSource(remote), kind === 'run' ? 'run' : 'content');
  const reason = `ours holds, theirs is kept as \`${filed}\`: \`writ fetch --theirs ${id}\` takes it, \`--ours ${id}\` keeps this one`;
  const told = { ...unmoved(ref, from, status === 'diverged' ? 'diverged' : 'changed'), reason };
  return { filed, to: object, told };
}

/** Two that wrote the same down at different times: nothing of either is lost with the other. */
async function areSame(place: GitDirectory, ...commits: readonly [string, string]): Promise<boolean> {
  const trees = commits.map((commit) => `${commit}^{tree}`);
  const [ours, theirs] = (await gitLine(place, ['rev-parse', '--end-of-options', ...trees]))
    .split('\n')
    .slice(-2);
  return ours === theirs;
}

/** A run's record that grew elsewhere, where this machine has no part in the run: it is followed, and said to have changed. */
function changedReason(
  kind: StoredRef['kind'],
  from: string | null,
  status: MoveStatus,
): { readonly reason?: string } {
  return kind === 'run' && status === 'updated'
    ? { reason: `the record changed; before it was ${from}` }
    : {};
}

async function file(
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

function unmoved(ref: string, at: string | null, status: MoveStatus): MovedRef {
  return { ref, from: at, to: at, status };
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

/**
 * Fetches into the view and answers what came, which may be newer than what was listed. A ref of which the remote cannot send the objects, or sends
 * others than it says, makes git refuse all of them: it is told from the rest by halving, and handed to `refuse`.
 */
async function receive(
  connection: Connection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
  refuse: (ref: string, reason: string) => void,
): Promise<readonly StoredRef[]> {
  const { remote } = connection;
  let failures = 0;
  const attempt = async (part: readonly StoredRef[]): Promise<void> => {
    const answer = await ask(connection, view, part);
    if (answer.code === 0) return;
    failures += 1;
    if (failures > maxFailures) throw remoteFailed(remote, answer);
    const [only] = part;
    if (part.length === 1 && only) return refuse(only.ref, remoteFailed(remote, answer).message);
    // Named one by one from here on: a pattern would ask for the same again.
    const size = Math.min(maxNamed, Math.ceil(part.length / 2));
    for (let at = 0; at < part.length; at += size) await attempt(part.slice(at, at + size));
  };
  await attempt(wanted);
  const names = new Set(wanted.map(({ ref }) => ref));
  const listed = await runGit(view, ['for-each-ref', '--format=%(objectname) %(refname)', arrived], {
    maxBytes: maxListBytes,
  });
  return listed
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const at = line.indexOf(' ');
      const ref = `refs/${line.slice(at + 1 + arrived.length)}`;
      return at > 0 && names.has(ref) ? (toStoredRef(ref, line.slice(0, at)) ?? []) : [];
    });
}

function ask(
  { remote, signal }: Connection,
  view: GitDirectory,
  wanted: readonly StoredRef[],
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
    if (!isWritError(fault, 'GIT_FAILED')) throw fault;
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
 * Two people who approve in clones of their own take the same number. The number means nothing, so ours moves to the next free one and theirs takes
 * its place: both stand, here and, with the next push, there.
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
