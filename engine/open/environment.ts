/* Finds the environment of a run: sandbox, plugins, configuration and repository name. */
import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { Journal } from '../../store/journal.ts';
import { hideRepository } from '../../workspace/git/hide-repository.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { nameRepository, type Repository, stateDirectory } from '../../workspace/git/repository.ts';
import { commitTimeMs } from '../../workspace/git/resolve-commit.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { readMachineFacts, requireSupportedOs } from '../../workspace/runtime/machine-facts.ts';
import { pickRuntimes, withTools } from '../../workspace/runtime/pick-runtimes.ts';
import { parseConfig } from '../config/config.ts';
import { sessionPolicyOf } from '../config/read-session-policy.ts';
import { sealingFormsOf } from '../config/sections.ts';
import { requireSpecAllowed } from '../config/session-policy.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { viewJournal } from '../record/journal-view.ts';
import type { StartedRun } from '../record/started-run.ts';
import { hooksNotRun } from '../state/commit-hooks.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import type { Landing } from '../state/policies.ts';
import type { ResumeRequest, RunRequest } from '../state/run-request.ts';
import { openVerifiers } from './open-parties.ts';
import { readConfig } from './read-config.ts';

/**
 * Finds the environment of a resumed run again, as at its start. Refuses an invalid config, an untrusted plugin, a
 * network that the policy denies, and a missing sandbox if the spec denies the network. Files below `.writ/` are read
 * at the policy commit.
 */
export async function prepareEnvironment(
  engine: WritEngine,
  request: Pick<RunRequest & ResumeRequest, 'sandbox' | 'pluginAccess' | 'outside' | 'cancel'>,
  contract: AdmittedContract,
  repository: Repository,
  landing: Landing,
): Promise<RunEnvironment> {
  const policyTree = landing.policy.tree;
  const configBytes = await readBlob(repository, policyTree, '.writ/config.toml');
  const cancels = request.cancel !== undefined;
  const forms = await sealingFormsOf(engine.slots);
  // A run can be cancelled even if one of its plugins is missing or no longer trusted.
  const config = cancels
    ? parseConfig(undefined, forms)
    : await readConfig(repository, policyTree, configBytes, forms);
  if (!cancels) requireSpecAllowed(sessionPolicyOf(config), contract.effective);
  const chosen = await chooseSandbox(engine, request.sandbox, contract);
  const { sandbox } = chosen;
  const { pluginAccess, outside } = request;
  const cacheDir = pluginCacheOf(repository);
  const question = { engine, repository, policyTree, configBytes, config, sandbox, cacheDir };
  const judges = await openVerifiers({ ...question, pluginAccess, outside, cancels });
  const operatingSystem = await requireOperatingSystem(contract);
  const { languageRuntime } = contract.effective.constraints.platform;
  const { versions, tools } = await pickRuntimes(sandbox, languageRuntime);
  const platform = { ...operatingSystem, ...versions };
  const armed = { ...chosen, sandbox: withTools(sandbox, tools) };
  return nameEnvironment(contract, repository, { ...landing, ...armed, ...judges, configBytes, platform });
}

/** Where files of plugins are kept between runs. */
export function pluginCacheOf(repository: Pick<Repository, 'commonDir'>): string {
  return join(stateDirectory(repository, 'cache'), 'plugins');
}

/** Throws OS_UNSUPPORTED. Runs only if the spec lists operating systems. */
export async function requireOperatingSystem({
  effective,
}: Pick<AdmittedContract, 'effective'>): Promise<Readonly<Record<string, string>>> {
  const { supportedOS } = effective.constraints.platform;
  return supportedOS.length === 0 ? {} : requireSupportedOs(supportedOS, await readMachineFacts());
}

/** Adds the repository's name and its base time, as statements use them, and its hooks. */
export async function nameEnvironment(
  { effective }: Pick<AdmittedContract, 'effective'>,
  repository: Repository,
  found: Omit<RunEnvironment, 'repository' | 'repositoryUri' | 'baseTimeMs' | 'unrunHooks'>,
): Promise<RunEnvironment> {
  const { commit } = found.base;
  const baseTimeMs = commit === undefined ? 0 : await commitTimeMs(repository, commit);
  const repositoryUri = await nameRepository(repository, effective.metadata.target.repo, commit);
  const sandbox = hideRepository(found.sandbox, repository);
  const unrunHooks = await hooksNotRun(repository, found.config.commit, found.replaces === true);
  return { ...found, sandbox, repository, repositoryUri, baseTimeMs, unrunHooks };
}

/**
 * Returns the sandbox of a run. Throws SANDBOX_UNAVAILABLE if none works, and SANDBOX_NONE_REFUSED for an unconfined
 * one if the spec denies the network.
 */
export async function chooseSandbox(
  engine: Pick<WritEngine, 'slots'>,
  name: string,
  contract: AdmittedContract,
): Promise<Required<Pick<RunEnvironment, 'sandbox' | 'passedOver'>>> {
  const denies = contract.effective.constraints.security.networkPolicy === 'deny';
  const passedOver: string[] = [];
  try {
    const sandbox = await pickSandbox(name, engine.slots.sandbox, (passed, reason) =>
      passedOver.push(`\`${passed}\` is installed and does not work here: ${reason.replaceAll(/\s+/g, ' ')}`),
    );
    if (!sandbox.unconfined || !denies) return { sandbox, passedOver };
    throw new WritError('SANDBOX_NONE_REFUSED', {
      hints: [
        `remove \`--sandbox ${sandbox.name}\``,
        'or set `constraints.security.networkPolicy` to `allow` in a new spec',
      ],
    });
  } catch (fault) {
    if (denies || !isWritError(fault, 'SANDBOX_UNAVAILABLE')) throw fault;
    throw new WritError('SANDBOX_UNAVAILABLE', {
      message: `${fault.message}; without a sandbox a check could reach more than the public hosts that \`networkPolicy: allow\` opens`,
      detail: fault.detail,
      hints: [
        ...fault.hints,
        'or pass `--sandbox none`: checks then have the whole network of this machine, and the provenance records that',
      ],
      cause: fault,
    });
  }
}

/**
 * Returns the default sandbox of a resumed run: that of its last checks, or else that of its start. Returns `auto` if
 * that sandbox does not work here, or if the journal is not this user's. A claim from another machine must not
 * disable the sandbox.
 */
export async function sandboxAgain(
  engine: Pick<WritEngine, 'slots'>,
  own: Pick<Journal, 'records'> | undefined,
  started: Pick<StartedRun, 'sandbox'>,
): Promise<string> {
  if (!own) return 'auto';
  const { sandbox = started.sandbox } = viewJournal(own.records);
  return pickSandbox(sandbox, engine.slots.sandbox).then(
    ({ name }) => name,
    () => 'auto',
  );
}
