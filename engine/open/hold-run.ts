/* Holds a run in this process: its lock, clock and signal, and its journal, whose author is verified. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { Journal } from '../../store/journal.ts';
import { formatJournal, processWitness, type WitnessedJournal } from '../../store/journal-witness.ts';
import { isJournalBegun } from '../../store/parse-journal.ts';
import { partsPath } from '../../store/record/summaries.ts';
import { journalFile } from '../../store/run-directory.ts';
import { parseObject } from '../../store/stored-object.ts';
import { type RunStore, writeTrees } from '../../store/stores.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { listNames } from '../../workspace/git/tree.ts';
import { removeWorkspace } from '../../workspace/git/workspace.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { effectiveScope, scopeRootOf } from '../plan/scope.ts';
import { type ClaimedRun, watchCancel } from '../record/claimed-run.ts';
import { putJournal, travelledJournal } from '../record/journal-view.ts';
import { openPrivateRoot, type StartedRun, workerFile } from '../record/started-run.ts';
import { planFolder } from '../record/work-objects.ts';
import { recordMemory } from '../record/write-record.ts';
import { openCallLedger } from '../state/calls.ts';
import {
  type OpenRun,
  openSealingGate,
  type RunEnvironment,
  type RunIdentity,
  type RunServices,
} from '../state/open-run.ts';
import { createRecordCollector } from '../state/record-collector.ts';
import type { RunSettings } from '../state/run-request.ts';
import { startWallClock, waitingType } from '../state/spent.ts';

/** A run that this process holds; disposing gives it back, whatever happened. */
export interface HeldRun extends AsyncDisposable {
  readonly run: OpenRun;
  /** The candidate of a supplied patch; `undefined` where a worker makes it. */
  readonly supplied: PatchSet | undefined;
  readonly started: StartedRun;
  /** The run is complete: removes data that only a resume would need. */
  finish(): Promise<void>;
  /** Removes all of the run: its change was only evaluated. */
  discard(): Promise<void>;
  /** The run waits for people: stops the wall clock and deletes the workspaces to free the disk. */
  wait(): Promise<void>;
}

/** What a run is held with. */
interface RunParts
  extends Pick<
    RunServices,
    | 'engine'
    | 'settings'
    | 'store'
    | 'sealing'
    | 'scratch'
    | 'worker'
    | 'secrets'
    | 'model'
    | 'draft'
    | 'moreCostUnits'
    | 'cancelled'
    | 'directory'
    | 'steps'
  > {
  readonly contract: AdmittedContract;
  readonly environment: RunEnvironment;
  readonly supplied: PatchSet | undefined;
  readonly journal: Journal;
  readonly started: StartedRun;
  /** A person lets calls be made again that were lost. */
  readonly allowLostCalls?: boolean | undefined;
  readonly release: () => Promise<void>;
}

/** Holds a run from here on: its clock runs, a request to cancel is seen, and whatever it leaves is given back. */
export async function holdRun({
  journal,
  started,
  release,
  supplied,
  contract,
  environment,
  allowLostCalls,
  ...parts
}: RunParts): Promise<HeldRun> {
  const { scratch, directory } = parts;
  const gate = openSealingGate();
  const ended = new AbortController();
  void watchCancel(
    directory,
    ({ by }) =>
      gate.letGo(new WritError('RUN_INTERRUPTED', { message: `the run is cancelled by \`${by}\`` })),
    ended.signal,
  );
  const settings = {
    ...parts.settings,
    signal: AbortSignal.any([parts.settings.signal, gate.signal]),
  };
  const spec = contract.effective;
  const { runId, threadId, startedAtMs } = started;
  const privateRoot = await openPrivateRoot(runId, environment.repository.commonDir);
  const names = await listNames(scratch, started.base.tree, scopeRootOf(spec.metadata.target.repo));
  const wallClock = startWallClock(
    spec.constraints.resources.maxWallClockSeconds,
    started.anewAtMs ?? startedAtMs,
    journal.records,
    settings.clock,
  );
  const identity: RunIdentity = {
    runId,
    threadId,
    startedAtMs,
    anewAtMs: started.anewAtMs,
    contract,
    scope: effectiveScope(spec, names),
    sandboxName: started.sandbox,
    isWorked: started.source === 'worker' && started.candidate === undefined,
    tip: started.tip,
    commitAtMs: started.commitAtMs,
    wording: started.wording,
    authorship: started.authorship,
    lacking: started.lacking,
    local: started.local,
  };
  const calls = openCallLedger(journal, started.drafting?.models);
  if (allowLostCalls) await calls.allow();
  const services: RunServices = {
    ...parts,
    store: { ...parts.store, objects: afterJournal(parts.store.objects, journal) },
    calls,
    settings,
    advice: started.advice,
    failedBefore: started.failedBefore,
    privateRoot,
    travellingJournal: () => formatJournal(journal.records.filter(({ data }) => !isLocal(data))).bytes,
    record: createRecordCollector(join(directory, 'record'), recordMemory(journal)),
    signal: AbortSignal.any([settings.signal, wallClock.signal]),
    wallClockExceeded: wallClock.exceeded,
    beginSealing: gate.beginSealing,
  };
  let over = false;
  let left = false;
  return {
    run: { identity, environment, services },
    supplied,
    started,
    async finish() {
      await journal.append('run-finished', {});
      await journal.sync();
      over = true;
      await journal.forget();
      for (const part of ['content', 'record', 'scratch', workerFile]) {
        await rm(join(directory, part), { recursive: true, force: true });
      }
    },
    async discard() {
      over = true;
      await journal.forget();
      await rm(directory, { recursive: true, force: true });
    },
    async wait() {
      await journal.append(waitingType, {});
      await journal.sync();
      left = true;
      await removeWorkspace(privateRoot);
    },
    async [Symbol.asyncDispose]() {
      wallClock.end();
      ended.abort();
      await environment.plugins.close().catch(() => undefined);
      if (!over && !left)
        await journal.append('run-left', { interrupted: settings.signal.aborted }).catch(() => undefined);
      await journal.close().catch(() => undefined);
      // A run that goes on finds its workspaces; only one that waits for people gives up the disk.
      if (over) await removeWorkspace(privateRoot).catch(() => undefined);
      await release().catch(() => undefined);
    },
  };
}

/** The same store. Before each of its writes the journal is on disk: a record must not be newer than its run. */
function afterJournal(objects: ObjectStore, journal: Journal): ObjectStore {
  return {
    version: (ref) => objects.version(ref),
    read: (ref, path) => objects.read(ref, path),
    readMany: (ref, paths) => objects.readMany(ref, paths),
    list: (ref) => objects.list(ref),
    refs: (prefix) => objects.refs(prefix),
    async writeTree(ref, write) {
      await journal.sync();
      return objects.writeTree(ref, write);
    },
    async writeTrees(writes) {
      await journal.sync();
      return writeTrees(objects, writes);
    },
    async remove(ref) {
      await journal.sync();
      return objects.remove(ref);
    },
  };
}

/** Steps under `local/` hold for this machine alone. */
function isLocal(data: unknown): boolean {
  const { step } = (data ?? {}) as { readonly step?: string };
  return step !== undefined && /(?:^|\/)local\//.test(step);
}

/**
 * Returns the journal that this user wrote here. Returns `undefined` if there is none, or if no witness of this user
 * authenticates it.
 */
export async function openOwnJournal(
  directory: string,
  runId: string,
  settings: RunSettings,
): Promise<Journal | undefined> {
  // Reading a journal with a thousand Tasks is slow, so it is read only once.
  if (!(await isJournalBegun(join(directory, journalFile)))) return undefined;
  const journal = await openJournal(directory, runId, settings);
  if (journal.isAuthentic) return journal;
  await journal.close();
  return undefined;
}

/** Opens the journal with its witness. If the journal cannot be opened, the witness is closed. */
export async function openJournal(directory: string, runId: string, settings: RunSettings): Promise<Journal> {
  const witness = await openWitness(settings, runId);
  try {
    return await Journal.open(join(directory, journalFile), { clock: settings.clock, witness });
  } catch (fault) {
    await witness[Symbol.asyncDispose]();
    throw fault;
  }
}

/** Opens the witness that authenticates this user's journals; default: the witness of this process. */
export function openWitness(
  { witness = processWitness }: RunSettings,
  runId: string,
): Promise<WitnessedJournal> {
  return witness.open(runId);
}

/** Content of attempts, as opposed to what the whole run shows at the top. */
const ofAttempt = /^(?:candidate|task)-\d+\//;
const ofPlan = /^(?:plan\.json$|tasks\/|plans\/)/;
/** A manually built tree may contain such names. */
const leadsOut = /(?:^|\/)\.{0,2}(?:\/|$)/;
const maxKeyBytes = 64 * 1024;

/**
 * Returns whether a runner listed at the policy commit (`[runners]`) signed the journal in the run's refs. Throws
 * JOURNAL_CORRUPT if such a runner, or the own key, signed another one for this run.
 */
export async function isSignedByRunner(
  engine: WritEngine,
  environment: RunEnvironment,
  { started, travelled, runnerSeal }: ClaimedRun,
  ownKey: string | undefined,
): Promise<boolean> {
  const { runId } = started;
  const { attestor } = engine;
  if (!travelled || !runnerSeal) return false;
  const files = new Map([[travelledJournal, travelled.bytes]]);
  const signedBy = (keys: readonly string[]): boolean => {
    const signed = attestor.isWaitingSignedBy(runnerSeal, runId, files, keys);
    if (signed !== 'others') return signed === 'these';
    throw new WritError('JOURNAL_CORRUPT', {
      message: `the journal of run \`${runId}\` was changed after its runner signed it`,
      detail: { run_id: runId },
      hints: ['someone changed `refs/ai/runs/…` on a remote: run the change again'],
    });
  };
  if (ownKey !== undefined) signedBy([ownKey]);
  const { keys } = environment.config.runners;
  // A policy that is on no branch here came with the claim, so its runners are not trusted.
  if (environment.policy.ref === undefined) return false;
  // If the spec chose the policy, its author chose the runners. Whether it did is computed here, not read from the
  // claim.
  if (environment.foreign !== undefined) return false;
  if (keys.length === 0) return false;
  const read = await Promise.all(
    keys.map((path) => readBlob(environment.repository, environment.policy.tree, path, maxKeyBytes)),
  );
  const pems = read.flatMap((bytes) => (bytes ? [bytes.toString('utf8')] : []));
  return signedBy(pems);
}

/**
 * Puts the memory of a run here as its refs hold it: artifacts, record, and last the journal, which this machine
 * vouches for from now on. What the journal does not name by digest is not believed later.
 */
export async function adoptJournal(
  { objects, refs }: RunStore,
  claim: ClaimedRun,
  directory: string,
  witness: WitnessedJournal,
): Promise<void> {
  const { runId } = claim.started;
  const names = (await objects.list(refs.content(runId)))
    .map(({ path }) => path)
    .filter((name) => ofAttempt.test(name) && !leadsOut.test(name));
  for (const [name, bytes] of await objects.readMany(refs.content(runId), names))
    await put(join(directory, 'content', name), bytes);
  const parts = (await objects.list(refs.run(runId)))
    .map(({ path }) => path)
    .filter(
      (name) => (ofAttempt.test(name) || ofPlan.test(name) || name === partsPath) && !leadsOut.test(name),
    );
  const made = await objects.readMany(refs.run(runId), parts);
  const plan = made.get('plan.json');
  const folder = plan === undefined ? '' : planFolder(parseObject('plan', plan).revision);
  for (const [name, bytes] of made) {
    const path = /^(?:plan\.json|tasks\/)/.test(name) ? join(folder, name) : name;
    await put(join(directory, 'record', path), bytes);
  }
  await putJournal(directory, claim.travelled?.records ?? [], witness);
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600, flush: true });
}
