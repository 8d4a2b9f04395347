/* Holds a run in this process: its lock, clock and signal. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import type { Journal } from '../../store/journal.ts';
import { formatJournal } from '../../store/journal-witness.ts';
import { writeTrees } from '../../store/stores.ts';
import { listNames } from '../../workspace/git/tree.ts';
import { removeWorkspace } from '../../workspace/git/workspace.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { effectiveScope, scopeRootOf } from '../plan/scope.ts';
import { watchCancel } from '../record/claimed-run.ts';
import { openPrivateRoot, type StartedRun, workerFile } from '../record/started-run.ts';
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
import { startWallClock, waitingType } from '../state/spent.ts';

/** A run that this process holds; disposing gives it back, whatever happened. */
export interface HeldRun extends AsyncDisposable {
  readonly run: OpenRun;
  /** The candidate of a supplied patch; `undefined` where a worker makes it. */
  readonly supplied: PatchSet | undefined;
  readonly started: StartedRun;
  /** The run is complete: removes data that only a resume would need. */
  finish(): Promise<void>;
  /** The run waits for people: stops the wall clock and deletes the workspaces to free the disk. */
  wait(): Promise<void>;
}

/** What a run is held with. */
export interface RunParts
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
    wording: started.wording,
    authorship: started.authorship,
    lacking: started.lacking,
    local: started.local,
  };
  const calls = openCallLedger(journal);
  if (allowLostCalls) await calls.allow();
  const services: RunServices = {
    ...parts,
    store: { ...parts.store, objects: afterJournal(parts.store.objects, journal) },
    calls,
    settings,
    advice: started.advice,
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
