import { resolve } from 'node:path';
import { ledgerDirectory, type OpenLedger, openLedger } from '../../api/ledger/open-ledger.ts';
import { userPluginAccess } from '../../api/user-plugins.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { PluginAccess } from '../../engine/plugin-trust/plugin-access.ts';
import { openEngine as openFull } from '../../plugins/preset/open-engine.ts';
import { findSecret, keyPlaceNames } from '../../providers/keys.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import type { CommandContext } from './command.ts';
import type { Reaching } from './reach-provider.ts';

/** The engine of a command, with what it adds itself (a progress observer, say). Close it. */
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
    plugins,
    clock: systemClock,
    ...(pool === undefined ? {} : { pool }),
    report: (fault) => print.note(`${fault.code}: ${fault.message}`),
  });
}

/**
 * What this user trusts and keeps, with what the command line trusts for once; secrets are found where keys of
 * providers are, and each that is needed is told with its place.
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

/** The ledger that a command line names (of the repository without `directory`), judged by its `--vkey`. */
export async function ledgerOf(context: CommandContext, directory?: string): Promise<OpenLedger> {
  const { options, cwd, env } = context;
  const vkeys = options.values('vkey').map((one) => (one.includes('+') ? one : resolve(cwd, one)));
  const place = directory === undefined ? await ledgerDirectory(context) : resolve(cwd, directory);
  return openLedger(place, { vkeys, env });
}
