/* Opens the signer, log, worker and plugins of a run. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../core/base/canonical.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import type { SealingParties, SealingPlace } from '../../core/interfaces/sealing.ts';
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import type { Worker } from '../../core/interfaces/worker.ts';
import { createRules, type Rules } from '../../core/kernel/rules.ts';
import type { Slot } from '../../core/kernel/slot.ts';
import { findPlugins } from '../../plugins/third-party/find-plugins.ts';
import type { PluginParts } from '../../plugins/third-party/open-parts.ts';
import { openPlugins } from '../../plugins/third-party/open-plugins.ts';
import { noPluginAccess, type PluginAccess } from '../../plugins/third-party/plugin-access.ts';
import { usedNames } from '../../plugins/third-party/plugin-manifest.ts';
import { ownersPath, parseOwners } from '../../readers/diff/owned-paths.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { isAttested } from '../../spec/facts.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import { hideRepository } from '../../workspace/git/hide-repository.ts';
import { readBlob, readBlobs } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { maxMemoryBytes } from '../../workspace/process/find-program.ts';
import { pickSandbox } from '../../workspace/process/version-control.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import { type SealingForms, sealingFormsOf } from '../config/sections.ts';
import { parseWaivers, waiversPath } from '../config/waivers.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { workerFile } from '../record/started-run.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import { openScanners } from '../state/open-scanners.ts';
import { openPolicies } from '../state/policies.ts';
import type { ChangeSource, ResumeRequest } from '../state/run-request.ts';

/** Trusted roots and signing configs are a few kilobytes. */
const maxFileBytes = 1024 * 1024;

/**
 * Opens key and log before any work, so that a run which could never be sealed is refused at once. With `dry` no key
 * is created; a temporary key replaces it.
 */
export async function openParties(
  engine: WritEngine,
  contract: AdmittedContract,
  environment: Pick<RunEnvironment, 'config' | 'repository' | 'policy' | 'plugins'>,
  dry = false,
): Promise<SealingParties | undefined> {
  const { provenance } = contract.effective;
  if (!isAttested(contract.effective)) return undefined;
  const { config, repository, policy, plugins } = environment;
  const { mode } = provenance.transparencyLog;
  const { key } = config.signer;
  const keys = await engine.slots.signer.pick(key.form);
  const logs = await engine.slots.log.pick(mode);
  const asked: string[] = [];
  const place: SealingPlace = {
    repository,
    commonDir: repository.commonDir,
    logMode: mode,
    config: { signer: config.signer, log: config.log },
    ...(dry ? { dry } : {}),
    outsideLog(name) {
      asked.push(name);
      return plugins.logs.get(name);
    },
    readPolicy: (path) => readBlob(repository, policy.tree, path, maxFileBytes),
  };
  try {
    const signer = await keys.open(key, place);
    const log = await logs.open(place, signer);
    await plugins.requireSecrets({ logs: asked });
    return { signer, log };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('SIGNER_FAILED', {
      message: `the signing key could not be opened: ${messageOf(fault)}`,
      hints: [
        'set `HOME` or `XDG_CONFIG_HOME` to a directory that you can write, so that writ can store keys',
        'or sign with a key for this run only: `--ephemeral-key`',
      ],
      cause: fault,
    });
  }
}

/** Who makes the change; `undefined` where it is supplied. SLOT_UNKNOWN, and what the worker refuses to be made of. */
export async function openWorker({ slots }: WritEngine, source: ChangeSource): Promise<Worker | undefined> {
  if (source.kind !== 'worker') return undefined;
  return (await slots.worker.pick(source.worker)).open(source.from);
}

/**
 * Opens the worker that resumes a run. Returns `undefined` if none was requested, or if the run's directory lacks the
 * inputs of the start.
 */
export async function reopenWorker(
  { slots }: WritEngine,
  wanted: ResumeRequest['worker'],
  directory: string,
  startedWith: string | undefined,
): Promise<Worker | undefined> {
  if (!wanted) return undefined;
  if (wanted.from) return (await slots.worker.pick(wanted.name)).open(await wanted.from());
  const from = await readKept(directory);
  return from && (await slots.worker.pick(startedWith ?? wanted.name)).open(from);
}

async function readKept(directory: string): Promise<Uint8Array | undefined> {
  return readFile(join(directory, workerFile)).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
}

/**
 * The plugin parts that preflight checks of spec and repository need before a run. The built-in ones work without an
 * engine (`plugins/preset/create-engine.ts`).
 */
export interface RunPlugins {
  /** Slot `store`. */
  readonly stores: Pick<Slot<StoreSource>, 'pick'>;
  /** How the sources in slots `signer` and `log` read their sections. */
  sealingForms(): Promise<SealingForms>;
  /** Hook `plan.draft`; returns the given draft if no plugin changes it. */
  redraft(draft: PlanDraft): Promise<PlanDraft>;
}

/** As an open engine answers. */
export function askedOf({ slots, hooks }: Pick<WritEngine, 'slots' | 'hooks'>): RunPlugins {
  return {
    stores: slots.store,
    sealingForms: () => sealingFormsOf(slots),
    redraft: (draft) => hooks.plan.draft.call(draft),
  };
}

/** The plugins and rules that the policy commit configures, and the cache and access that they need. */
interface JudgesQuestion {
  readonly engine: WritEngine;
  readonly repository: Repository;
  readonly policyTree: string;
  readonly configBytes: Uint8Array | undefined;
  /** The same as `readConfig` returns it; its plugins are opened. */
  readonly config: WritConfig;
  readonly sandbox: SandboxBackend;
  readonly cacheDir: string;
  readonly pluginAccess?: PluginAccess | undefined;
  /** The network that a plugin's egress proxy uses; absent: the real network. */
  readonly outside?: Outside | undefined;
  /** Ignores unknown rules: a run can be cancelled even if one of its plugins is missing. */
  readonly cancels?: boolean;
}

/**
 * Opens the plugins, rules and policy engines of a run, and validates the configuration against them. Runs none of
 * their code. Throws PLUGIN_MISSING, PLUGIN_CHANGED, PLUGIN_UNTRUSTED, PLUGIN_INVALID, CONFIG_INVALID and
 * SCANNER_CHANGED.
 */
export async function openVerifiers({
  engine,
  repository,
  policyTree,
  configBytes,
  config: asked,
  sandbox,
  cacheDir,
  pluginAccess = noPluginAccess,
  outside,
  cancels = false,
}: JudgesQuestion): Promise<
  Pick<
    RunEnvironment,
    'config' | 'rules' | 'policies' | 'owners' | 'waivers' | 'scanners' | 'plugins' | 'dependencies'
  >
> {
  const plugins = await openPlugins(
    await findPlugins(repository, policyTree, asked.plugins, pluginAccess),
    {
      cacheDir,
      maxMemoryBytes: maxMemoryBytes(asked),
      sandbox: async () =>
        hideRepository(
          sandbox.unconfined ? await pickSandbox('auto', engine.slots.sandbox) : sandbox,
          repository,
        ),
      access: pluginAccess,
      ...(outside === undefined ? {} : { outside }),
    },
    usedNames(engine),
  );
  const rules = joinRules(engine.rules, plugins.rules, engine.slots.policy.names);
  const forms = await sealingFormsOf(engine.slots);
  const read = parseConfig(configBytes, { ...forms, ...(cancels ? {} : { ruleIds: rules.ids }) });
  // Only the ids of its rules were not known before; `asked` is the same file, and complete.
  const config = cancels ? read : asked;
  if (!cancels) requireBrought(config, plugins.parts);
  const policies = await openPolicies(engine, repository, policyTree, config.policies);
  const people = cancels
    ? { owners: [], waivers: [], dependencies: [] }
    : await readPeopleFiles(engine, repository, policyTree, { config, rules });
  // A run can be ended although a scanner that was to evaluate it is gone.
  const scanners = await openScanners(repository, policyTree, cancels ? new Map() : config.scanners);
  return {
    config,
    rules,
    policies,
    scanners,
    ...people,
    plugins: plugins.parts,
    dependencies: [
      ...plugins.dependencies,
      ...policies.dependencies,
      ...scanners.dependencies,
      ...people.dependencies,
    ],
  };
}

const maxPeopleBytes = 4 * 1024 * 1024;

/** Reads `.writ/owners` and `.writ/waivers.toml` of the policy commit. CONFIG_INVALID names what is wrong. */
async function readPeopleFiles(
  { approvals: reader }: Pick<WritEngine, 'approvals'>,
  repository: Repository,
  policyTree: string,
  { config: { approvals }, rules }: Pick<RunEnvironment, 'config' | 'rules'>,
): Promise<Pick<RunEnvironment, 'owners' | 'waivers' | 'dependencies'>> {
  const paths = [ownersPath, waiversPath];
  const files = await readBlobs(repository, policyTree, [...paths, '.writ/allowed_signers'], maxPeopleBytes);
  const owners = files.get(ownersPath);
  const isKnown = owners && (await reader.namesIn(files.get('.writ/allowed_signers')));
  return {
    owners: parseOwners(owners, approvals.groups, isKnown),
    waivers: parseWaivers(files.get(waiversPath), rules),
    dependencies: paths.flatMap((name) => {
      const bytes = files.get(name);
      return bytes === undefined ? [] : [{ name, digest: { sha256: sha256Hex(bytes) } }];
    }),
  };
}

/** Throws CONFIG_INVALID if `[artifacts]` or `[evidence]` names a part that no listed plugin provides. */
function requireBrought(
  { artifacts, evidence }: Pick<WritConfig, 'artifacts' | 'evidence'>,
  parts: Pick<PluginParts, 'artifacts' | 'evidence'>,
): void {
  const wanted = [
    ...[...artifacts].map(([name, { plugin }]) => [`[artifacts.${name}]`, plugin, parts.artifacts] as const),
    ...evidence.plugins.map((plugin) => ['[evidence]', plugin, parts.evidence] as const),
  ];
  for (const [section, name, brought] of wanted) {
    if (brought.has(name)) continue;
    const expected = [...brought.keys()];
    const names = expected.length === 0 ? 'there is none' : expected.map((one) => `\`${one}\``).join(', ');
    throw new WritError('CONFIG_INVALID', {
      message: `\`${section}\`: expected what a listed plugin brings (${names}), found \`${name}\``,
      detail: { section, expected, found: name },
      hints: ['list the plugin that provides it in `[[plugins]]`'],
    });
  }
}

/**
 * Joins the engine's rules and those that one run adds. Throws SLOT_DUPLICATE for an id in use, so that no built-in
 * rule is ever replaced.
 */
function joinRules(engine: Rules, added: readonly Rule[], taken: readonly string[]): Rules {
  if (added.length === 0) return engine;
  const joined = createRules();
  for (const id of engine.ids) {
    const rule = engine.get(id);
    if (rule) joined.add(rule);
  }
  for (const rule of added) {
    if (taken.includes(rule.id))
      throw new WritError('SLOT_DUPLICATE', {
        message: `the rule \`${rule.id}\` of a plugin has the same name as a policy engine`,
        detail: { rule: rule.id },
      });
    joined.add(rule);
  }
  joined.freeze();
  return joined;
}
