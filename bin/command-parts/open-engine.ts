import { systemClock } from '../../core/base/clock.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { WritEngine } from '../../engine/spec/writ-engine.ts';
import { openEngine as openFull } from '../../plugins/preset/open-engine.ts';
import type { CommandContext } from './command.ts';

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
