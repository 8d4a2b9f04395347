import { attesting } from '../../attest/attestor/attesting.ts';
import { systemClock } from '../../core/base/clock.ts';
import type { LoadedPlugin } from '../../core/kernel/plugin.ts';
import { createWritEngine, type WritEngine } from '../../engine/spec/writ-engine.ts';
import { preset } from '../../plugins/preset.ts';
import type { CommandContext } from './command.ts';

/** An engine with every built-in, and what the command itself adds (a progress observer, say). Close it. */
export async function openEngine(
  context: Pick<CommandContext, 'env' | 'print' | 'pool'>,
  options: { readonly ephemeralKey?: boolean; readonly plugins?: readonly LoadedPlugin[] } = {},
): Promise<WritEngine> {
  return createWritEngine({
    ...attesting,
    plugins: [
      ...preset({ env: context.env, ephemeralKey: options.ephemeralKey === true }),
      ...(options.plugins ?? []),
    ],
    clock: systemClock,
    env: context.env,
    ...(context.pool === undefined ? {} : { pool: context.pool }),
    report: (fault) => context.print.note(`${fault.code}: ${fault.message}`),
  });
}
