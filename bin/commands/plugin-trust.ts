import { distrustPlugin, parsePluginDigest, trustPlugin } from '../../api/user-plugins.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** `writ plugin trust DIGEST`: this user lets this very content judge changes, in whatever repository lists it. */
export async function run({ args, env, options }: CommandContext): Promise<CommandResult> {
  const digest = parsePluginDigest(args[0] ?? '');
  const remove = options.flag('remove');
  const changed = remove
    ? await distrustPlugin(env, digest)
    : await trustPlugin(env, digest, `trusted ${toRfc3339(systemClock.now())}`);
  const data = { digest: `sha256:${digest}`, trusted: !remove, changed };
  return succeeded(data, (printer) => {
    const state = remove ? 'not trusted' : 'trusted';
    printer.line(`sha256:${digest} is ${changed ? 'now' : 'already'} ${state}`);
  });
}
