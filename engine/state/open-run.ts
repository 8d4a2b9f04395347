/* Types of an open run, its attempts and its environment. */
import type { OpenModel } from '../../agent/model-loop/open-model.ts';
import type { ApprovalVerdict } from '../../core/interfaces/approval.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchSet, Scope } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import type { SandboxBackend, SandboxBind } from '../../core/interfaces/sandbox.ts';
import type { DigestedThing, SealingParties } from '../../core/interfaces/sealing.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import type { PluginParts } from '../../plugins/third-party/open-parts.ts';
import type { Owners } from '../../readers/diff/owned-paths.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { privacyPolicyOf } from '../../spec/facts.ts';
import type { Authorship } from '../../store/record/gate-report.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import type { WritConfig } from '../config/config.ts';
import type { Waiver } from '../config/waivers.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { IntentRunStore } from '../intent/find-intent.ts';
import type { TaskAdvice } from '../plan/plan-advice.ts';
import type { CallLedger } from './calls.ts';
import type { ObservedChecks } from './checks.ts';
import type { CommitWording, LocalDecision } from './commit-wording.ts';
import type { ArtifactCollector } from './evidence.ts';
import type { OpenScanners } from './open-scanners.ts';
import type { Landing, OpenPolicies } from './policies.ts';
import type { RecordCollector, Steps } from './record-collector.ts';
import type { RunSettings } from './run-request.ts';
import { type RunSecrets, withValues } from './run-secrets.ts';

/** Which run it is: fixed when it was started, the same for every process that goes on with it. */
export interface RunIdentity {
  readonly runId: string;
  readonly threadId: string;
  readonly startedAtMs: number;
  /** When the run restarted because its record was unverified; `undefined` for a run that continues. */
  readonly anewAtMs: number | undefined;
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  /**
   * The sandbox back end of the run's start; for a checked attempt, the one that its checks ran in.
   * `environment.sandbox` is this process's back end.
   */
  readonly sandboxName: string;
  /** Whether a worker does the Tasks; false for a supplied patch. */
  readonly isWorked: boolean;
  /** Tip of a range; its authors may not approve. */
  readonly tip: string | undefined;
  /** Time of the sealed commit; `undefined`: when it is sealed. */
  readonly commitAtMs?: number | undefined;
  /** Words and people of the sealed commit. */
  readonly wording: CommitWording;
  /**
   * Who made the change, as the change itself reported on arrival, or who submitted it. Only a claim if the run's
   * record came from another machine.
   */
  readonly authorship: Authorship;
  /** Warnings given before any work that it may be useless; `undefined` if there were none. */
  readonly lacking: readonly string[] | undefined;
  /** What happens to local changes in the way, if that was decided before the work. */
  readonly local: LocalDecision | undefined;
}

/** What this process works on the run with, and until when. */
export interface RunServices {
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
  readonly record: RecordCollector;
  /** Repository for candidates and their checks; no object in it enters the user's object database before sealing. */
  readonly scratch: Scratch;
  /** Key and log; `undefined` if the spec requires no provenance. */
  readonly sealing: SealingParties | undefined;
  /** The first plan, where this process drafted it before the run began. */
  readonly draft: PlanDraft | undefined;
  /** How the Tasks are to be done, where a person confirmed that before the run began. */
  readonly advice: readonly TaskAdvice[] | undefined;
  /** Why the run that this one repairs was refused. Untrusted text. */
  readonly failedBefore: string | undefined;
  /** Cost units that a person grants beyond the cap, in this process. */
  readonly moreCostUnits: number | undefined;
  /** Why a person ends the run now. */
  readonly cancelled: string | undefined;
  /** The worker, if this process has one. */
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
   * Called right before the first step of sealing. Throws if a cancel request came first; after it no cancel request
   * stops this process.
   */
  beginSealing(): void;
}

/**
 * A run that a process works on. Created on start or resume and passed to every step; a step declares the parts that
 * it uses.
 */
export interface OpenRun {
  readonly identity: RunIdentity;
  readonly environment: RunEnvironment;
  readonly services: RunServices;
}

/** One attempt at a change: a patchset, and the data that its checks need. */
export interface Attempt extends OpenRun {
  /** Stable name inside the run, e.g. `candidate-1`; directories and steps bear it. */
  readonly name: string;
  readonly patch: PatchSet;
  readonly box: ArtifactCollector;
  /** Evaluated approvals of exactly this candidate; empty before it waited for any. */
  readonly approvals: readonly ApprovalVerdict[];
  /** Findings of the patch rules, before the stages; absent if the rules have not run. */
  readonly patchFindings?: readonly Finding[];
  /** The attempt is one Task among several, so checks of the change as a whole do not run. */
  readonly isPart?: boolean;
  /** What observing the checks showed; absent where they were not observed. */
  readonly observed?: ObservedChecks;
  /** Result of a trial seal, if a check requires one. */
  readonly rehearsal?: RuleInput['rehearsal'];
  /** What happens to local changes at paths of this candidate; absent of an attempt at a Task. */
  readonly localNow?: LocalDecision;
  /** Why directories of `[workspace] share` were not given to its checks. */
  readonly skipped?: readonly string[];
}

/** Where one command of a check runs. No other command has seen its content. */
export interface Workspace {
  readonly directory: string;
  /** Empty, and its own. */
  readonly reports: string;
  readonly sandbox: SandboxBackend;
  readonly binds: readonly SandboxBind[];
}

/** The environment of a run: resolved, verified and unchanged so far. */
export interface RunEnvironment extends Landing {
  readonly repository: Repository;
  /** How statements name it. */
  readonly repositoryUri: string;
  /** Committer time of the base commit; 0 for the empty tree. */
  readonly baseTimeMs: number;
  /** `.writ/config.toml` at the policy commit: a patch must not choose the rules that apply to it. */
  readonly config: WritConfig;
  readonly configBytes: Uint8Array | undefined;
  readonly sandbox: SandboxBackend;
  /** In words, the better ones that are installed here and do not work. */
  readonly passedOver?: readonly string[];
  /** Hooks that git would run for a commit here, and writ does not. */
  readonly unrunHooks?: readonly string[];
  /** How the spec's platform requirements were met. */
  readonly platform: Readonly<Record<string, string>>;
  /** The engine's, and those of plugins that the repository lists. */
  readonly rules: Rules;
  readonly policies: OpenPolicies;
  /** `.writ/owners`: who has to approve changes of which paths. */
  readonly owners: Owners;
  /** `.writ/waivers.toml`. */
  readonly waivers: readonly Waiver[];
  readonly scanners: OpenScanners;
  /** What the listed plugins bring beside rules. Closed when the run is given back. */
  readonly plugins: PluginParts;
  /** Listed plugins, policy files, and what pins scanners, for `resolvedDependencies`. */
  readonly dependencies: readonly DigestedThing[];
}

/**
 * The privacy policy for output of a run: from the spec, the words of the policy commit's config, and the secret
 * values that this process knows.
 */
export function policyOf({
  identity: { contract },
  environment,
  services: { secrets, model },
}: Pick<OpenRun, 'identity' | 'environment' | 'services'>): PrivacyPolicy {
  const policy = privacyPolicyOf(contract.effective, environment.config.redaction);
  return withValues(policy, [...secrets.values, ...(model?.secrets ?? [])]);
}

/** Returns a copy of the run or attempt with `steps` replaced. */
export function withSteps<T extends OpenRun>(run: T, steps: Steps): T {
  return { ...run, services: { ...run.services, steps } };
}

/** Between sealing a run and letting go of it: whichever begins first keeps the other from beginning. */
interface SealingGate {
  /** From here on no cancel request stops this process. Throws the reason if one already did. */
  beginSealing(): void;
  /** Stops the work with this reason; no effect once sealing has begun. */
  letGo(reason: Error): void;
  /** Aborts when the work is stopped. */
  readonly signal: AbortSignal;
}

/** Creates a gate in its open state. */
export function openSealingGate(): SealingGate {
  const stop = new AbortController();
  let isSealing = false;
  return {
    signal: stop.signal,
    beginSealing() {
      stop.signal.throwIfAborted();
      isSealing = true;
    },
    letGo(reason) {
      if (!isSealing) stop.abort(reason);
    },
  };
}
