import type { ApprovalVerdict } from '../../../core/contract/approval.ts';
import type { SealingParties } from '../../../core/contract/attestor.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import type { RuleInput } from '../../../core/contract/rule.ts';
import type { SandboxBackend, SandboxBind } from '../../../core/contract/sandbox.ts';
import type { Scope } from '../../../core/contract/scope.ts';
import type { Worker } from '../../../core/contract/worker.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import type { IntentRunStore } from '../../intent/open-run-store.ts';
import type { TaskAdvice } from '../../plan/plan-advice.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Authorship } from '../../store/record/authorship.ts';
import type { Scratch } from '../../vcs/scratch.ts';
import type { ArtifactBox } from './artifact-box.ts';
import type { CallLedger } from './call-ledger.ts';
import type { CommitWording } from './commit-wording.ts';
import type { Ground } from './ground.ts';
import type { LocalDecision } from './local-decision.ts';
import type { ObservedChecks } from './observed-checks.ts';
import type { OpenModel } from './open-model.ts';
import type { RecordBox } from './record-box.ts';
import type { RunSettings } from './run-request.ts';
import type { RunSecrets } from './run-secrets.ts';
import type { Steps } from './steps.ts';

/** Which run it is: fixed when it was started, the same for every process that goes on with it. */
export interface RunIdentity {
  readonly runId: string;
  readonly threadId: string;
  readonly startedAtMs: number;
  /** When the run was begun anew, its memory being nobody's word; `undefined` for one that goes on. */
  readonly anewAtMs: number | undefined;
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  /**
   * The back end that the run was started with; of a judged attempt, the one that its checks ran in. `ground.sandbox`
   * is the one of this process.
   */
  readonly sandboxName: string;
  /** Whether a worker does the Tasks; false for a supplied patch. */
  readonly isWorked: boolean;
  /** Tip of a range: whoever wrote it may not approve. */
  readonly tip: string | undefined;
  /** Words and people of the sealed commit. */
  readonly wording: CommitWording;
  /**
   * Who made the change, as far as it said so when it came, or brought it; a claim where the record of the run came
   * from elsewhere.
   */
  readonly authorship: Authorship;
  /** Why its work may be in vain, as it was told before any; `undefined` where nothing was. */
  readonly lacking: readonly string[] | undefined;
  /** What happens to local changes in the way, if that was decided before the work. */
  readonly local: LocalDecision | undefined;
}

/** What this process works on the run with, and until when. */
export interface RunMeans {
  readonly engine: WritEngine;
  readonly settings: RunSettings;
  readonly store: IntentRunStore;
  /** `<git-common-dir>/writ/runs/<run>`: what survives this process. */
  readonly directory: string;
  /** Where workspaces are; survives a kill, not a reboot. */
  readonly privateRoot: string;
  readonly steps: Steps;
  /** What earlier processes did outside and lost, and what this one does. */
  readonly calls: CallLedger;
  /** The journal so far as bytes that another machine can go on from: without what holds here alone. */
  travellingJournal(): Uint8Array;
  /** What the record will hold of the way to the candidate. */
  readonly record: RecordBox;
  /**
   * Candidates and everything that judges them; nothing in it is in the person's object database until it is sealed.
   */
  readonly scratch: Scratch;
  /** Key and log; `undefined` where the contract asks for no provenance. */
  readonly sealing: SealingParties | undefined;
  /** The first plan, where this process drafted it before the run began. */
  readonly draft: PlanDraft | undefined;
  /** How the Tasks are to be done, where a person confirmed that before the run began. */
  readonly advice: readonly TaskAdvice[] | undefined;
  /** Cost units that a person grants beyond the cap, in this process. */
  readonly moreCostUnits: number | undefined;
  /** Why a person ends the run now. */
  readonly cancelled: string | undefined;
  /** The worker, where one is at hand. */
  readonly worker: Worker | undefined;
  /** What checks are given, and what is never written. */
  readonly secrets: RunSecrets;
  /** The model that the worker names. */
  readonly model: OpenModel | undefined;
  /** Aborts with the person's signal and with the wall clock. */
  readonly signal: AbortSignal;
  /** True once `resources.maxWallClockSeconds` has passed. */
  wallClockExceeded(): boolean;
  /**
   * Asked right before the first step of the seal: throws where a request to cancel came first, and from then on none
   * stops this process.
   */
  beginSealing(): void;
}

/**
 * A run that a process works on. Made when it is started or resumed, read by every step; a step takes the parts that it
 * uses.
 */
export interface OpenRun {
  readonly identity: RunIdentity;
  readonly ground: Ground;
  readonly means: RunMeans;
}

/** One try at a change: a patchset, and what judging it needs. */
export interface Attempt extends OpenRun {
  /** Stable name inside the run, e.g. `candidate-1`; directories and steps bear it. */
  readonly name: string;
  readonly patch: PatchSet;
  readonly box: ArtifactBox;
  /** Judged approvals of this very candidate; empty before it waited for any. */
  readonly approvals: readonly ApprovalVerdict[];
  /** What the rules said of the patch, before the stages; absent where they were not asked yet. */
  readonly patchFindings?: readonly Finding[];
  /** It is the work of one Task among several: what judges the change as a whole is not asked of it. */
  readonly isPart?: boolean;
  /** What observing the checks showed; absent where they were not observed. */
  readonly observed?: ObservedChecks;
  /** A trial of the seal, where a check asks for one. */
  readonly rehearsal?: RuleInput['rehearsal'];
  /** What happens to local changes at paths of this candidate; absent of an attempt at a Task. */
  readonly localNow?: LocalDecision;
  /** Why directories of `[workspace] share` were not given to its checks. */
  readonly skipped?: readonly string[];
}

/** Where one command of a check runs: nothing in it was ever seen by another. */
export interface Workspace {
  readonly directory: string;
  /** Empty, and its own. */
  readonly reports: string;
  readonly sandbox: SandboxBackend;
  readonly binds: readonly SandboxBind[];
}
