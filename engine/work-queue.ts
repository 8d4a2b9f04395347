/* Works on the merge queue: runs its entries in order, each on the tree that it lands on. */
import { isWritError, WritError } from '../core/base/errors.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { printable } from '../core/base/printable.ts';
import type { RunView, WaitsFor } from '../core/interfaces/run-view.ts';
import type { WritEngine } from '../spec/contract-rows.ts';
import { commitsOutside, shortRef } from '../store/landed.ts';
import {
  hasEnded,
  listEntries,
  type QueueEntry,
  readChange,
  readEntry,
  writeEntry,
} from '../store/queue-entries.ts';
import { findRun } from '../store/record/list-records.ts';
import { isRunHeld, runDirectory } from '../store/run-directory.ts';
import type { Stores } from '../store/stores.ts';
import { readRef } from '../workspace/git/refs.ts';
import type { Repository } from '../workspace/git/repository.ts';
import { readRun } from './record/read-run.ts';
import { resumeRun, runIntent } from './run.ts';
import type { QueuedRun, RunSettings } from './state/run-request.ts';

type Approvals = Pick<WaitsFor, 'needed' | 'people' | 'owners'>;

/** What works on the queue. */
export interface QueuePlace {
  readonly engine: WritEngine;
  readonly repository: Repository;
  readonly settings: RunSettings & { readonly sandbox: string };
  /** Number of the last entry to work on; absent: until the queue is empty. */
  readonly last?: number;
  /** Approvals of a run that waits, verified now. */
  approvalsOf(view: RunView): Promise<Approvals>;
  /** Called after each step of an entry, in words. */
  note(entry: QueueEntry, what: string): void;
}

/** What a pass over the queue left behind: entries that wait for people, and those that this machine cannot serve. */
export interface QueuePass {
  readonly removed: readonly QueueEntry[];
  readonly waiting: readonly QueueEntry[];
  readonly stuck: readonly { readonly entry: QueueEntry; readonly fault: WritError }[];
}

type Outcome =
  | { readonly state: 'landed'; readonly commit: string }
  | { readonly state: 'removed'; readonly code: string; readonly message: string }
  | { readonly state: 'waits'; readonly view: RunView }
  /** The target is not where the run found it, or the run was on a commit that did not land: once more. */
  | { readonly state: 'moved' }
  | { readonly state: 'stuck'; readonly fault: WritError };

/** A run of an entry at work. */
interface Attempt {
  readonly entry: QueueEntry;
  readonly outcome: Promise<Outcome>;
  /** The commit that it makes if it is sealed; `undefined` if that cannot be known before. */
  readonly foretold: Promise<string | undefined>;
  /** Says whether the commit that a run ahead of its turn is on has landed. The first answer holds; returns it. */
  settle(hasLanded: boolean): boolean;
}

/** Characters of a reason; the run has all of it. */
const maxReason = 2000;
/** How often others may land between the approval of a change and its turn, before they wait for it. */
const mostLapses = 3;
/** Of one entry in one pass: each is a landing of somebody else on the same branch. */
const maxMoves = 10;

/** Works until no entry is left that can go on. The caller holds the lock of the queue. */
export async function workQueue(place: QueuePlace): Promise<QueuePass> {
  const pass = { removed: [], waiting: [], stuck: [] };
  const passed = new Set<number>();
  for (;;) {
    const [first] = await openEntries(place, passed);
    if (first === undefined) return pass;
    await workTarget(place, first.target, passed, pass);
  }
}

async function openEntries(
  { repository, last = Number.POSITIVE_INFINITY }: QueuePlace,
  passed: ReadonlySet<number>,
): Promise<readonly QueueEntry[]> {
  return (await listEntries(repository)).filter(
    (entry) => !hasEnded(entry) && !passed.has(entry.number) && entry.number <= last,
  );
}

interface Pass {
  readonly removed: QueueEntry[];
  readonly waiting: QueueEntry[];
  readonly stuck: { readonly entry: QueueEntry; readonly fault: WritError }[];
}

async function workTarget(place: QueuePlace, target: string, passed: Set<number>, pass: Pass): Promise<void> {
  const { settings } = place;
  const moves = new Map<number, number>();
  let attempt: Attempt | undefined;
  let next: Attempt | undefined;
  try {
    for (;;) {
      settings.signal.throwIfAborted();
      const open = (await openEntries(place, passed)).filter((entry) => entry.target === target);
      const [entry, behind] = open;
      if (entry === undefined) return;
      attempt = next ?? (await beginTurn(place, entry));
      next = undefined;
      const commit = await attempt.foretold;
      if (commit !== undefined && behind !== undefined && behind.run === undefined)
        next = await begin(place, behind, commit);
      const outcome = await attempt.outcome;
      const isExact = outcome.state === 'landed' && outcome.commit === commit;
      next?.settle(isExact);
      const now = await record(place, attempt.entry, outcome);
      if (next !== undefined && !isExact) {
        await dropAttempt(place, next);
        next = undefined;
      }
      if (now.removed !== undefined) pass.removed.push(now);
      if (outcome.state === 'waits') pass.waiting.push(now);
      const times = (moves.get(entry.number) ?? 0) + 1;
      if (outcome.state === 'moved') moves.set(entry.number, times);
      const isTired = outcome.state === 'moved' && times > maxMoves;
      const fault =
        outcome.state === 'stuck' ? outcome.fault : isTired ? new WritError('TARGET_MOVED') : undefined;
      if (fault !== undefined) pass.stuck.push({ entry: now, fault });
      if (fault !== undefined || outcome.state === 'waits') passed.add(entry.number);
      // Nothing overtakes it: the rest of this target waits with it.
      if (outcome.state === 'waits' && now.holds) for (const { number } of open) passed.add(number);
    }
  } finally {
    await attempt?.outcome.catch(never);
    if (next !== undefined) await dropAttempt(place, next);
  }
}

/** Ends a run ahead of its turn: nothing of it is kept, unless the commit that it is on has landed. */
async function dropAttempt({ repository }: QueuePlace, attempt: Attempt): Promise<void> {
  const isReal = attempt.settle(false);
  await attempt.outcome.catch(never);
  if (!isReal) await writeEntry(repository, withoutRun(attempt.entry));
}

function withoutRun({ run: _, ...entry }: QueueEntry): QueueEntry {
  return entry;
}

const never = (): void => {};

/** The first entry of a target: it goes on with its run, or gets one on the tip. */
async function beginTurn(place: QueuePlace, entry: QueueEntry): Promise<Attempt> {
  const view =
    entry.run === undefined
      ? undefined
      : await readIfThere(place.engine.slots.store, place.repository, place.settings, entry.run);
  if (view === undefined) return begin(place, withoutRun(entry));
  const answer = view.state === 'waiting' ? answerOf(await place.approvalsOf(view)) : undefined;
  if (view.state === 'waiting' && answer === undefined) return ended(entry, { state: 'waits', view });
  const outcome = await goOn(place, view, answer);
  // On the same tip it still lacks something, such as a member of a group.
  const lacks = outcome.state === 'waits' && outcome.view.baseCommit === view.baseCommit;
  const asked = answer === undefined || lacks ? entry : withLapse(entry);
  if (outcome.state !== 'moved') return ended(asked, outcome);
  place.note(entry, 'the target moved: evaluated again on its new tip');
  return begin(place, withoutRun(asked));
}

/** It was approved, and the target moved before it landed. */
function withLapse({ lapses = 0, ...entry }: QueueEntry): QueueEntry {
  return { ...entry, lapses: lapses + 1, ...(lapses + 1 < mostLapses ? {} : { holds: true }) };
}

function ended(entry: QueueEntry, outcome: Outcome): Attempt {
  return {
    entry,
    outcome: Promise.resolve(outcome),
    foretold: Promise.resolve(undefined),
    settle: () => true,
  };
}

/** What a run that an earlier process began comes to. `moved`: that run has ended, and a new one is needed. */
async function goOn(
  { engine, settings, repository }: QueuePlace,
  view: RunView,
  answer: 'approved' | 'rejected' | undefined,
): Promise<Outcome> {
  if (view.state === 'decided') {
    const outcome = await outcomeOf(repository, view);
    return outcome.state === 'stuck' ? { state: 'moved' } : outcome;
  }
  const { sandbox: _, ...rest } = settings;
  const resume = { ...rest, repositoryPath: repository.root, runId: view.runId };
  try {
    return await outcomeOf(repository, await resumeRun(engine, resume));
  } catch (fault) {
    if (!isWritError(fault, 'TARGET_MOVED')) return faultOutcome(fault, settings.signal);
    const cancel = 'the target of the merge queue moved';
    const cancelled = await resumeRun(engine, { ...resume, cancel });
    return answer === 'rejected' ? outcomeOf(repository, cancelled) : { state: 'moved' };
  }
}

/** What people said so far; `undefined`: not enough of them, or no owner of a changed path. */
function answerOf({ needed, people, owners = [] }: Approvals): 'approved' | 'rejected' | undefined {
  const counting = people.filter(({ status }) => status === 'counts');
  if (counting.some(({ decision }) => decision === 'reject')) return 'rejected';
  const isEnough = new Set(counting.map(({ principal }) => principal)).size >= needed;
  return isEnough && owners.every(({ approved }) => approved.length > 0) ? 'approved' : undefined;
}

/** Starts a run of an entry: on the tip of its target, or on the commit that the run before it is about to make. */
async function begin(place: QueuePlace, entry: QueueEntry, on?: string): Promise<Attempt> {
  const { engine, repository, settings } = place;
  const run = uuidV7(settings.clock.now());
  const { removed } = await writeEntry(repository, { ...entry, run });
  if (removed !== undefined) return ended(entry, { state: 'removed', ...removed });
  const { specBytes, patch } = readChange(repository, entry);
  const foretold = Promise.withResolvers<string | undefined>();
  const landed = Promise.withResolvers<boolean>();
  const stop = new AbortController();
  const queued: QueuedRun = {
    foretell: foretold.resolve,
    ...(on === undefined ? {} : { ahead: { commit: on } }),
    maySeal: async () =>
      (on === undefined || (await landed.promise)) &&
      readEntry(repository, entry.number)?.removed === undefined,
  };
  let isOn: boolean | undefined = on === undefined ? true : undefined;
  const work = async (): Promise<Outcome> => {
    try {
      const { from, tip, message, author } = entry;
      const view = await runIntent(engine, {
        ...settings,
        signal: AbortSignal.any([settings.signal, stop.signal]),
        runId: run,
        repositoryPath: repository.root,
        specBytes,
        source:
          patch === undefined ? { kind: 'range', range: `${from}..${tip}` } : { kind: 'patch', bytes: patch },
        startsAt: from,
        onto: entry.target.replace(/^refs\/heads\//, ''),
        ...(message === undefined ? {} : { message }),
        ...(author === undefined ? {} : { author }),
        queued,
      });
      return await outcomeOf(repository, view);
    } catch (fault) {
      if (!isOn && !settings.signal.aborted) return { state: 'moved' };
      return faultOutcome(fault, settings.signal);
    } finally {
      foretold.resolve(undefined);
    }
  };
  const attempt = {
    entry: { ...entry, run },
    outcome: work(),
    foretold: foretold.promise,
    settle(hasLanded: boolean) {
      isOn ??= hasLanded;
      landed.resolve(isOn);
      if (!isOn) stop.abort(new WritError('TARGET_MOVED'));
      return isOn;
    },
  };
  // Awaited in its turn; a fault before that is not unhandled.
  attempt.outcome.catch(never);
  return attempt;
}

async function outcomeOf(repository: Repository, view: RunView): Promise<Outcome> {
  const { state, decision, would } = view;
  if (would !== undefined)
    return {
      state: 'removed',
      code: 'UNSUPPORTED_OPERATION',
      message: '`[policy] mode = "advise"` at the policy commit: no change is sealed',
    };
  if (state === 'waiting') return { state: 'waits', view };
  const message = decision?.rationale ?? '';
  if (decision?.type === 'commit' && decision.commitSha !== undefined)
    return { state: 'landed', commit: decision.commitSha };
  if (decision?.type === 'abandon') {
    const first = view.findings.find(({ severity }) => severity === 'error');
    const why = first === undefined ? '' : `: ${first.message}`;
    return { state: 'removed', code: 'DECISION_ABANDON', message: `${message}${why}`.slice(0, maxReason) };
  }
  const tip = await readRef(repository, view.targetRef);
  if (tip !== view.baseCommit) return { state: 'moved' };
  return { state: 'stuck', fault: new WritError('DECISION_ROLLBACK', { message }) };
}

/** A fault of the change removes it; one of the machine leaves it in the queue. Anything else stops the queue. */
function faultOutcome(fault: unknown, { aborted }: AbortSignal): Outcome {
  // Another process cancelled its run, and ends it.
  if (isWritError(fault, 'RUN_INTERRUPTED') && !aborted)
    return { state: 'removed', code: 'DECISION_ABANDON', message: fault.message };
  if (!(fault instanceof WritError) || fault.exitCode === 70 || fault.exitCode === 130) throw fault;
  if (fault.code === 'TARGET_MOVED') return { state: 'moved' };
  const isOfChange = [1, 129].includes(fault.exitCode) || fault.code === 'REF_NOT_FOUND';
  return isOfChange
    ? { state: 'removed', code: fault.code, message: fault.message }
    : { state: 'stuck', fault };
}

async function record(place: QueuePlace, entry: QueueEntry, outcome: Outcome): Promise<QueueEntry> {
  const now = await writeEntry(place.repository, nextRecord(entry, outcome));
  if (outcome.state === 'landed') place.note(now, `landed as ${outcome.commit}`);
  if (outcome.state === 'removed') place.note(now, `removed: ${outcome.message}`);
  if (outcome.state === 'waits')
    place.note(
      now,
      `waits for approval: run ${outcome.view.runId}${now.holds ? '; the changes behind it wait for it' : ''}`,
    );
  if (outcome.state === 'stuck') place.note(now, `stays: ${outcome.fault.message}`);
  return now;
}

function nextRecord(entry: QueueEntry, outcome: Outcome): QueueEntry {
  if (outcome.state === 'landed') return { ...entry, landed: outcome.commit };
  if (outcome.state === 'removed') {
    const { code, message } = outcome;
    // Of a change that could not start there is no run.
    const of = code === 'DECISION_ABANDON' ? entry : withoutRun(entry);
    return { ...of, removed: { code, message } };
  }
  // A run that somebody else holds is gone on with later.
  return outcome.state === 'moved' ? withoutRun(entry) : entry;
}

async function readIfThere(
  stores: Stores,
  repository: Repository,
  { clock }: Pick<RunSettings, 'clock'>,
  runId: string,
): Promise<RunView | undefined> {
  try {
    const { store } = await findRun(stores, repository, clock, runId);
    return await readRun(repository, store, runId);
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
    throw fault;
  }
}

/** An entry as it is now. */
export interface ShownEntry extends QueueEntry {
  readonly state: 'waiting' | 'evaluating' | 'waits-for-approval' | 'landed' | 'removed';
  /** From 1; absent for an entry that has ended. */
  readonly position?: number;
  /** The tree that is evaluated, or that people have to approve. */
  readonly tree?: string;
}

/** The entries in order, those that ended lately first. Its state is that of its run, whoever went on with it. */
export async function showQueue(
  stores: Stores,
  repository: Repository,
  settings: Pick<RunSettings, 'clock'>,
): Promise<readonly ShownEntry[]> {
  const shown: ShownEntry[] = [];
  const positions = new Map<string, number>();
  for (const entry of await listEntries(repository)) {
    const { target, run } = entry;
    const view =
      hasEnded(entry) || run === undefined ? undefined : await readIfThere(stores, repository, settings, run);
    const outcome = view?.state === 'decided' ? await outcomeOf(repository, view) : undefined;
    const now = outcome === undefined ? entry : nextRecord(entry, outcome);
    if (now.landed !== undefined) shown.push({ ...now, state: 'landed' });
    else if (now.removed !== undefined) shown.push({ ...now, state: 'removed' });
    else {
      const position = (positions.get(target) ?? 0) + 1;
      positions.set(target, position);
      const isHeld = run !== undefined && (await isRunHeld(runDirectory(repository, run)));
      const state = isHeld ? 'evaluating' : view?.state === 'waiting' ? 'waits-for-approval' : 'waiting';
      const tree = state === 'waiting' ? undefined : view?.patch?.candidateTree;
      shown.push({ ...now, state, position, ...(tree === undefined ? {} : { tree }) });
    }
  }
  return withoutTakenBack(repository, shown);
}

/** An entry whose commit was taken off the branch (after a rejected push, say) has not landed. */
async function withoutTakenBack(
  repository: Repository,
  shown: readonly ShownEntry[],
): Promise<readonly ShownEntry[]> {
  const gone = new Set<string>();
  for (const [target, entries] of Map.groupBy(shown, (entry) => entry.target)) {
    const tip = await readRef(repository, target);
    const landed = [...new Set(entries.flatMap((entry) => entry.landed ?? []))];
    const outside = tip === undefined ? undefined : await commitsOutside(repository, landed, [tip]);
    for (const commit of outside ?? []) gone.add(`${target} ${commit}`);
  }
  return shown.map(({ landed, ...entry }) => {
    if (landed === undefined) return entry;
    if (!gone.has(`${entry.target} ${landed}`)) return { ...entry, landed };
    const branch = printable(shortRef(entry.target));
    const message = `its commit ${landed} is not on \`${branch}\` any more: add the change again`;
    return { ...entry, state: 'removed', removed: { code: 'TARGET_MOVED', message } };
  });
}
