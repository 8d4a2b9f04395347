import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, WritError } from '../../../core/base/errors.ts';
import type { SandboxBackend } from '../../../core/contract/sandbox.ts';
import { joinRules } from '../../../core/kernel/rules.ts';
import { parseConfig } from '../../config/config.ts';
import { sealingFormsOf } from '../../config/sealing-forms.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { findPlugins } from '../../plugin-trust/find-plugins.ts';
import { openPlugins } from '../../plugin-trust/open-plugins.ts';
import { noPluginAccess } from '../../plugin-trust/plugin-access.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { pickSandbox } from '../../tool/pick-sandbox.ts';
import { checkRuntime } from '../../tool/runtime/check-runtime.ts';
import { readMachineFacts } from '../../tool/runtime/machine-facts.ts';
import { requireSupportedOs } from '../../tool/runtime/supported-os.ts';
import { readBlob } from '../../vcs/blobs.ts';
import { commitTimeMs } from '../../vcs/commit-time.ts';
import { nameRepository } from '../../vcs/name-repository.ts';
import { openRepository, type Repository } from '../../vcs/repository.ts';
import type { Ground } from '../state/ground.ts';
import type { Landing } from '../state/landing.ts';
import { maxMemoryBytes } from '../state/max-memory-bytes.ts';
import { openPolicies } from '../state/open-policies.ts';
import type { ResumeRequest, RunRequest } from '../state/run-request.ts';

/**
 * Finds everything a run stands on, and refuses here whatever can be refused before any work: wrong repository,
 * an invalid config, no sandbox for a contract that denies the network. Whatever stands below `.writ/` is read at the
 * policy commit.
 */
export async function prepareGround(
  engine: WritEngine,
  request: Pick<RunRequest & ResumeRequest, 'sandbox' | 'pluginAccess' | 'cancel'>,
  contract: AdmittedContract,
  repository: Repository,
  landing: Landing,
): Promise<Ground> {
  const { base, policy } = landing;
  const configBytes = await readBlob(repository, policy.tree, '.writ/config.toml');
  const passedOver: string[] = [];
  const sandbox = await chooseSandbox(engine, request, contract, passedOver);
  const cancels = request.cancel !== undefined;
  const forms = await sealingFormsOf(engine.slots);
  // A run can be ended although a plugin that was to judge it is gone or no longer trusted.
  const asked = parseConfig(cancels ? undefined : configBytes, forms);
  const plugins = await openPlugins(
    await findPlugins(repository, policy.tree, asked.plugins, request.pluginAccess ?? noPluginAccess),
    {
      cacheDir: join(repository.commonDir, 'writ', 'cache', 'plugins'),
      maxMemoryBytes: maxMemoryBytes(asked),
      sandbox: async () => (sandbox.unconfined ? pickSandbox('auto', engine.slots.sandbox) : sandbox),
    },
  );
  const rules = joinRules(engine.rules, plugins.rules, engine.slots.policy.names);
  const config = parseConfig(configBytes, { ...forms, ...(cancels ? {} : { ruleIds: rules.ids }) });
  const policies = await openPolicies(engine, repository, policy.tree, config.policies);
  const environment = await checkPlatform(contract, sandbox);
  const baseTimeMs = base.commit === undefined ? 0 : await commitTimeMs(repository, base.commit);
  const dependencies = [...plugins.dependencies, ...policies.dependencies];
  const { repo } = contract.effective.metadata.target;
  const repositoryUri = await nameRepository(repository, repo, base.commit);
  const found = {
    ...landing,
    repository,
    repositoryUri,
    baseTimeMs,
    config,
    configBytes,
    sandbox,
    passedOver,
    environment,
  };
  return { ...found, rules, policies, dependencies };
}

/**
 * Opens the repository that the contract is about: for `local` it must be the one at the locator, or a linked work tree
 * of it.
 */
export async function openStatedRepository(
  request: RunRequest,
  contract: AdmittedContract,
): Promise<Repository> {
  const repository = await openRepository(request.repositoryPath);
  const { repo } = contract.effective.metadata.target;
  if (repo.type !== 'local') return repository;
  const stated = await realpath(repo.locator).catch(() => repo.locator);
  if (stated === repository.root || (await isWorkTreeOf(repository, stated))) return repository;
  throw new WritError('REPOSITORY_MISMATCH', {
    message: `the spec is for \`${repo.locator}\`, this repository is \`${repository.root}\``,
    detail: { expected: repo.locator, found: repository.root },
    hints: ['run inside the stated repository, or name it with `--repo`'],
  });
}

/** True where `root` is the root of another work tree of the repository. */
async function isWorkTreeOf(repository: Repository, root: string): Promise<boolean> {
  const other = await openRepository(root).catch(() => undefined);
  if (other?.root !== root) return false;
  return (await realpath(other.commonDir)) === (await realpath(repository.commonDir));
}

/** Operating system and tools, asked only where the contract names any: OS_UNSUPPORTED, RUNTIME_MISMATCH. */
async function checkPlatform(
  contract: AdmittedContract,
  sandbox: SandboxBackend,
): Promise<Readonly<Record<string, string>>> {
  const { supportedOS, languageRuntime } = contract.effective.constraints.platform;
  return {
    ...(supportedOS.length === 0 ? {} : requireSupportedOs(supportedOS, await readMachineFacts())),
    ...(await checkRuntime(sandbox, languageRuntime)),
  };
}

async function chooseSandbox(
  engine: WritEngine,
  request: Pick<RunRequest, 'sandbox'>,
  contract: AdmittedContract,
  passedOver: string[],
): Promise<SandboxBackend> {
  const denies = contract.effective.constraints.security.networkPolicy === 'deny';
  try {
    const sandbox = await pickSandbox(request.sandbox, engine.slots.sandbox, (name, reason) =>
      passedOver.push(`\`${name}\` is installed and does not work here: ${reason.replaceAll(/\s+/g, ' ')}`),
    );
    if (!sandbox.unconfined || !denies) return sandbox;
    throw new WritError('SANDBOX_NONE_REFUSED', {
      hints: [
        `drop \`--sandbox ${sandbox.name}\``,
        'or set `constraints.security.networkPolicy` to `allow` in a new spec',
      ],
    });
  } catch (fault) {
    if (denies || !isWritError(fault, 'SANDBOX_UNAVAILABLE')) throw fault;
    throw new WritError('SANDBOX_UNAVAILABLE', {
      message: `${fault.message}; without one nothing keeps a check to the public hosts that \`networkPolicy: allow\` opens`,
      detail: fault.detail,
      hints: [
        ...fault.hints,
        'or pass `--sandbox none`: checks then have the whole network of this machine, unrecorded, and the provenance says so',
      ],
      cause: fault,
    });
  }
}
