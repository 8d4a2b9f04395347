import { WritError } from '../../core/base/errors.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import { joinRules } from '../../core/kernel/rules.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { Outside } from '../../workspace/egress/outside.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { pickSandbox } from '../../workspace/process/pick-sandbox.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import { sealingFormsOf } from '../config/sections.ts';
import { findPlugins } from '../plugin-trust/find-plugins.ts';
import type { PluginParts } from '../plugin-trust/open-parts.ts';
import { openPlugins } from '../plugin-trust/open-plugins.ts';
import { noPluginAccess, type PluginAccess } from '../plugin-trust/plugin-access.ts';
import { takenNames } from '../plugin-trust/plugin-manifest.ts';
import { maxMemoryBytes } from '../state/machine.ts';
import type { Ground } from '../state/open-run.ts';
import { openScanners } from '../state/open-scanners.ts';
import { openPolicies } from '../state/policies.ts';

/** The plugins and rules that the policy commit configures, and the cache and access that they need. */
export interface JudgesQuestion {
  readonly engine: WritEngine;
  readonly repository: Repository;
  readonly policyTree: string;
  readonly configBytes: Uint8Array | undefined;
  /** The same, read; its plugins are opened. */
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
export async function openJudges({
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
  Pick<Ground, 'config' | 'rules' | 'policies' | 'scanners' | 'plugins' | 'dependencies'>
> {
  const plugins = await openPlugins(
    await findPlugins(repository, policyTree, asked.plugins, pluginAccess),
    {
      cacheDir,
      maxMemoryBytes: maxMemoryBytes(asked),
      sandbox: async () => (sandbox.unconfined ? pickSandbox('auto', engine.slots.sandbox) : sandbox),
      access: pluginAccess,
      ...(outside === undefined ? {} : { outside }),
    },
    takenNames(engine),
  );
  const rules = joinRules(engine.rules, plugins.rules, engine.slots.policy.names);
  const forms = await sealingFormsOf(engine.slots);
  const config = parseConfig(configBytes, { ...forms, ...(cancels ? {} : { ruleIds: rules.ids }) });
  if (!cancels) requireBrought(config, plugins.parts);
  const policies = await openPolicies(engine, repository, policyTree, config.policies);
  // A run can be ended although a scanner that was to evaluate it is gone.
  const scanners = await openScanners(repository, policyTree, cancels ? new Map() : config.scanners);
  return {
    config,
    rules,
    policies,
    scanners,
    plugins: plugins.parts,
    dependencies: [...plugins.dependencies, ...policies.dependencies, ...scanners.dependencies],
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
      hints: ['list the plugin that brings it in `[[plugins]]`'],
    });
  }
}
