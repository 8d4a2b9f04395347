import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { Scope } from '../../core/interfaces/scope.ts';
import type { SealingParties } from '../../core/interfaces/sealing.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Authorship } from '../../store/record/gate-report.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { PickedRuntimes } from '../../workspace/runtime/pick-runtimes.ts';
import type { WritConfig } from '../config/config.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { IntentRunStore } from '../intent/find-intent.ts';
import type { PlanFor } from '../plan/plan-tasks.ts';
import type { CommitWording } from '../state/commit-wording.ts';
import type { Landing } from '../state/landing.ts';
import type { LocalDecision } from '../state/local-decision.ts';
import type { OpenModel } from '../state/open-model.ts';
import type { Ground } from '../state/open-run.ts';
import type { ChangeSource, Origin, RunRequest } from '../state/run-request.ts';
import type { RunSecrets } from '../state/run-secrets.ts';
import type { AskedPlugins } from './open-parties.ts';

/** The request, whether it is to be run or only planned. */
export type OpeningRequest = Pick<
  RunRequest,
  | 'repositoryPath'
  | 'specBytes'
  | 'onto'
  | 'heldFor'
  | 'policy'
  | 'noMerge'
  | 'localChanges'
  | 'askLocalChanges'
  | 'advice'
  | 'message'
  | 'author'
  | 'sandbox'
  | 'pluginAccess'
  | 'outside'
  | 'clock'
  | 'reach'
  | 'model'
  | 'secrets'
>;

/** Where a run that is opened puts what it needs before it begins. */
export interface OpeningPlace {
  /** Wraps the repository for the caller's reads. */
  keep(repository: Repository): Repository;
  /** Creates the place for the candidate; called at most once. */
  makeScratch(repository: Repository): Promise<Scratch>;
  /** Where files of plugins are kept. */
  pluginCache(repository: Repository): string;
  /** Creates no user files: a missing signing key is treated as one that would be created. */
  readonly dry: boolean;
  /** Reads only objects and refs of the repository. */
  readonly onlyReads?: true;
}

/** All data known about a run before any work: first the request, then the result of each preflight check. */
export interface Opening {
  readonly engine: WritEngine;
  /** The parts of the engine that checks of spec and repository need. */
  readonly plugins: AskedPlugins;
  readonly request: OpeningRequest;
  readonly ledger: WritEngine['ledger'];
  readonly place: OpeningPlace;
  readonly runId: string;
  /** Of the change; absent where it is not known yet. */
  readonly source: ChangeSource;
  /** What kind of change is meant, also where it is not known yet. */
  readonly kind: ChangeSource['kind'];
  readonly who: PlanFor;

  readonly worker: Worker | undefined;
  /** What checks are given, and what is never written. */
  readonly secrets: RunSecrets;
  /** The model that the worker names. */
  readonly model: OpenModel | undefined;
  readonly admitted: AdmittedContract;
  readonly repository: Repository;
  readonly store: IntentRunStore;
  readonly origin: Origin;
  readonly landing: Landing;
  readonly configBytes: Uint8Array | undefined;
  readonly config: WritConfig;
  /** `.writ/allowed_signers` at the policy commit; `undefined` where it has none. */
  readonly signers: Uint8Array | undefined;
  /** With the checks that the policy commit adds. */
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  readonly draft: PlanDraft;
  readonly sandbox: Pick<Ground, 'sandbox' | 'passedOver'>;
  readonly operatingSystem: Readonly<Record<string, string>>;
  readonly runtimes: PickedRuntimes;
  /** The configuration once more, held to the rules that there are, and these. */
  readonly judges: Pick<Ground, 'config' | 'rules' | 'policies' | 'scanners' | 'plugins' | 'dependencies'>;
  readonly ground: Ground;
  /** Key and log; `undefined` if the spec requires no provenance. */
  readonly sealing: SealingParties | undefined;
  readonly wording: CommitWording;
  readonly scratch: Scratch;
  /** The candidate of a supplied change; `undefined` where a worker will make it. */
  readonly supplied: PatchSet | undefined;
  /** What happens to local changes in the way; `undefined`: there are none. */
  readonly local: LocalDecision | undefined;
  readonly authorship: Authorship;
}
