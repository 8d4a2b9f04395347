import type { Worker } from '../../core/interfaces/worker.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { requireLandable } from '../../workspace/git/set-aside.ts';
import { pickRuntimes, withTools } from '../../workspace/runtime/pick-runtimes.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import { readWording } from '../state/commit-wording.ts';
import { isBuiltIn, openModel } from '../state/open-model.ts';
import type { ChangeSource } from '../state/run-request.ts';
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
import { settlePredicted, takeWithChanges } from './supplied-change.ts';

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
  const who = kind === 'worker' ? 'worker' : 'patch';
  const about = { ...question, plugins: askedOf(engine), who } as const;
  const repository = await checkRepository(check, about, asked.admitted);
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
  { repository, landing, read, contract }: RepositoryResults,
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
  const sealing = await check('seal-opens', 'machine', '/provenance', () => {
    const parts = { repository: repository(), policy: landing().policy, plugins: judges().plugins };
    return openParties(engine, contract(), { ...parts, config: read().config }, place.dry);
  });
  return { sandbox, judges, environment, secrets, sealing };
}

/** What the change itself shows, before any rule evaluates it. */
async function checkChange(
  check: Check,
  { request, place, source }: OpeningQuestion,
  { repository, origin, landing, read, contract, planned }: RepositoryResults,
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
    const { supplied, local } = candidate();
    const { target } = landing();
    if (supplied && target.checkedOutHere && !local?.included)
      await requireLandable(repository(), target, supplied.files, local?.choice);
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
  return { wording, candidate, predicted, authorship };
}
