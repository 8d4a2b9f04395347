import { distrustPlugin, trustFile, trustPlugin } from '../../api/user-plugins.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { needsInWords } from '../../engine/plugin-trust/manifest-parts.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { namedPlugin, partsOf, type SpokenOf } from '../plugin/named-plugin.ts';
import { userSteps } from '../plugin/pin-plugin.ts';
import { openLines } from '../terminal/line-reader.ts';

/**
 * `writ plugin trust PLUGIN`: this user lets this very content judge changes, in whatever repository lists it. What it
 * is given is told first; by path or name it asks, a digest was typed on purpose. PLUGIN_UNCONFIRMED.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { args, env, options } = context;
  const given = args[0] ?? '';
  const meant = await namedPlugin(context, given);
  const { digest } = meant;
  const remove = options.flag('remove');
  const told = tellOf(meant);
  if (!remove) {
    for (const line of told.lines) context.print.complain(line);
    if (!given.startsWith('sha256:') && !options.flag('yes')) await askPerson(context, meant);
  }
  const changed = remove
    ? await distrustPlugin(env, digest)
    : await trustPlugin(env, digest, `trusted ${toRfc3339(systemClock.now())}`);
  const next = remove
    ? ['a run of a repository that lists it is refused from now on']
    : [
        'a run of a repository that lists it at its policy commit asks it from now on',
        ...(meant.manifest === undefined ? [] : userSteps(meant.manifest)),
      ];
  const files = changed ? [trustFile(env, digest)] : [];
  const data = { digest: `sha256:${digest}`, trusted: !remove, changed, files, next, ...told.data };
  return succeeded(data, (printer) => {
    const state = remove ? 'not trusted' : 'trusted';
    printer.line(`sha256:${digest} is ${changed ? 'now' : 'already'} ${state}`);
    for (const file of files) printer.line(`  ${remove ? 'removed' : 'changed'}  ${file}`);
    for (const step of next) printer.line(`  next  ${step}`);
  });
}

/** What is trusted, for people and for programs. */
function tellOf({ digest, manifest }: SpokenOf) {
  if (manifest === undefined)
    return { lines: [`sha256:${digest} names no package that is known here`], data: {} };
  const { name, version, needs } = manifest;
  const rules = manifest.rules.map(({ id }) => id);
  const parts = partsOf(manifest);
  const given = [...needsInWords(needs)];
  const lines = [
    `${name} ${version}  sha256:${digest}`,
    ...rules.map((id) => `  brings rule ${id}`),
    ...parts.map((part) => `  brings ${part.kind} ${part.name}`),
    ...(given.length === 0
      ? ['  is given no host, no secret and no file of yours']
      : given.map((need) => `  ${need}`)),
  ];
  return { lines, data: { name, version, rules, parts, needs: given } };
}

async function askPerson(
  { interactive, print, stdin, signal }: CommandContext,
  { digest, manifest }: SpokenOf,
): Promise<void> {
  const detail = { digest: `sha256:${digest}`, ...(manifest === undefined ? {} : { plugin: manifest.name }) };
  if (!interactive)
    throw new WritError('PLUGIN_UNCONFIRMED', {
      message: 'there is no terminal to ask on: nothing is trusted',
      detail,
    });
  using lines = openLines(stdin, signal);
  print.complain('trust it? yes or no');
  const said = (await lines.next())?.trim().toLowerCase();
  if (said !== 'yes' && said !== 'y')
    throw new WritError('PLUGIN_UNCONFIRMED', { message: 'you did not say yes: nothing is trusted', detail });
}
