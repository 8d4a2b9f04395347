import { resolve } from 'node:path';
import { openInProcessApprover } from '../../attest/approval/in-process-approver.ts';
import type { Environment } from '../../attest/keys/user-config-dir.ts';
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { InProcessApprover } from '../../core/contract/approval.ts';
import type {
  ChangeSource,
  ResumeRequest,
  RunRequest,
  RunSettings,
} from '../../engine/run/state/run-request.ts';
import { compact } from '../compact.ts';
import { userPluginAccess } from '../user-plugins.ts';
import { readVersion } from '../version.ts';
import { type GivenSpec, specBytes } from './given-spec.ts';

/** What every call about a run says. */
export interface RunPlace {
  /** A path in the repository. NOT_A_REPOSITORY. */
  readonly repository: string;
  /**
   * Sandbox back end by name, or `auto`; default `auto`, and of a run that goes on the one that it was in. `none` is
   * recorded in the provenance.
   */
  readonly sandbox?: string;
  /**
   * Who approves in this process once the run waits for people: paths of private keys, or approvers of the program's
   * own. What they sign is marked so, and counts only where `[approvals] in_process` is true at the policy commit.
   */
  readonly approveWith?: readonly (string | InProcessApprover)[];
  /**
   * Digests (`sha256:…`) of plugins that the repository lists and that are trusted for this call, besides those that
   * the user trusts.
   */
  readonly trustedPlugins?: readonly string[];
  /**
   * What happens to uncommitted changes at paths that the change touches, as `--local-changes`; default `stop`:
   * WORKTREE_DIRTY.
   */
  readonly localChanges?: 'stop' | 'set-aside' | 'include';
  /** Stops the work, RUN_INTERRUPTED; what has been moved stays moved or is rolled back, and the run can be resumed. */
  readonly signal?: AbortSignal;
}

/** One run: a contract, and where the change comes from. */
export interface RunCall extends RunPlace {
  readonly spec: GivenSpec;
  /** A patch, a range of commits that exist, or a worker that makes the change. */
  readonly source: ChangeSource;
  /** Target branch by name, without `refs/heads/`; default: as the contract says. */
  readonly onto?: string;
  /** The branch by whose policy alone it may be judged; POLICY_MISMATCH else. */
  readonly policy?: string;
  /** Refuses, TARGET_MOVED, where the change would have to be merged onto the tip of its target. */
  readonly noMerge?: boolean;
  /** Message of the sealed commit, instead of the range's or the contract's. */
  readonly message?: string;
  /** Author of the sealed commit, `Name <mail>`. */
  readonly author?: string;
}

/** Goes on with a run that was stopped or that waits. */
export interface ResumeCall extends RunPlace {
  /** Id of the run, or an unambiguous beginning of one. RUN_NOT_FOUND. */
  readonly run: string;
  /**
   * Who does what is left of a run that a worker does: by name in slot `worker`, made of `from`, else of what the run
   * was started with. NO_WORKER where one is needed and none is named.
   */
  readonly worker?: { readonly name: string; readonly from?: Uint8Array };
  /** The branch to move; needed where only a claim names it, and then it must be that one. */
  readonly onto?: string;
  /** Cost units (0.001 USD) that are granted beyond the contract's cap. */
  readonly moreCostUnits?: number;
  /** Lets calls be made again that had left the machine when an attempt was interrupted. */
  readonly allowLostCalls?: boolean;
}

/** Whom a call is for, and when. */
export interface Surroundings {
  /** Where the user's keys, trusted plugins and journals' witness are found. */
  readonly env: Environment;
  readonly clock: Clock;
}

/** What the engine is asked to run. */
export async function toRunRequest(
  call: RunCall,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<RunRequest> {
  const { repository, source, onto, policy, noMerge, message, author, sandbox = 'auto' } = call;
  return {
    ...compact({ onto, policy, noMerge, message, author }),
    ...(await toSettings(call, surroundings, signal)),
    repositoryPath: resolve(repository),
    specBytes: await specBytes(call.spec, signal),
    source,
    sandbox,
  };
}

/** What the engine is asked to go on with. */
export async function toResumeRequest(
  call: ResumeCall,
  surroundings: Surroundings,
  signal: AbortSignal,
): Promise<ResumeRequest> {
  const { repository, run, worker, onto, moreCostUnits, allowLostCalls, sandbox } = call;
  // Callers in JavaScript may leave it out.
  if (typeof run !== 'string')
    throw new WritError('RUN_NOT_FOUND', {
      message: `expected the id of a run as \`run\`, found ${typeof run}`,
    });
  return {
    ...compact({ onto, moreCostUnits, allowLostCalls, sandbox, worker: worker && toWorker(worker) }),
    ...(await toSettings(call, surroundings, signal)),
    repositoryPath: resolve(repository),
    runId: run,
  };
}

function toWorker({ name, from }: Required<ResumeCall>['worker']): ResumeRequest['worker'] {
  return { name, ...(from === undefined ? {} : { from: async () => from }) };
}

async function toSettings(
  { approveWith = [], trustedPlugins = [], localChanges }: RunPlace,
  { env, clock }: Surroundings,
  signal: AbortSignal,
): Promise<RunSettings> {
  const approvers: InProcessApprover[] = [];
  for (const one of approveWith)
    approvers.push(typeof one === 'string' ? await openInProcessApprover(resolve(one)) : one);
  return {
    ...compact({ localChanges }),
    schedulerVersion: readVersion(),
    pluginAccess: userPluginAccess(env, trustedPlugins),
    approvers,
    witness: userJournalWitness(env),
    clock,
    signal,
  };
}
