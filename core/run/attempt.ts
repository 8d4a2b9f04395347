import type { DigestedThing, SealingParties } from '../contract/attestor.ts';
import type { PatchSet } from '../contract/patch-set.ts';
import type { SandboxBackend, SandboxBind } from '../contract/sandbox.ts';
import type { Scope } from '../plan/scope.ts';
import type { Journal } from '../store/journal.ts';
import type { Scratch } from '../vcs/scratch.ts';
import type { AdmittedContract } from './admit-contract.ts';
import type { ArtifactBox } from './artifact-box.ts';
import type { Ground } from './prepare-ground.ts';
import type { RunRequest } from './run-request.ts';
import type { RunStore } from './run-store.ts';
import type { DependencyNote } from './workspace-dependencies.ts';
import type { WritEngine } from './writ-engine.ts';

/** One try at the change: who works for it, where, and until when. Made once, read by every step. */
export interface Attempt {
  readonly engine: WritEngine;
  readonly request: RunRequest;
  readonly contract: AdmittedContract;
  readonly ground: Ground;
  readonly runId: string;
  readonly threadId: string;
  readonly startedAtMs: number;
  /** Private directory of this attempt, removed at its end. */
  readonly privateRoot: string;
  readonly store: RunStore;
  readonly journal: Journal;
  readonly box: ArtifactBox;
  /** The candidate and everything that judges it; nothing in it is in the person's object database yet. */
  readonly scratch: Scratch;
  readonly patch: PatchSet;
  readonly scope: Scope;
  /** Key and log; `undefined` where the contract asks for no provenance. */
  readonly sealing: SealingParties | undefined;
  /** Aborts with the person's signal and with the wall clock. */
  readonly signal: AbortSignal;
  /** True once `resources.maxWallClockSeconds` has passed. */
  wallClockExceeded(): boolean;
}

/** Where checks run. */
export interface Workspace {
  readonly directory: string;
  readonly reportsRoot: string;
  readonly sandbox: SandboxBackend;
  readonly binds: readonly SandboxBind[];
  readonly dependencies: readonly DigestedThing[];
  readonly notes: readonly DependencyNote[];
}
