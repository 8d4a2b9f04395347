/* Types of requests to run and to resume, and the origin of a change. */
import type { CommandBoard } from '../../agent/agent-run.ts';
import type { McpAccess } from '../../agent/mcp/mcp-tools.ts';
import type { ModelMeter, OpenModel } from '../../agent/model-loop/open-model.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { InProcessApprover } from '../../core/interfaces/approval.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { Person } from '../../core/interfaces/hook-payload.ts';
import type { ModelEvent } from '../../core/interfaces/model.ts';
import type { ReachProvider } from '../../core/interfaces/provider.ts';
import type { RewrittenTests } from '../../core/interfaces/rule.ts';
import type { PluginAccess } from '../../plugins/third-party/plugin-access.ts';
import type { JournalWitness } from '../../store/journal-witness.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Base, resolveBase } from '../../workspace/git/resolve-commit.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import type { ResolvedRange } from '../../workspace/patch/read-patch.ts';
import type { FindSearch } from '../../workspace/process/workspace-file.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { TaskAdvice } from '../plan/plan-advice.ts';
import type { SecretSource } from './run-secrets.ts';
import type { Spent } from './spent.ts';

/** Where the candidate change comes from. */
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
   * Verifies this user's journals on this machine; absent: a witness for this process only, so every later process
   * repeats the checks.
   */
  readonly witness?: JournalWitness;
  /** The network that the egress proxy connects to; absent: the real one. */
  readonly outside?: Outside;
  /** The user's trust in plugins that the repository lists; absent: none. */
  readonly pluginAccess?: PluginAccess;
  /** Finds base URL and key of the provider for a worker's model; absent: no model can be called. */
  readonly reach?: ReachProvider;
  /** The worker's model, if it is already open from drafting the spec. */
  readonly model?: OpenModel;
  /** Finds the web search back end for a model; absent: none. */
  readonly search?: FindSearch;
  /** The user's own MCP servers; absent: only those of the policy commit. */
  readonly mcp?: McpAccess;
  /** The user's folder, whose `AGENTS.md` and skills the models of a session get; absent: none is read. */
  readonly userDirectory?: string | undefined;
  /** Shows commands in the background to a person; absent: to none. */
  readonly commands?: CommandBoard;
  /** Secrets that the user keeps; absent: none. */
  readonly secrets?: SecretSource;
  /** Approvers in this process once the run waits for approval; their signatures are marked as in-process. */
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
  /** Prompts a person about local changes at these paths; absent: no one can answer. */
  readonly askLocalChanges?: (dirty: readonly DirtyPath[]) => Promise<LocalChanges>;
  /** The change belongs to a session goal; the session prompts its person about failing tests that were rewritten. */
  readonly isForGoal?: true;
  /** Tests that earlier runs of the goal rewrote, with the ids of the checks that run them. */
  readonly rewritten?: RewrittenTests & { readonly checks: readonly string[] };
  /** Revisions of the plan within the run, where fewer than the engine allows. */
  readonly maxReplans?: number;
  /** The person to prompt while a worker works; absent: no one can answer. */
  readonly person?: Person;
  /** Listener for worker progress. */
  readonly watch?: WorkWatch;
  /** Listener for every model call, before it is made. */
  readonly meter?: ModelMeter;
  /** The run is an entry of the merge queue, and the next entry may be evaluated on its commit. */
  readonly queued?: QueuedRun;
}

/** How a run of the merge queue and the one before it depend on each other (`docs/decisions/0037-merge-queue.md`). */
export interface QueuedRun {
  /** Called before any check with the commit that the run makes if it is sealed; not called if that is unknown. */
  foretell(commit: string): void;
  /** Absent for the first entry, which lands on the tip of its target. */
  readonly ahead?: {
    /** The commit that the run before makes: base, policy and expected tip of this one. */
    readonly commit: string;
  };
  /**
   * Resolves before this run is sealed: whether its entry is in the queue, and the target at the commit of `ahead`. If
   * not, nothing of the run is kept.
   */
  maySeal(): Promise<boolean>;
}

/** One `writ run`, with everything that the outside decides. */
export interface RunRequest extends RunSettings {
  /** A UUIDv7 already assigned by a draft; absent: a new one. */
  readonly runId?: string;
  /** Model usage of drafting the spec; counts towards the run. */
  readonly drafting?: Spent;
  /**
   * How the Tasks are to be done, as a person read and confirmed it. Absent: the model is called for it at the start.
   */
  readonly advice?: readonly TaskAdvice[];
  /** Why the run that this one repairs was refused, with the output of its checks. Untrusted text. */
  readonly failedBefore?: string;
  readonly repositoryPath: string;
  /** That repository, where the caller has opened it for writing. */
  readonly repository?: Repository;
  /** The IntentSpec as its author gave it. */
  readonly specBytes: Uint8Array;
  readonly source: ChangeSource;
  /** Id of the commit that a patch was made on; absent: that of `baseRef`. */
  readonly startsAt?: string;
  /** Target branch by name, without `refs/heads/`. */
  readonly onto?: string;
  /** Only this branch's policy may apply; otherwise POLICY_MISMATCH. */
  readonly policy?: string;
  /** Refuses, TARGET_MOVED, where the change would have to be merged onto the tip of its target. */
  readonly noMerge?: boolean;
  /** The range is the commit at the tip of the target: the sealed commit replaces it. COMMIT_PUBLISHED. */
  readonly replaces?: boolean;
  /** Evaluates the change and seals nothing: no key, no decision, no record, no change of the working tree. */
  readonly noSeal?: boolean;
  /** Called before any work with where the change lands; throws if it could not be pushed from there. */
  readonly requirePush?: (
    repository: Repository,
    landing: { readonly target: string; readonly base?: string; readonly policy?: string },
  ) => Promise<void>;
  /** Message of the sealed commit; replaces the message from the range or the spec. */
  readonly message?: string;
  /** Author of the sealed commit, `Name <mail>`. */
  readonly author?: string;
  /** Sandbox back end by name, or `auto`. */
  readonly sandbox: string;
  /** Listener for issues, found before any work, that make the whole run useless. */
  readonly hear?: (issue: Issue) => void;
}

/** One `writ resume`. */
export interface ResumeRequest extends RunSettings {
  readonly repositoryPath: string;
  /** Id or unambiguous beginning of one. */
  readonly runId: string;
  /**
   * Sandbox back end by name, or `auto`. Absent: the one that the run's checks used on this machine, if it still
   * works here. If any check is left to run, checks that ran in another back end run again.
   */
  readonly sandbox?: string;
  /**
   * Worker for the remaining work: its name in slot `worker`, created from `from`, otherwise from the data that the
   * run started with here. Throws NO_WORKER if the run needs a worker and gets none.
   */
  readonly worker?: { readonly name: string; readonly from?: () => Promise<Uint8Array> };
  /**
   * The branch that the person who resumes wants moved; needed where only a claim names it, and then it must be that
   * one.
   */
  readonly onto?: string;
  /** Ends the run instead, for this reason. */
  readonly cancel?: string;
  /** Cost units that a person grants beyond the spec's `maxCostUnits`. */
  readonly moreCostUnits?: number;
  /** Lets calls be made again that left the machine in an attempt that was stopped. */
  readonly allowLostCalls?: boolean;
}

/** Where the change starts: the stated base, or the merge base for a range. */
export interface Origin {
  readonly base: Base;
  readonly range?: ResolvedRange;
}

/** Resolves where the change starts; REF_NOT_FOUND, REF_INVALID. */
export async function resolveOrigin(
  repository: Repository,
  {
    source,
    startsAt,
  }: Pick<RunRequest, 'startsAt'> & {
    readonly source: ChangeSource | { readonly kind: ChangeSource['kind'] };
  },
  contract: AdmittedContract,
): Promise<Origin> {
  if (!('range' in source))
    return { base: await resolveBase(repository, startsAt ?? contract.effective.metadata.target.baseRef) };
  const { resolveRange } = await import('../../workspace/patch/read-patch.ts');
  const range = await resolveRange(repository, source.range);
  return { base: range.base, range };
}

/** Which try at which Task of a plan. */
export interface WatchedAttempt {
  /** Key of the Task. */
  readonly task: string;
  /** From 1. */
  readonly attempt: number;
  /** Attempts that the Task has. */
  readonly most: number;
  /** What failed before, if it is tried again: one fault a line, then output. */
  readonly why?: string;
}

/** Observer of workers. An exception that it throws stops the attempt. */
export interface WorkWatch {
  /**
   * Called once per attempt; returns the listener for the pieces of its model's replies. `task`: its key, if the plan
   * has several.
   */
  listen(task?: string): (event: ModelEvent) => void;
  /** `taken`: its patch passed the checks of a single Task. */
  attempt(which: WatchedAttempt, state: 'began' | 'taken' | 'refused'): void;
}
