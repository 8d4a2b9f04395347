/* `writ push`: sends the refs of writ to a remote, without overwriting records. */
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { readLogProofs } from '../../store/record/list-records.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { parseObject } from '../../store/stored-object.ts';
import { type GitAnswer, type GitDirectory, maxListBytes, tryGit } from '../../workspace/git/git.ts';
import {
  askRemote,
  networkPlace,
  pickRemote,
  type Remote,
  remoteFailed,
} from '../../workspace/git/network.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import {
  fetchedLogRef,
  isLogRef,
  type ProofStanding,
  publishedLogRef,
  readRef,
  updateRefs,
} from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { expiredContent } from './expire-content.ts';
import { isRefused, listRemoteRefs, type MovedRef, openRefView, readRemoteRef } from './remote.ts';
import {
  compareVersions,
  isDeletable,
  listStoredRefs,
  ownerKey,
  plansOfRuns,
  type Relation,
  type StoredRef,
  toStoredRef,
  travels,
} from './stored-ref.ts';

export interface MoveRequest {
  readonly repository: Repository;
  /** Name, URL or path; default `origin`, else the only remote. */
  readonly remote: string | undefined;
  /** Base of a relative path. */
  readonly cwd: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface PushRequest extends MoveRequest {
  /** Includes refused and abandoned runs. */
  readonly all?: boolean;
  readonly readProof?: (proof: Uint8Array) => Promise<ProofStanding | undefined>;
  /** Goes together with the records, or nothing goes. */
  readonly landing?: LandingPush;
}

/** A sealed commit on its way to a branch of the remote. */
export interface LandingPush {
  readonly runId: string;
  readonly commit: string;
  /** Full name of the branch at the remote. */
  readonly branch: string;
}

export interface Moved {
  readonly remote: string;
  readonly refs: readonly MovedRef[];
}

export interface Pushed extends Moved {
  /** Runs of which a part was not sent. */
  readonly held: readonly HeldRun[];
}

/** A ref to be written at the remote: `to` null deletes; `forced` replaces exactly `from`. */
interface Order {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly forced: boolean;
}

/** The owner of a ref does not depend on its object. */
const zero = '0'.repeat(40);
/** Most refs in the arguments of one call. */
const namedAtOnce = 500;

/**
 * Records only grow: a diverged one is refused by name and the others still move. Content can be deleted, so the
 * later one replaces the other, and expired content is deleted at the remote, too. If the remote keeps its record of
 * a run, it keeps its content and plans. Refused and abandoned runs are held back unless `all`. REMOTE_UNKNOWN,
 * REMOTE_FAILED.
 */
export async function pushRefs(request: PushRequest): Promise<Pushed> {
  const { repository, clock } = request;
  const remote = await pickRemote(repository, request.remote, request.cwd);
  const place = await networkPlace(repository);
  const here = (await listStoredRefs(repository)).filter(travels);
  const there = new Map((await listRemoteRefs(place, remote, request.signal)).map((one) => [one.ref, one]));
  const expired = await expiredContent(place, here, [...here, ...there.values()], clock.now());

  const held = request.all
    ? { runs: [], refs: new Map<string, HeldRun>() }
    : await findHeld(place, here, there);
  const pairs = here.map(({ ref, object }) => ({ here: object, there: there.get(ref)?.object ?? object }));
  const relations = await compareVersions(place, pairs);
  const settled: MovedRef[] = [];
  const orders: Order[] = [];
  for (const [index, mine] of here.entries()) {
    const theirs = there.get(mine.ref)?.object ?? null;
    if (expired.has(mine.ref)) {
      // Not sent; deleted below if the remote has it.
      if (theirs === null) settled.push({ ref: mine.ref, from: null, to: null, status: 'expired' });
      continue;
    }
    const run = held.refs.get(mine.ref);
    if (run) {
      settled.push({ ref: mine.ref, from: theirs, to: theirs, status: 'held', reason: run.decision });
      continue;
    }
    const plan = planPush(mine, theirs, relations[index] ?? 'unknown');
    if ('status' in plan) settled.push(plan);
    else orders.push(plan);
  }
  for (const { ref, object } of there.values()) {
    if (expired.has(ref)) orders.push({ ref, from: object, to: null, forced: true });
  }
  const { landing } = request;
  const logs = orders.filter(({ ref }) => isLogRef(ref));
  const sentLogs = landing ? [] : await carryOut(place, repository, remote, logs, request.signal);
  const known = new Set(here.map(({ ref }) => ref));
  const others = [...there.keys()].filter((ref) => isLogRef(ref) && !known.has(ref)).length;
  settled.push(...sentLogs.map((moved) => withOtherLogs(moved, others)));
  await recordPublishedLogs(repository, settled);
  const refusedLogs = settled.filter((moved) => isLogRef(moved.ref) && isRefused(moved));
  const rest = await holdForked(
    place,
    orders.filter(({ ref }) => !isLogRef(ref)),
    refusedLogs.map(({ ref }) => ref),
    request.readProof,
  );
  settled.push(...rest.refused);
  const whole = await holdParts(place, here, rest.orders, settled);
  settled.push(...whole.kept);
  if (landing) {
    const moved = await sendTogether(request, place, remote, landing, [...logs, ...whole.orders], settled);
    await recordPublishedLogs(repository, moved);
    settled.push(...moved);
  } else settled.push(...(await carryOut(place, repository, remote, whole.orders, request.signal)));
  return {
    remote: remote.shown,
    refs: settled.sort((a, b) => (a.ref < b.ref ? -1 : 1)),
    held: held.runs,
  };
}

/**
 * One atomic push of records and branch. Nothing is sent if the branch, or a record of its own run, cannot move.
 * PUSH_NOT_ATOMIC.
 */
async function sendTogether(
  { repository, signal }: Pick<PushRequest, 'repository' | 'signal'>,
  place: GitDirectory,
  remote: Remote,
  landing: LandingPush,
  orders: readonly Order[],
  settled: readonly MovedRef[],
): Promise<readonly MovedRef[]> {
  const branch = await orderBranch(place, remote, landing, signal);
  const stays = (one: Pick<Order, 'ref' | 'from'>, reason?: string): MovedRef => ({
    ref: one.ref,
    from: one.from,
    to: one.from,
    status: 'rejected',
    ...(reason === undefined ? {} : { reason }),
  });
  const own = settled.find((one) => isRefused(one) && toStoredRef(one.ref, zero)?.id === landing.runId);
  if (own !== undefined) {
    const reason = `\`${own.ref}\` cannot go with it: ${own.reason ?? own.status}`;
    return [...orders.map((one) => stays(one)), stays(branch, reason)];
  }
  const isMoving = !('status' in branch);
  if (!isMoving && isRefused(branch)) return [...orders.map((one) => stays(one)), branch];
  const settledBranch = isMoving ? [] : [branch];
  const whole = isMoving ? [...orders, branch] : orders;
  if (whole.length === 0) return settledBranch;
  await using view = await openRefView(place, repository);
  await view.setRefs(whole.flatMap((one) => (one.to === null ? [] : [{ ref: one.ref, object: one.to }])));
  // git lets a ref that is named decide before the pattern.
  const named = whole
    .filter(({ forced }) => forced)
    .map((one) => (one.to === null ? `:${one.ref}` : `+${one.ref}:${one.ref}`));
  const options = ['--atomic', ...(repository.isWhole ? [] : ['--no-thin'])];
  const moved = await pushChunk(view.place, remote, whole, ['refs/*:refs/*', ...named], signal, options);
  return [...settledBranch, ...moved];
}

/**
 * The branch at the remote, to be moved with a lease on what is there now. Status `moved` if that is not part of the
 * commit, `current` if it is the commit. REMOTE_FAILED.
 */
export async function orderBranch(
  place: GitDirectory,
  remote: Remote,
  { branch: ref, commit }: Pick<LandingPush, 'branch' | 'commit'>,
  signal: AbortSignal,
): Promise<MovedRef | Order> {
  const from = await readRemoteRef(place, remote, ref, signal);
  if (from === commit) return { ref, from, to: commit, status: 'current' };
  const isBehind =
    from === null || (await tryGit(place, ['merge-base', '--is-ancestor', from, commit])) === '';
  if (isBehind) return { ref, from, to: commit, forced: true };
  const reason = 'the remote has commits that the sealed commit does not stand on';
  return { ref, from, to: from, status: 'moved', reason };
}

/** A second log of one key verifies like the first, but no machine continues both. */
function withOtherLogs(moved: MovedRef, others: number): MovedRef {
  if (moved.status !== 'created' || others === 0) return moved;
  const logs = others === 1 ? 'another log' : `${others} other logs`;
  const reason = `the remote has ${logs}, not fetched here; a log of your key goes on if you run \`writ fetch\` before the first run`;
  return { ...moved, reason };
}

/**
 * Holds back runs with a log proof that would show a forked log. Either the remote refused the proof's log, or that
 * log continued without the entry, or another run shows another history. An unreadable proof counts as a proof of
 * every refused log. For this reason logs are sent before runs.
 */
async function holdForked(
  place: GitDirectory,
  orders: readonly Order[],
  refusedLogs: readonly string[],
  readProof: PushRequest['readProof'] = async () => undefined,
): Promise<{ readonly orders: readonly Order[]; readonly refused: readonly MovedRef[] }> {
  const runs = orders.filter(({ ref, to }) => to !== null && isRun(ref));
  const proofs = await readLogProofs(
    place,
    runs.flatMap(({ to }) => to ?? []),
  );
  const forked = new Map<string, MovedRef>();
  for (const { ref, from, to } of runs) {
    const proof = proofs.get(to ?? '');
    if (proof === undefined) continue;
    const found = await readProof(proof);
    const log = refusedLogs.find((one) => found === undefined || one === found.log);
    const reason =
      log === undefined
        ? found?.fault
        : `another machine continued \`${log}\`: \`writ fetch\`, then \`writ push\` again`;
    if (reason) forked.set(ref, { ref, from, to: from, status: 'rejected', reason });
  }
  return { orders: orders.filter(({ ref }) => !forked.has(ref)), refused: [...forked.values()] };
}

/** Holds back the content and plans of runs with a record that is not moved. */
async function holdParts(
  place: GitDirectory,
  here: readonly StoredRef[],
  orders: readonly Order[],
  settled: readonly MovedRef[],
): Promise<{ readonly orders: readonly Order[]; readonly kept: readonly MovedRef[] }> {
  const records = new Map(settled.map((moved) => [moved.ref, moved]));
  const staying = here.filter(
    ({ ref, kind }) => kind === 'run' && !['current', 'held'].includes(records.get(ref)?.status ?? 'current'),
  );
  const plans = await plansOfRuns(place, staying);
  const runs = new Map(staying.map((run) => [ownerKey(run), run]));
  const kept = new Map<string, MovedRef>();
  for (const { ref, from, to } of orders) {
    const part = toStoredRef(ref, to ?? '');
    const run = plans.get(ref) ?? (part && isDeletable(part) ? runs.get(ownerKey(part)) : undefined);
    const record = run && records.get(run.ref);
    if (record) kept.set(ref, { ...record, ref, from, to: from });
  }
  return { orders: orders.filter(({ ref }) => !kept.has(ref)), kept: [...kept.values()] };
}

function isRun(ref: string): boolean {
  return toStoredRef(ref, zero)?.kind === 'run';
}

function planPush(mine: StoredRef, theirs: string | null, relation: Relation): MovedRef | Order {
  const { ref, object } = mine;
  const stays = (status: MovedRef['status']): MovedRef => ({ ref, from: theirs, to: theirs, status });
  if (theirs === null) return { ref, from: null, to: object, forced: false };
  switch (relation) {
    case 'same':
      return stays('current');
    case 'ahead':
      return { ref, from: theirs, to: object, forced: false };
    case 'behind':
      return stays('behind');
    case 'diverged-later':
    case 'diverged-tie':
      return isDeletable(mine) ? { ref, from: theirs, to: object, forced: true } : stays('diverged');
    case 'diverged-earlier':
      return stays(isDeletable(mine) ? 'behind' : 'diverged');
    case 'unknown':
      return stays('unfetched');
  }
}

/** Growing refs go together; a replacement or deletion has a lease on exactly the listed version. */
async function carryOut(
  network: GitDirectory,
  repository: Repository,
  remote: Remote,
  orders: readonly Order[],
  signal: AbortSignal,
): Promise<readonly MovedRef[]> {
  if (orders.length === 0) return [];
  await using view = await openRefView(network, repository);
  // git would compute differences from objects that a partial clone left out.
  const options = repository.isWhole ? [] : ['--no-thin'];
  const send = async (chunk: readonly Order[], refspecs: readonly string[]): Promise<readonly MovedRef[]> => {
    await view.setRefs(chunk.flatMap(({ ref, to }) => (to === null ? [] : [{ ref, object: to }])));
    return pushChunk(view.place, remote, chunk, refspecs, signal, options);
  };
  const moved: MovedRef[] = [];
  const growing = orders.filter(({ forced }) => !forced);
  if (growing.length > 0) moved.push(...(await send(growing, ['refs/*:refs/*'])));
  for (const chunk of chunksOf(orders.filter(({ forced, to }) => forced && to !== null)))
    moved.push(...(await send(chunk, ['+refs/*:refs/*'])));
  for (const chunk of chunksOf(orders.filter(({ to }) => to === null))) {
    moved.push(
      ...(await send(
        chunk,
        chunk.map(({ ref }) => `:${ref}`),
      )),
    );
  }
  return moved;
}

async function pushChunk(
  place: GitDirectory,
  remote: Remote,
  orders: readonly Order[],
  refspecs: readonly string[],
  signal: AbortSignal,
  options: readonly string[],
): Promise<readonly MovedRef[]> {
  const leases = orders
    .filter(({ forced }) => forced)
    .map(({ ref, from }) => `--force-with-lease=${ref}:${from ?? ''}`);
  const answer = await askPush(place, remote, [...options, ...leases], refspecs, signal);
  const results = parsePushed(answer.stdout.toString('utf8'));
  if (results.size === 0) throw remoteFailed(remote, answer);
  return orders.map((order): MovedRef => {
    const { ref, from, to } = order;
    const outcome = results.get(ref);
    if (outcome === undefined || outcome.flag === '!') {
      const reason = outcome?.reason ?? 'the remote said nothing about it';
      if (/stale info|fetch first|non-fast-forward|already exists/.test(reason))
        return { ref, from, to: from, status: 'moved', reason };
      const said = saidByRemote(answer.stderr);
      return { ref, from, to: from, status: 'rejected', reason: said === '' ? reason : `${reason}: ${said}` };
    }
    const status =
      to === null ? 'deleted' : from === null ? 'created' : order.forced ? 'replaced' : 'updated';
    return { ref, from, to, status };
  });
}

/** `git push --porcelain`, without hooks, tags and submodules; returns for any exit code. PUSH_NOT_ATOMIC. */
export async function askPush(
  place: GitDirectory,
  remote: Remote,
  options: readonly string[],
  refspecs: readonly string[],
  signal: AbortSignal,
): Promise<GitAnswer> {
  const args = [
    'push',
    '--porcelain',
    '--no-verify',
    '--no-signed',
    '--no-follow-tags',
    '--recurse-submodules=no',
    // A path in the repository's config would be run as a program.
    '--receive-pack=git-receive-pack',
    ...options,
    '--end-of-options',
    remote.address,
    ...refspecs,
  ];
  const answer = await askRemote(place, args, { signal, maxBytes: maxListBytes });
  if (!/does not support --atomic/.test(answer.stderr)) return answer;
  const { shown } = remote;
  throw new WritError('PUSH_NOT_ATOMIC', {
    message: `\`${shown}\` cannot update several refs in one step`,
    detail: { remote: shown },
    hints: [
      `run without \`--push\`, then push in two steps: \`git push ${shown}\` and \`writ push ${shown}\``,
    ],
  });
}

/** What a hook or the server wrote, in one line of at most 500 characters. */
function saidByRemote(stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => /^remote: (.*\S)/.exec(line)?.[1] ?? []);
  return printable(lines.join(' ')).slice(0, 500);
}

/** Lines of `git push --porcelain`: `<flag> TAB <from>:<to> TAB <summary> (<reason>)`. */
function parsePushed(text: string): ReadonlyMap<string, { readonly flag: string; readonly reason: string }> {
  const results = new Map<string, { flag: string; reason: string }>();
  for (const line of text.split('\n')) {
    const [flag = '', moved = '', summary = ''] = line.split('\t');
    const at = moved.lastIndexOf(':');
    if (flag.length === 1 && at >= 0) results.set(moved.slice(at + 1), { flag, reason: printable(summary) });
  }
  return results;
}

function* chunksOf(orders: readonly Order[]): Generator<readonly Order[]> {
  for (let at = 0; at < orders.length; at += namedAtOnce) yield orders.slice(at, at + namedAtOnce);
}

/** A run that was refused or abandoned. */
interface HeldRun {
  readonly run_id: string;
  readonly decision: 'abandon' | 'rollback';
}

/** What `push` sends only with `all`. */
interface HeldBack {
  readonly runs: readonly HeldRun[];
  readonly refs: ReadonlyMap<string, HeldRun>;
}

/** A larger decision is not read. */
const maxObjectBytes = 4 * 1024 * 1024;

/**
 * Refused and abandoned runs with everything that is only theirs: record, content, context, approvals, plans, intent.
 * A run that the remote has already (it waited there) is not held back: its end is sent, so that no one continues
 * it. A record that cannot be read has no decision.
 */
async function findHeld(
  place: GitDirectory,
  here: readonly StoredRef[],
  there: ReadonlyMap<string, unknown>,
): Promise<HeldBack> {
  const runs = here.filter(({ kind, ref }) => kind === 'run' && !there.has(ref));
  const ended = new Map<StoredRef, HeldRun>();
  for (const name of [sealPaths.rollback, 'decision.json']) {
    const names = new Map(runs.map((run) => [`${run.object}:${name}`, run]));
    for (const [id, bytes] of await readSmall(place, names.keys(), maxObjectBytes)) {
      const run = names.get(id);
      const decision = run && !ended.has(run) ? decisionOf(bytes) : undefined;
      if (run && decision) ended.set(run, { run_id: run.id, decision });
    }
  }
  const refs = new Map<string, HeldRun>();
  const byRun = new Map([...ended].map(([run, held]) => [ownerKey(run), held]));
  for (const one of here) {
    const held = byRun.get(ownerKey(one));
    if (held && ['run', 'content', 'context', 'approval'].includes(one.kind)) refs.set(one.ref, held);
  }
  for (const [ref, run] of await plansOfRuns(place, [...ended.keys()])) {
    const held = ended.get(run);
    if (held) refs.set(ref, held);
  }
  const runOfIntent = await intentsOfRuns(place, [...ended.keys()]);
  const others = here.filter((one) => one.kind === 'run' && !ended.has(one));
  const shared = runOfIntent.size === 0 ? new Map() : await intentsOfRuns(place, others);
  for (const [ref, run] of runOfIntent) {
    const held = ended.get(run);
    if (held && !shared.has(ref) && !there.has(ref)) refs.set(ref, held);
  }
  return { runs: [...ended.values()], refs };
}

/** The refs of the intents of these runs, each with one of its runs. Unreadable intents are skipped. */
async function intentsOfRuns(
  place: GitDirectory,
  runs: readonly StoredRef[],
): Promise<ReadonlyMap<string, StoredRef>> {
  const names = new Map(runs.map((run) => [`${run.object}:intent.json`, run]));
  const found = new Map<string, StoredRef>();
  for (const [name, bytes] of await readSmall(place, names.keys(), maxObjectBytes)) {
    const run = names.get(name);
    const id = intentOf(bytes);
    if (run && id !== undefined) found.set(`${run.prefix}/intents/${encodeId(id)}`, run);
  }
  return found;
}

function intentOf(bytes: Buffer): string | undefined {
  try {
    const { intentspec_id: id } = parseObject('intent', bytes).external_ids;
    return typeof id === 'string' ? id : undefined;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

function decisionOf(bytes: Buffer): HeldRun['decision'] | undefined {
  try {
    const { type } = parseObject('decision', bytes);
    return type === 'abandon' || type === 'rollback' ? type : undefined;
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

const reason = 'writ: log at the remote';

/**
 * Records which versions of logs a remote has. A version that was fetched aside is dropped when the remote has ours,
 * or one that ours continues.
 */
export async function recordPublishedLogs(repository: Repository, moved: readonly MovedRef[]): Promise<void> {
  for (const one of moved) {
    const { ref, to, status } = one;
    if (!isLogRef(ref) || isRefused(one)) continue;
    const fetched = fetchedLogRef(ref);
    const aside = await readRef(repository, fetched);
    if (aside !== undefined)
      await updateRefs(repository, [{ ref: fetched, old: aside, new: undefined }], reason);
    if (to === null || !['created', 'updated', 'current'].includes(status)) continue;
    const published = publishedLogRef(ref);
    const old = await readRef(repository, published);
    // Another process may record the same at the same time.
    if (old !== to) await updateRefs(repository, [{ ref: published, old, new: to }], reason);
  }
}
