/* Opens the engine, the ledger and the plugin access of a command. */
import { resolve } from 'node:path';
import type { McpAccess, McpState } from '../../agent/mcp/mcp-tools.ts';
import { openRemoteLedger } from '../../api/ledger/follow-ledger.ts';
import {
  type LedgerTrust,
  ledgerDirectory,
  type OpenLedger,
  openLedger,
} from '../../api/ledger/open-ledger.ts';
import { userPluginAccess } from '../../api/user-plugins.ts';
import { readUserConfig } from '../../attest/keys/user-config-dir.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import { readUserMcp } from '../../engine/config/mcp-section.ts';
import { openEngine as openFull } from '../../plugins/preset/open-engine.ts';
import {
  advisoryDir,
  openAdvisoryDatabase,
} from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import type { PluginAccess } from '../../plugins/third-party/plugin-access.ts';
import { findSecret, keyPlaceNames } from '../../providers/keys.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { CommandContext } from './command.ts';
import type { Reaching } from './reach-provider.ts';

/**
 * Opens the engine of a command, with the command's own plugins (for example a progress observer). The caller closes
 * it.
 */
export async function openEngine(
  { env, print, pool }: Pick<CommandContext, 'env' | 'print' | 'pool'>,
  {
    ephemeralKey = false,
    plugins = [],
  }: { readonly ephemeralKey?: boolean; readonly plugins?: readonly LoadedPlugin[] } = {},
): Promise<WritEngine> {
  return openFull({
    env,
    ephemeralKey,
    plugins: [...plugins, ...(await telemetry({ env, print }))],
    clock: systemClock,
    ...(pool === undefined ? {} : { pool }),
    report: (fault) => print.note(`${fault.code}: ${fault.message}`),
  });
}

/** The plugin that sends traces; none unless `OTEL_*` names a collector. Without one no module of it is loaded. */
async function telemetry({
  env,
  print,
}: Pick<CommandContext, 'env' | 'print'>): Promise<readonly LoadedPlugin[]> {
  const collector = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT || '';
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (collector === '' || isOff) return [];
  try {
    const { telemetryPlugin } = await import('./telemetry.ts');
    return [telemetryPlugin(env)];
  } catch (fault) {
    print.note(`no traces are sent: ${messageOf(fault)}`);
    return [];
  }
}

/**
 * Returns the plugins this user trusts and keeps, plus those the command line trusts for this call. Secrets are
 * looked up where provider keys are. Prints where each needed secret was found.
 */
export function openPluginAccess(
  { env, options, print }: Pick<CommandContext, 'env' | 'options' | 'print'>,
  { keys }: Pick<Reaching, 'keys'>,
): PluginAccess {
  return {
    ...userPluginAccess(env, options.values('plugin')),
    async secret(name) {
      const found = await findSecret([name], keys);
      return found === undefined ? undefined : { value: found.value, place: keyPlaceNames[found.source] };
    },
    told: (line) => print.note(line),
  };
}

/** The user's own MCP servers, of `config.toml` in the user's directory. `told` hears what becomes of each server. */
export function openMcpAccess(
  { env }: Pick<CommandContext, 'env'>,
  told?: (state: McpState) => void,
): McpAccess {
  return {
    async servers() {
      const config = await readUserConfig(env);
      return config === undefined ? [] : readUserMcp(config);
    },
    ...(told === undefined ? {} : { told }),
  };
}

/** The keys of `--vkey`: their text, or the files that hold them. */
export function ledgerTrustOf({
  options,
  cwd,
  env,
}: Pick<CommandContext, 'options' | 'cwd' | 'env'>): LedgerTrust {
  return { vkeys: options.values('vkey').map((one) => (one.includes('+') ? one : resolve(cwd, one))), env };
}

/**
 * Opens the ledger that the command line names by directory or URL and verifies it with `--vkey`. Without `place`,
 * opens the repository's ledger.
 */
export async function ledgerOf(
  context: CommandContext,
  place?: string,
): Promise<OpenLedger & AsyncDisposable> {
  const trust = ledgerTrustOf(context);
  if (place !== undefined && /^https?:\/\//.test(place)) return openRemoteLedger(place, trust);
  const directory = place === undefined ? await ledgerDirectory(context) : resolve(context.cwd, place);
  return { ...(await openLedger(directory, trust)), async [Symbol.asyncDispose]() {} };
}

/** Returns a warning if the spec runs an `sca` check and this user has no readable advisory database. */
export function advisoriesLacking(
  { acceptance }: EffectiveIntentSpec,
  env: CommandContext['env'],
): readonly string[] {
  const { securityChecks } = acceptance.verificationPlan;
  if (!securityChecks.some(({ kind, command }) => kind === 'policy' && command === 'sca')) return [];
  try {
    if (openAdvisoryDatabase(advisoryDir(env)) !== undefined) return [];
    return [lackOf(new WritError('ADVISORIES_MISSING'))];
  } catch (fault) {
    if (isWritError(fault, 'ADVISORIES_CORRUPT')) return [lackOf(fault)];
    throw fault;
  }
}

/** The message and first hint of an error, as a draft shows them. */
function lackOf({ message, hints }: WritError): string {
  return [message, ...hints.slice(0, 1)].join(': ');
}
