/* Preflight checks on the repository and its configuration, and the preview of a spec that runs only them. */
import { existsSync, realpathSync } from 'node:fs';
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import { builtInLedger } from '../../spec/contract-rows.ts';
import { requireObjects } from '../../workspace/git/hash-tree.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository, type RepositoryUse } from '../../workspace/git/repository.ts';
import {
  type Base,
  countCommits,
  isAncestor,
  mergeBase,
  treeOf,
} from '../../workspace/git/resolve-commit.ts';
import { findPolicy, planTarget, requireReplaceable, type Target } from '../../workspace/git/target.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { openRunStore } from '../intent/find-intent.ts';
import { requireActive, requireSameMetadata } from '../intent/intent-history.ts';
import type { PlanFor } from '../plan/plan-tasks.ts';
import { effectiveScope } from '../plan/scope.ts';
import { findForeignPolicy, type Landing, requirePolicyOf, withConfig } from '../state/policies.ts';
import { type ChangeSource, type Origin, type RunRequest, resolveOrigin } from '../state/run-request.ts';
import type { RunPlugins } from './open-parties.ts';
import {
  type Check,
  checkSpec,
  type Found,
  given,
  type OpeningPlace,
  type OpeningRequest,
  openChecks,
  refusalIssues,
  resultsOf,
} from './opening.ts';
import { draftPlan, noticesOf, readPlanEnvironment } from './plan-environment.ts';
import { readConfig } from './read-config.ts';
import { requireDependencies } from './requirements.ts';

/** What the checks of the repository are asked about. */
interface RepositoryQuestion {
  readonly plugins: RunPlugins;
  readonly request: OpeningRequest;
  readonly place: OpeningPlace;
  readonly runId: string;
  /** Absent where the change is not known yet. */
  readonly source?: ChangeSource;
  /** What kind of change is meant, also where it is not known yet. */
  readonly kind: ChangeSource['kind'];
  readonly who: PlanFor;
}

/** What the repository shows: its refs, what it knows of the intent, and the configuration at the policy commit. */
export async function checkRepository(
  check: Check,
  { plugins, request, place, runId, source, kind, who }: RepositoryQuestion,
  admitted: Found<AdmittedContract>,
) {
  const repository = await check('repository-stated', 'repository', '/metadata/target/repo', async () => {
    const use = { onlyReads: place.onlyReads === true };
    return place.keep(await openStatedRepository(request, admitted(), use));
  });
  const store = await check('store-opens', 'repository', '/objmodel/objectStore/backend', () =>
    openRunStore(plugins.stores, repository(), request.clock, admitted().effective, () =>
      readBlob(repository(), landing().policy.tree, '.writ/config.toml'),
    ),
  );
  await check('metadata-kept', 'repository', '/metadata', () => requireSameMetadata(store(), admitted()));
  await check('intent-active', 'repository', '/lifecycle/status', () => requireActive(store(), admitted()));
  const origin = await check('start-found', 'repository', '/metadata/target/baseRef', () =>
    resolveOrigin(repository(), { ...request, source: source ?? { kind } }, admitted()),
  );
  const landing = await check('landing-chosen', 'repository', '/metadata/target/baseRef', () =>
    chooseLanding(repository(), { ...request, kind }, admitted(), runId, origin()),
  );
  await check('objects-here', 'repository', '/metadata/target/repo', () => {
    const { base, range } = origin();
    const { base: landsOn, policy } = landing();
    const trees = [landsOn.tree, policy.tree, base.tree, ...(range ? [range.tipTree] : [])];
    return requireObjects(repository(), trees);
  });
  const read = await check('config-read', 'repository', '', async () => {
    const { tree } = landing().policy;
    const configBytes = await readBlob(repository(), tree, '.writ/config.toml');
    const forms = await plugins.sealingForms();
    return { configBytes, config: await readConfig(repository(), tree, configBytes, forms) };
  });
  await check('content-storable', 'repository', '/objmodel/objectStore/backend', async () => {
    read();
    await store().objects.content?.ready();
  });
  const evaluatesOnly = await check('mode-known', 'repository', '', () => {
    const isAdvised = read().config.mode === 'advise';
    if (isAdvised && request.heldFor !== undefined)
      throw new WritError('UNSUPPORTED_OPERATION', {
        message:
          '`[policy] mode = "advise"` at the policy commit: writ only evaluates changes there, so a session cannot make one',
        hints: ['set `mode = "enforce"` there, or evaluate a change with `writ run`'],
      });
    return isAdvised || request.noSeal === true;
  });
  const signers = await check('signers-read', 'repository', '/risk/humanInLoop', () =>
    readBlob(repository(), landing().policy.tree, '.writ/allowed_signers'),
  );
  const contract = await check('checks-joined', 'repository', '', () =>
    withConfig(admitted(), read().config),
  );
  await check('dependencies-seen', 'repository', '/acceptance/verificationPlan', () =>
    requireDependencies(repository(), landing().base.tree, contract().effective, read().config.workspace),
  );
  const planned = await check('plan-drafted', 'repository', '/intent/objectives', async () => {
    const spec = contract().effective;
    const environment = await readPlanEnvironment(repository(), landing().base.tree, spec);
    const scope = effectiveScope(spec, environment.rootNames);
    return { scope, draft: await draftPlan(plugins, { spec, scope, for: who, environment }) };
  });
  return { repository, store, origin, landing, read, evaluatesOnly, signers, contract, planned };
}

/** Where a change is to land, and its kind. */
type LandingRequest = Pick<RunRequest, 'onto' | 'heldFor' | 'noMerge' | 'policy' | 'replaces' | 'queued'> & {
  readonly kind: ChangeSource['kind'];
};

/**
 * Chooses target, policy and base of a run that starts. A change that starts behind the tip of its target is checked
 * as merged onto it. Throws TARGET_MOVED if that is not possible or not wanted.
 */
async function chooseLanding(
  repository: Repository,
  request: LandingRequest,
  contract: AdmittedContract,
  runId: string,
  { base: start, range }: Origin,
): Promise<Landing> {
  const { baseRef } = contract.effective.metadata.target;
  const { onto, queued } = request;
  const planned = await planTarget(repository, {
    ...(onto === undefined ? {} : { onto }),
    baseRef,
    baseCommit: start.commit,
    runId,
  });
  const target = queued?.ahead ? { ...planned, expected: queued.ahead.commit } : planned;
  if (request.replaces) {
    await requireReplaceable(repository, target, start, range?.tip);
    return { base: start, target, policy: start, replaces: true };
  }
  const policy = await findPolicy(repository, { target, baseRef, base: start });
  if (request.policy !== undefined) await requirePolicyOf(repository, request.policy, policy);
  const meant = request.heldFor === undefined ? target : { ref: request.heldFor };
  const foreign = await findForeignPolicy(repository, meant, policy);
  const tip = target.expected;
  if (tip !== undefined && tip !== start.commit) await requireMergeable(repository, request, target, start);
  if (tip === undefined && range && policy.ref !== undefined && policy.commit !== undefined)
    await requireOfOthers(repository, policy.ref, policy.commit, range.tip, start.commit);
  const commits =
    start.commit === undefined || policy.commit === undefined || policy.commit === start.commit
      ? 0
      : await countCommits(repository, start.commit, policy.commit);
  return {
    base:
      tip === undefined || tip === start.commit
        ? start
        : { commit: tip, tree: await treeOf(repository, tip) },
    target,
    policy,
    ...(start.commit === undefined || commits === 0 ? {} : { lag: { from: start.commit, commits } }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

async function requireMergeable(
  repository: Repository,
  { kind, noMerge }: LandingRequest,
  { ref, expected: tip = '' }: Target,
  { commit }: Base,
): Promise<void> {
  const shown = printable(ref);
  const isAhead = commit !== undefined && (await isAncestor(repository, commit, tip));
  if (isAhead && kind !== 'worker' && noMerge !== true) return;
  const why = !isAhead
    ? 'and does not hold it either'
    : kind === 'worker'
      ? 'and a change that is made here is made on the base'
      : 'and `--no-merge` was given';
  throw new WritError('TARGET_MOVED', {
    message: `\`${shown}\` is not at the base commit of the change, ${why}`,
    detail: { ref, expected: commit ?? null, found: tip },
    hints: [
      isAhead && kind !== 'worker'
        ? 'remove `--no-merge`: writ then merges the change onto that branch and evaluates the result'
        : 'choose a branch that is at the base commit, or a new one, with `--onto`; or start from that branch',
    ],
  });
}

/** If a branch holds commits of the range, the change could choose its own policy. */
async function requireOfOthers(
  repository: Repository,
  ref: string,
  policy: string,
  tip: string,
  start: string | undefined,
): Promise<void> {
  const shared = await mergeBase(repository, policy, tip);
  if (shared === undefined || (start !== undefined && (await isAncestor(repository, shared, start)))) return;
  throw new WritError('POLICY_IN_CANDIDATE', {
    message: `\`${printable(ref)}\`, whose policy would apply to the change, holds commits of the change itself`,
    detail: { ref, policy, shared },
  });
}

/**
 * Opens the repository that the spec names. For `local`, it must be the one at the locator, or a linked work tree of
 * it.
 */
export async function openStatedRepository(
  request: Pick<RunRequest, 'repositoryPath' | 'repository'>,
  contract: AdmittedContract,
  use: RepositoryUse = {},
): Promise<Repository> {
  const repository = request.repository ?? (await openRepository(request.repositoryPath, use));
  const { repo } = contract.effective.metadata.target;
  if (repo.type !== 'local') return repository;
  if (isSame(repo.locator, repository.root) || (await isWorkTreeOf(repository, repo.locator)))
    return repository;
  throw new WritError('REPOSITORY_MISMATCH', {
    message: `the spec is for \`${repo.locator}\`, this repository is \`${repository.root}\``,
    detail: { expected: repo.locator, found: repository.root },
    hints: ['go to that repository, or name it with `--repo PATH`'],
  });
}

/** True where `locator` is the root of another work tree of the repository. */
async function isWorkTreeOf(repository: Repository, locator: string): Promise<boolean> {
  const other = await openRepository(locator, { onlyReads: true }).catch(() => undefined);
  if (other === undefined || !isSame(locator, other.root)) return false;
  return isSame(other.commonDir, repository.commonDir);
}

function isSame(one: string, other: string): boolean {
  return existsSync(one) && realpathSync(one) === realpathSync(other);
}

/** Placeholder for a run id, because a preview creates no names from it. */
const ofNoRun = '00000000-0000-7000-8000-000000000000';

/**
 * Returns warnings for a run that is only previewed, from spec, repository and policy: its refusals and its notices.
 * Does not read the machine or the change.
 */
export async function previewContract(
  plugins: RunPlugins,
  request: OpeningRequest,
  admitted: AdmittedContract,
): Promise<readonly Issue[]> {
  const refused: Issue[] = [];
  await using readers = keepObjectReaders();
  const place: OpeningPlace = {
    dry: true,
    onlyReads: true,
    keep: (repository) => readers.keep(repository),
    makeScratch: unasked,
    pluginCache: unasked,
  };
  const check = openChecks((asked, fault) => refused.push(...refusalIssues(asked, fault)));
  const read = given(admitted);
  await checkSpec(check, builtInLedger(), read);
  const about = { plugins, request, place, runId: ofNoRun, kind: 'patch', who: 'worker' } as const;
  const found = resultsOf({ admitted: read, ...(await checkRepository(check, about, read)) });
  const added = (found.contract?.warnings ?? []).slice(admitted.warnings.length);
  return [...refused, ...added, ...noticesOf(found)];
}

function unasked(): never {
  throw new WritError('INTERNAL', { message: 'a contract alone makes nothing' });
}
