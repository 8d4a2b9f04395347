/* Finds the untracked dependencies and the secrets that checks are given. */
import { join } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../core/interfaces/intentspec.gen.ts';
import type { CheckRecord, StageName } from '../../core/interfaces/stage.ts';
import { isApproverCheck, leastApprovers } from '../../spec/facts.ts';
import { processWitness } from '../../store/journal-witness.ts';
import { isIgnoredPath } from '../../workspace/git/dirty-paths.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { stateDirectory } from '../../workspace/git/repository.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import type { PrepareObserver } from './workspace-dependencies/prepared-directories.ts';
import type { ProvidedDirectory } from './workspace-dependencies.ts';
import { type FoundDependencies, findWorkspaceDependencies } from './workspace-dependencies.ts';

interface DependencyAsker {
  readonly environment: Pick<OpenRun['environment'], 'config' | 'repository' | 'sandbox'>;
  readonly services: Pick<OpenRun['services'], 'signal'> & {
    readonly settings: Pick<OpenRun['services']['settings'], 'outside' | 'witness'>;
  };
}

/** What checks of a tree that was exported to `workspace` are given (`[workspace]` at the policy commit). */
export async function findDependencies(
  { environment, services: { settings, signal } }: DependencyAsker,
  workspace: string,
  readBase: (path: string) => Promise<Uint8Array | undefined>,
  readCandidate: (path: string) => Promise<Uint8Array | undefined>,
  observer?: PrepareObserver,
): Promise<FoundDependencies> {
  return findWorkspaceDependencies({
    config: environment.config.workspace,
    worktree: environment.repository.root,
    workspace,
    cacheDir: join(stateDirectory(environment.repository, 'cache'), 'workspace'),
    sandbox: environment.sandbox,
    maxMemoryBytes: maxMemoryBytes(environment.config),
    ...(settings.outside === undefined ? {} : { outside: settings.outside }),
    voucher: await (settings.witness ?? processWitness).voucher('workspace-prepare'),
    readBase,
    readCandidate,
    isIgnored: (path) => isIgnoredPath(environment.repository, path),
    ...(observer === undefined ? {} : { observer }),
    signal,
  });
}

interface Asked {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  readonly earlier: readonly CheckRecord[];
}

type Asking = Pick<Attempt, 'identity' | 'services' | 'approvals'>;

const nothing: Readonly<Record<string, string>> = {};

/**
 * The secrets that a check is given, by variable (docs/guides/vault.md). What may change something (`allow-scoped`)
 * gets to no check but commands and suites of the release stage, and not before people approved what these will run
 * on.
 */
export function givenSecrets(attempt: Asking, task: Asked): Readonly<Record<string, string>> {
  const { given } = attempt.services.secrets;
  if (!mayWrite(attempt)) return given;
  return isForRelease(task) && isApproved(attempt, task) ? given : nothing;
}

/** What a check waits for that would be given such secrets. */
export function secretsAwaited(attempt: Asking, task: Asked): Omit<Finding, 'rule'> | undefined {
  const names = Object.keys(attempt.services.secrets.given);
  if (!mayWrite(attempt) || names.length === 0 || !isForRelease(task) || isApproved(attempt, task))
    return undefined;
  const { security, risk } = attempt.identity.contract.effective;
  const needed = approversNeeded(attempt);
  const scopes = security.secrets.allowedScopes.map((scope) => `\`${scope}\``).join(', ');
  return {
    severity: 'note',
    message: `waits until ${needed} people approved that it is given secrets which may change something (${scopes}): ${risk.rationale.slice(0, 1000)}`,
    detail: { code: 'SECRETS_AWAITED', waiting: true, needed },
  };
}

function mayWrite({ identity: { contract } }: Asking): boolean {
  return contract.effective.security.secrets.policy === 'allow-scoped';
}

function isForRelease({ stage, check }: Asked): boolean {
  return stage === 'release' && check.kind !== 'policy';
}

/** The checks that wait for people passed, which run before all others, and enough people spoke, none against it. */
function isApproved(attempt: Asking, { earlier }: Asked): boolean {
  const asking = earlier.filter(isApproverCheck);
  if (asking.length === 0 || !asking.every(({ status }: CheckRecord) => status === 'passed')) return false;
  const counted = attempt.approvals.filter(({ status }) => status === 'counts');
  if (counted.some(({ decision }) => decision === 'reject')) return false;
  return new Set(counted.map(({ principal }) => principal)).size >= approversNeeded(attempt);
}

function approversNeeded({ identity: { contract } }: Asking): number {
  return Math.max(leastApprovers, contract.effective.risk.humanInLoop.minApprovers);
}

type Directories = Promise<readonly ProvidedDirectory[]>;

/** Of one run in this process, by the tree that attempts start from. */
const known = new WeakMap<object, Map<string, Directories>>();

/**
 * Directories that checks of a tree would be given (`[workspace]` at the policy commit); empty if they cannot be
 * prepared.
 */
export function givenDirectories(run: OpenRun, workspace: string, tree: string): Directories {
  const { share, prepare } = run.environment.config.workspace;
  if (share.length + prepare.length === 0) return Promise.resolve([]);
  const trees = known.get(run.environment) ?? new Map<string, Directories>();
  known.set(run.environment, trees);
  const found = trees.get(tree) ?? find(run, workspace, tree);
  trees.set(tree, found);
  return found;
}

async function find(run: OpenRun, workspace: string, tree: string): Directories {
  const read = (path: string) => readBlob(run.services.scratch, tree, path);
  try {
    return (await findDependencies(run, workspace, read, read)).provided;
  } catch (fault) {
    run.services.signal.throwIfAborted();
    // The checks of the change will report this error.
    if (!isWritError(fault, 'WORKSPACE_PREPARE_FAILED')) throw fault;
    return [];
  }
}
