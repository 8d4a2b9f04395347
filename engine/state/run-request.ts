import type { Clock } from '../../core/base/clock.ts';
import type { InProcessApprover } from '../../core/interfaces/approval.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { Person } from '../../core/interfaces/person.ts';
import type { ReachProvider } from '../../core/interfaces/provider.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Base, resolveBase } from '../../workspace/git/resolve-commit.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import { type ResolvedRange, resolveRange } from '../../workspace/patch/resolve-range.ts';
import type { FindSearch } from '../../workspace/process/search-backend.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { TaskAdvice } from '../plan/plan-advice.ts';
import type { PluginAccess } from '../plugin-trust/plugin-access.ts';
import type { ModelMeter, OpenModel } from './open-model.ts';
import type { SecretSource } from './run-secrets.ts';
import type { Spent } from './spent.ts';
import type { WorkWatch } from './work-watch.ts';

/** Where the candidate change comes from (resolutions, A supplied patch). */
export type ChangeSource =
  | { readonly kind: 'patch'; readonly bytes: Uint8Array }
  | { readonly kind: 'range'; readonly range: string }
  | {
      readonly kind: 'worker';
      /** By name in slot `worker`. */
      readonly worker: string;
      /** What it is made of, and made again of when the run is resumed: kept as `worker.json` with the run. */
      readonly from: Uint8Array;
    };

/** What every run needs of its surroundings, in each process that works on it. */
export interface RunSettings {
  /** Of this engine, for `internalParameters.scheduler_version`. */
  readonly schedulerVersion: string;
  readonly clock: Clock;
  /** Stops the work: what has been moved stays moved or is rolled back, never half; the run can be resumed. */
  readonly signal: AbortSignal;
  /**
   * Vouches for the journals of this user on this machine; absent: one of this process, so that any later process
   * judges anew.
   */
  readonly witness?: JournalWitness;
  /** What the egress proxy takes for the network; absent: the real one. */
  readonly outside?: Outside;
  /** What the user trusts of the plugins that the repository lists; absent: nothing. */
  readonly pluginAccess?: PluginAccess;
  /** Finds base and key of the provider that a worker's model is asked of; absent: no model can be asked. */
  readonly reach?: ReachProvider;
  /** That model, where it was opened already: for drafting the contract. */
  readonly model?: OpenModel;
  /** Finds what a model searches the web with; absent: nothing. */
  readonly search?: FindSearch;
  /** Secrets that the user keeps; absent: none. */
  readonly secrets?: SecretSource;
  /**
   * Who approves in this process once the run waits for people; what they sign is marked so (resolutions, Approvals).
   */
  readonly approvers?: readonly InProcessApprover[];
  /**
   * What happens to uncommitted changes at paths that the change touches; absent: the answer of `askLocalChanges`, else
   * `stop`. `set-aside` stores them just before the working tree follows the sealed commit, and merges them back
   * afterwards. `include` makes them part of the change.
   */
  readonly localChanges?: LocalChanges;
  /**
   * Full name of the branch that the change is for, if its target only holds it until a review: the policy of this
   * branch counts as its own, and local changes are those of its working tree.
   */
  readonly heldFor?: string;
  /** Asks a person about local changes at these paths; absent: no one can answer. */
  readonly askLocalChanges?: (dirty: readonly DirtyPath[]) => Promise<LocalChanges>;
  /** The change is made for a goal of a session, which asks its person about red tests that were rewritten. */
  readonly isForGoal?: true;
  /** Revisions of the plan within the run, where fewer than the engine allows. */
  readonly maxReplans?: number;
  /** Who is asked while a worker works; absent: nobody is there. */
  readonly person?: Person;
  /** Told what workers do, while they do it. */
  readonly watch?: WorkWatch;
  /** Told of every question to a model, before it is put. */
  readonly meter?: ModelMeter;
}

/** One `writ run`, with everything that the outside decides. */
export interface RunRequest extends RunSettings {
  /** A UUIDv7 that was told before, of a draft; absent: one of its own. */
  readonly runId?: string;
  /** What drafting the contract came to: it counts as the run's. */
  readonly drafting?: Spent;
  /** How its Tasks are to be done, as a person read and confirmed it; absent: the model is asked when it begins. */
  readonly advice?: readonly TaskAdvice[];
  readonly repositoryPath: string;
  /** The IntentSpec as its author gave it. */
  readonly specBytes: Uint8Array;
  readonly source: ChangeSource;
  /** Target branch by name, without `refs/heads/`. */
  readonly onto?: string;
  /** The branch by whose policy alone it may be judged; POLICY_MISMATCH else. */
  readonly policy?: string;
  /** Refuses, TARGET_MOVED, where the change would have to be merged onto the tip of its target. */
  readonly noMerge?: boolean;
  /** Message of the sealed commit, instead of the range's or the contract's. */
  readonly message?: string;
  /** Author of the sealed commit, `Name <mail>`. */
  readonly author?: string;
  /** Sandbox back end by name, or `auto`. */
  readonly sandbox: string;
  /** Told, before any work, of that by which all of it would be in vain. */
  readonly hear?: (issue: Issue) => void;
}

/** One `writ resume`. */
export interface ResumeRequest extends RunSettings {
  readonly repositoryPath: string;
  /** Id or unambiguous beginning of one. */
  readonly runId: string;
  /**
   * Sandbox back end by name, or `auto`; absent: the one that its checks ran in on this machine, where that still works
   * here. Checks that another one has run are judged anew where any is left to run.
   */
  readonly sandbox?: string;
  /**
   * Who does what is left: by name in slot `worker`, made of `from`, else of what the run was started with here. A run
   * that needs somebody and gets nobody is NO_WORKER.
   */
  readonly worker?: { readonly name: string; readonly from?: () => Promise<Uint8Array> };
  /**
   * The branch that the person who resumes wants moved; needed where only a claim names it, and then it must be that
   * one.
   */
  readonly onto?: string;
  /** Ends the run instead, for this reason. */
  readonly cancel?: string;
  /** Cost units that a person grants beyond the cap (resolutions, maxCostUnits). */
  readonly moreCostUnits?: number;
  /** Lets calls be made again that left the machine in an attempt that was stopped. */
  readonly allowLostCalls?: boolean;
}

/** Where the change starts: the stated base, or for a range its merge base (resolutions, Target ref). */
export interface Origin {
  readonly base: Base;
  readonly range?: ResolvedRange;
}

/** Resolves where the change starts; REF_NOT_FOUND, REF_INVALID. */
export async function resolveOrigin(
  repository: Repository,
  { source }: { readonly source: ChangeSource | { readonly kind: ChangeSource['kind'] } },
  contract: AdmittedContract,
): Promise<Origin> {
  if (!('range' in source))
    return { base: await resolveBase(repository, contract.effective.metadata.target.baseRef) };
  const range = await resolveRange(repository, source.range);
  return { base: range.base, range };
}
