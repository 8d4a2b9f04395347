import { parseLoopbackAddress } from '../../http/loopback-address.ts';
import type { CommandOptions } from '../command-parts/command.ts';
import { usage } from '../option-token.ts';

/** How a `--host` that other machines reach stands in the table. */
const remoteHost = 'host of other machines';

/**
 * What cannot be said together, and why; `name=value` is that value alone (document 2, Options, Command-line failures).
 */
const conflicts: readonly (readonly [one: string, other: string, why: string])[] = [
  ['web-only', 'stdio', 'one serves HTTP and the other standard input and output'],
  ['control=write', 'stdio', 'there is no server to steer through'],
  ['browser-control', 'stdio', 'there is no server for a browser'],
  ['resume', 'web-only', 'a thread goes on where a person sees it: on the screen'],
  ['resume', 'stdio', 'a thread goes on where a person sees it: on the screen'],
  ['goal', 'stdio', 'no model is asked there, and nobody would pursue it'],
  ['control=write', remoteHost, 'who steers is on this machine: expected 127.0.0.1, ::1 or localhost'],
  [
    'browser-control=loopback',
    remoteHost,
    'who steers is on this machine: expected 127.0.0.1, ::1 or localhost',
  ],
  ['cwd', 'repo', 'both say where the session works'],
];

const flags = ['web-only', 'stdio'] as const;
const values = ['control', 'browser-control', 'resume', 'goal', 'cwd', 'repo'] as const;
/** Other names of the same. */
const aliases: Readonly<Record<(typeof flags)[number], string>> = { 'web-only': 'web', stdio: 'mcp-stdio' };

/** Whether the flag was given, by either of its names. */
export function isFlagged(options: CommandOptions, name: (typeof flags)[number]): boolean {
  return options.flag(name) || options.flag(aliases[name]);
}

/** USAGE for two options that contradict each other; `host` as it was read. */
export function refuseConflicts(options: CommandOptions, host: string): void {
  const said = new Set<string>([
    ...flags.filter((name) => isFlagged(options, name)),
    ...values.flatMap((name) => {
      const value = options.value(name);
      return value === undefined ? [] : [name, `${name}=${value}`];
    }),
    ...(parseLoopbackAddress(host) === undefined ? [remoteHost] : []),
  ]);
  const found = conflicts.find(([one, other]) => said.has(one) && said.has(other));
  if (found === undefined) return;
  const [one, other, why] = found;
  const second = other === remoteHost ? `--host ${host}` : `--${other}`;
  throw usage(
    `\`--${one.replace('=', ' ')}\` does not go with \`${second}\`: ${why}`,
    { command: 'code', option: `--${one.split('=')[0]}`, found: second },
    ['`writ code --help` shows the options'],
  );
}
