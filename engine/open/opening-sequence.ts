/* The preflight checks of a run in order, and the change that the user supplies to it. */
import { findProgramOf, requireModelRule } from '../../agent/external/recipes.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { identityOf } from '../../workspace/git/commit-log.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { touchedBy } from '../../workspace/git/dirty-paths.ts';
import { mergeLocal, readLocalContent } from '../../workspace/git/include-local.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import { type Scratch, writingTo } from '../../workspace/git/scratch.ts';
import { requireLandable } from '../../workspace/git/set-aside.ts';
import { commitSigning, createSignedCommit } from '../../workspace/git/sign-commit.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { patchFromBytes, patchFromRange, pathsNamed } from '../../workspace/patch/read-patch.ts';
import { pickRuntimes, withTools } from '../../workspace/runtime/pick-runtimes.ts';
import { sessionPolicyOf } from '../config/read-session-policy.ts';
import type { CommitConfig } from '../config/sections.ts';
import { requireSpecAllowed } from '../config/session-policy.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import { planFor } from '../plan/plan-tasks.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import {
  chooseLocalChanges,
  filesToLand,
  type LocalDecision,
  predictedFiles,
  readWording,
  requireNothingToInclude,
  targetHere,
} from '../state/commit-wording.ts';
import { isBuiltIn, openModel } from '../state/open-model.ts';
import type { Landing } from '../state/policies.ts';
import type { ChangeSource, Origin, RunRequest } from '../state/run-request.ts';
import { openSecrets, withHanded } from '../state/run-secrets.ts';
import { chooseSandbox, nameEnvironment, requireOperatingSystem } from './environment.ts';
import { askedOf, openParties, openVerifiers, openWorker } from './open-parties.ts';
import {
  type Check,
  checkSpec,
  type Found,
  given,
  type OpeningPlace,
  type OpeningRequest,
} from './opening.ts';
import { readAuthorship, requireKnownAuthor } from './read-authorship.ts';
import { checkRepository } from './repository-checks.ts';
import { requireArtifacts, requireCiting, requireLockfiles, requirePartSecrets } from './requirements.ts';

/** A run to open, or only to plan. */
interface OpeningQuestion {
  readonly engine: WritEngine;
  readonly request: OpeningRequest;
  readonly place: OpeningPlace;
  readonly runId: string;
  /** Absent where the change is not known yet. */
  readonly source?: ChangeSource;
  /** What kind of change is meant, also where it is not known yet. */
  readonly kind: ChangeSource['kind'];
}

/** The checks that need no repository. The worker comes first: it determines which rows must be enforced. */
export async function checkRequest(check: Check, { engine, request, source }: OpeningQuestion) {
  const change = given(source);
  const worker = await check('worker-opens', 'change', '', () => openWorker(engine, change()));
  const admitted = await check('contract-read', 'contract', '', () =>
    readContract(engine, request.specBytes),
  );
  await checkSpec(check, engine.ledger, admitted, worker);
  await check('worker-cites', 'contract', '/evidence/minCitationsPerDecision', () =>
    requireCiting(worker(), admitted().effective),
  );
  return { worker, admitted };
}

type RequestResults = Awaited<ReturnType<typeof checkRequest>>;
type RepositoryResults = Awaited<ReturnType<typeof checkRepository>>;

/** The checks of repository, machine and change. */
export async function checkRest(check: Check, question: OpeningQuestion, asked: RequestResults) {
  const { engine, request, kind } = question;
  const who = planFor(kind === 'worker', asked.worker.isFound ? asked.worker() : undefined);
  const about = { ...question, plugins: askedOf(engine), who } as const;
  const repository = await checkRepository(check, about, asked.admitted);
  await check('network-permitted', 'contract', '/constraints/security/networkPolicy', () =>
    requireSpecAllowed(sessionPolicyOf(repository.read().config), asked.admitted().effective),
  );
  // A model call needs its key and its configuration. A third-party model is known only after its plugin is opened.
  const builtInModel = await check('model-opens', 'machine', '', () => {
    const [worker, { config }] = [asked.worker(), repository.read()];
    return isBroughtAlong(engine, worker) ? undefined : openModel(engine, worker, request, { config });
  });
  const machine = await checkMachine(check, question, asked.admitted, repository);
  const pluginModel = await check('plugin-model-opens', 'machine', '', () => {
    const [worker, { config, plugins }] = [asked.worker(), machine.judges()];
    return isBroughtAlong(engine, worker)
      ? openModel(engine, worker, request, { config, plugins })
      : undefined;
  });
  await check('agent-allowed', 'machine', '/security/toolAcl', () => {
    const [external, model] = [asked.worker()?.external, pluginModel()];
    if (external === undefined || model?.external === undefined) return;
    const { base, recipe } = model.external;
    findProgramOf(external, recipe);
    requireModelRule(asked.admitted().effective, external, base, machine.sandbox().sandbox);
  });
  const change = await checkChange(check, question, repository);
  return { ...repository, ...machine, ...change, builtInModel, pluginModel };
}

function isBroughtAlong(engine: Pick<WritEngine, 'slots'>, worker: Worker | undefined): boolean {
  return worker?.model !== undefined && !isBuiltIn(engine, worker.model.provider);
}

/** What this machine shows: system, sandbox, tools, and what its user trusts and signs with. */
async function checkMachine(
  check: Check,
  { engine, request, place }: OpeningQuestion,
  admitted: Found<AdmittedContract>,
  { repository, landing, read, evaluatesOnly, contract }: RepositoryResults,
) {
  const sandbox = await check('sandbox-works', 'machine', '/constraints/security/networkPolicy', () =>
    chooseSandbox(engine, request.sandbox, admitted()),
  );
  const judges = await check('judges-trusted', 'machine', '', () =>
    openVerifiers({
      engine,
      ...read(),
      repository: repository(),
      policyTree: landing().policy.tree,
      sandbox: sandbox().sandbox,
      cacheDir: place.pluginCache(repository()),
      pluginAccess: request.pluginAccess,
      outside: request.outside,
    }),
  );
  const operatingSystem = await check(
    'system-supported',
    'machine',
    '/constraints/platform/supportedOS',
    () => requireOperatingSystem(admitted()),
  );
  const runtimes = await check('runtime-found', 'machine', '/constraints/platform/languageRuntime', () =>
    pickRuntimes(sandbox().sandbox, admitted().effective.constraints.platform.languageRuntime),
  );
  const environment = await check('ground-named', 'machine', '', () =>
    nameEnvironment(admitted(), repository(), {
      ...landing(),
      ...sandbox(),
      sandbox: withTools(sandbox().sandbox, runtimes().tools),
      ...judges(),
      configBytes: read().configBytes,
      platform: { ...operatingSystem(), ...runtimes().versions },
    }),
  );
  const secrets = await check('secrets-found', 'machine', '/security/secrets', async () => {
    const [{ plugins }, { effective }] = [judges(), admitted()];
    return withHanded(await openSecrets(effective, request.secrets), await plugins.secrets());
  });
  await check('plugins-handed', 'machine', '', () => requirePartSecrets(judges()));
  await check('artifacts-makeable', 'machine', '/artifacts/required', () =>
    requireArtifacts(engine, contract().effective, judges().config),
  );
  const sealing = await check('seal-opens', 'machine', '/provenance', async () => {
    if (evaluatesOnly()) return undefined;
    const parts = { repository: repository(), policy: landing().policy, plugins: judges().plugins };
    return openParties(engine, contract(), { ...parts, config: read().config }, place.dry);
  });
  return { sandbox, judges, environment, secrets, sealing };
}

/** What the change itself shows, before any rule evaluates it. */
async function checkChange(
  check: Check,
  { request, place, source }: OpeningQuestion,
  { repository, origin, landing, read, evaluatesOnly, contract, planned }: RepositoryResults,
) {
  const change = given(source);
  const wording = await check('wording-readable', 'change', '', () =>
    readWording(repository(), { ...request, source: change() }, origin()),
  );
  const candidate = await check('candidate-taken', 'change', '', async () => {
    const asked = { ...request, source: change() };
    const [from, to] = [origin(), landing()];
    const scratch = await place.makeScratch(repository());
    return { scratch, ...(await takeWithChanges(scratch, repository(), asked, from, to)) };
  });
  await check('commit-signable', 'machine', '', async () => {
    const { scratch } = candidate();
    if (!place.dry && !evaluatesOnly())
      await trySigning(scratch, repository(), landing().base, read().config.commit);
  });
  await check('lockfiles-there', 'change', '', () => {
    const [{ scratch, supplied }, { scope }] = [candidate(), planned()];
    const made = supplied ? { tree: supplied.candidateTree } : { scope };
    return requireLockfiles(scratch, landing().base.tree, read().config.workspace, made);
  });
  await check('governed-by-people', 'change', '', async () => {
    const { scratch, supplied } = candidate();
    if (supplied) await requireOldSigners(scratch, landing().policy, supplied);
  });
  await check('paths-clean', 'change', '', async () => {
    const { scratch, supplied, local } = candidate();
    const { target } = landing();
    if (!supplied || !target.checkedOutHere || local?.included || evaluatesOnly()) return;
    const files = await filesToLand(scratch, landing(), supplied);
    await requireLandable(repository(), target, files, local?.choice);
  });
  const predicted = await check('predicted-paths-clean', 'change', '', () => {
    const asked = { ...request, source: change() };
    return settlePredicted(candidate().scratch, repository(), asked, landing(), planned().draft);
  });
  const authorship = await check('author-known', 'change', '/risk/humanInLoop', async () => {
    const [{ supplied }, { effective }] = [candidate(), contract()];
    const authorship = await readAuthorship(repository(), change(), origin().range);
    requireKnownAuthor(authorship, effective, supplied);
    return authorship;
  });
  // Last, because it needs a network.
  await check('push-possible', 'repository', '', async () => {
    const { target, base, policy } = landing();
    const { commit } = base;
    const at = { ...(commit && { base: commit }), ...(policy.commit && { policy: policy.commit }) };
    if (!evaluatesOnly()) await request.requirePush?.(repository(), { target: target.ref, ...at });
  });
  return { wording, candidate, predicted, authorship };
}

/** COMMIT_NOT_SIGNED before the work, rather than after it: signs a commit that no ref leads to. */
async function trySigning(
  scratch: Scratch,
  repository: Repository,
  { tree }: Base,
  { sign }: CommitConfig,
): Promise<void> {
  const signing = await commitSigning(repository, sign);
  if (signing === undefined) return;
  const who = (await identityOf(repository)) ?? { name: 'writ', email: 'scheduler@writ.invalid' };
  const people = { author: who, committer: who, authoredAtMs: 0, committedAtMs: 0 };
  await createSignedCommit(
    writingTo(scratch, repository),
    { tree, parents: [], message: 'A trial\n', ...people },
    signing,
  );
}

/** A supplied candidate, and what happens to local changes at its paths. */
interface SuppliedChange {
  readonly supplied: PatchSet | undefined;
  readonly local: LocalDecision | undefined;
}

type Asked = Pick<RunRequest, 'source' | 'localChanges' | 'askLocalChanges'>;

/**
 * A supplied change, with the local changes at its paths merged into it if the user includes them. A patch that was
 * made on the local content applies on top of that. WORKTREE_DIRTY if local changes conflict or cannot be included, and
 * what `takeCandidate` throws.
 */
async function takeWithChanges(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target' | 'replaces'>,
): Promise<SuppliedChange> {
  const { base, target } = landing;
  let made: PatchSet | undefined;
  try {
    made = await takeCandidate(scratch, request, origin, landing);
  } catch (fault) {
    if (!isWritError(fault, 'PATCH_DOES_NOT_APPLY')) throw fault;
    if (!target.checkedOutHere) {
      const { source, localChanges } = request;
      if (source.kind === 'patch' && localChanges === 'include')
        await requireNothingToInclude(repository, target.ref, touchedBy(pathsNamed(source.bytes)));
      throw fault;
    }
    const taken = await takeOnTop(scratch, repository, request, origin, landing);
    if (taken === undefined) throw fault;
    return taken;
  }
  if (made === undefined) return { supplied: made, local: undefined };
  if (!target.checkedOutHere) {
    if (request.localChanges === 'include') await requireNothingToInclude(repository, target.ref, made.files);
    return { supplied: made, local: undefined };
  }
  const files = await filesToLand(scratch, landing, made);
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include' || dirty.length === 0)
    return { supplied: made, local: choice === 'stop' ? undefined : { choice } };
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const tree = await mergeLocal(scratch, base.tree, made.candidateTree, included);
  return { supplied: await normalisePatch(scratch, base, tree), local: { choice, included } };
}

/** The patch applied on top of the local changes at the paths that it names; `undefined` if there are none. */
async function takeOnTop(
  scratch: Scratch,
  repository: Repository,
  request: Asked,
  origin: Origin,
  { base, target }: Pick<Landing, 'base' | 'target'>,
): Promise<SuppliedChange | undefined> {
  const { source } = request;
  // A patch for an older commit was made on that commit, not on the working tree.
  if (source.kind !== 'patch' || origin.base.commit !== base.commit) return undefined;
  const files = touchedBy(pathsNamed(source.bytes));
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include' || dirty.length === 0) return undefined;
  const included = await readLocalContent(repository, scratch, base.tree, target, dirty);
  const { candidateTree } = await patchFromBytes(scratch, { ...base, tree: included.tree }, source.bytes);
  return {
    supplied: await normalisePatch(scratch, base, candidateTree),
    local: { choice: 'include', included },
  };
}

/**
 * Reads a supplied change as a patchset in the scratch. Throws a PATCH_ error if it is not a valid change of this
 * repository. If the target advanced since the change started, the result is the three-way merge onto its tip, so
 * that writ checks exactly what lands. Returns `undefined` if a worker will make the change.
 */
async function takeCandidate(
  scratch: Scratch,
  request: Pick<RunRequest, 'source'>,
  origin: Origin,
  landing: Pick<Landing, 'base' | 'target'>,
): Promise<PatchSet | undefined> {
  const made = origin.range
    ? await patchFromRange(scratch, origin.range)
    : request.source.kind === 'patch'
      ? await patchFromBytes(scratch, origin.base, request.source.bytes)
      : undefined;
  if (made === undefined || origin.base.commit === landing.base.commit) return made;
  const merged = await mergeTrees(scratch, origin.base.tree, landing.base.tree, made.candidateTree);
  if (merged.tree !== undefined) return normalisePatch(scratch, landing.base, merged.tree);
  const paths = merged.conflicts.map(printable);
  const listed = paths.slice(0, 5).map((path) => `\`${path}\``);
  const more = paths.length > listed.length ? ` and ${paths.length - listed.length} more` : '';
  throw new WritError('PATCH_CONFLICT', {
    message: `the change conflicts with \`${printable(landing.target.ref)}\` in ${listed.join(', ')}${more}`,
    detail: { ref: landing.target.ref, tip: landing.base.commit, paths: paths.slice(0, 1000) },
  });
}

/**
 * What happens to local changes at the paths that a worker is predicted to write. WORKTREE_DIRTY; nothing for a
 * supplied change, whose paths are known.
 */
async function settlePredicted(
  scratch: Scratch,
  repository: Repository,
  request: Asked & Pick<RunRequest, 'heldFor' | 'advice'>,
  landing: Landing,
  draft: PlanDraft,
): Promise<LocalDecision | undefined> {
  const target = await targetHere(repository, landing, request.heldFor);
  if (request.source.kind !== 'worker') return undefined;
  const files = predictedFiles(draft, request.advice);
  if (target === undefined) {
    if (request.localChanges !== 'include') return undefined;
    await requireNothingToInclude(repository, landing.target.ref, files);
    return { choice: 'include' };
  }
  const { choice, dirty } = await chooseLocalChanges(request, repository, target, files);
  if (choice !== 'include') {
    await requireLandable(repository, target, files, choice);
    return choice === 'stop' ? undefined : { choice };
  }
  if (dirty.length === 0) return { choice };
  return { choice, included: await readLocalContent(repository, scratch, landing.base.tree, target, dirty) };
}
