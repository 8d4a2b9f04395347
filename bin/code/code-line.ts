/* Parses the options of `writ code`, and routes its notes around a screen. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { maxApprovalTtlSeconds } from '../../engine/config/bounds.ts';
import { parseLoopbackAddress } from '../../http/guard-request.ts';
import { flagTable, type GivenFlag } from '../../providers/flags.ts';
import type { AgentProfile } from '../../session/agents.ts';
import { usualPorts } from '../../session/screen/status-line.ts';
import type { SessionOptions } from '../../session/session-options.ts';
import { maxObjectiveBytes } from '../../session/state/goal.ts';
import { approvalPolicies, sessionContexts } from '../../session/state/settings.ts';
import type { CommandContext, CommandOptions } from '../command-parts/command.ts';
import type { RequestedModel } from '../command-parts/providers.ts';
import { parseWhole } from '../command-parts/write-output.ts';
import { usage } from '../help.ts';

/** Options parsed from the command line alone. The rest needs the repository, profiles and the environment. */
export interface CodeLine
  extends Pick<
    SessionOptions,
    'mode' | 'workingDir' | 'web' | 'mcpPort' | 'replaceable' | 'control' | 'resume' | 'goal'
  > {
  /** `--resume` without a thread. */
  readonly listsThreads: boolean;
  /** `--continue`: the thread that was used last. */
  readonly continues: boolean;
  /** What is said first. */
  readonly text: string | undefined;
  /** `--print`: empty means standard input. */
  readonly print: string | undefined;
  readonly yes: boolean;
  readonly events: boolean;
  /** As given; absent where it follows from mode and provider. */
  readonly browserControl: SessionOptions['browserControl'] | undefined;
  /** As given. */
  readonly context: SessionOptions['context'] | undefined;
  /** As given; absent: that of the thread that is resumed, else the default. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly agent: string | undefined;
  /** As given; absent: the default, or what the policy demands. */
  readonly approvalPolicy: SessionOptions['approval']['policy'] | undefined;
  /** If absent, the configuration decides. */
  readonly approvalTtlSeconds: number | undefined;
  /** As given. */
  readonly networkAccess: SessionOptions['networkAccess'] | undefined;
}

const maxPort = 65_535;

/** Reads the line of `writ code`. USAGE for what contradicts itself and for values that are none; reads no file. */
export function readCodeLine({
  args: [text],
  options,
  cwd,
  repoPath,
}: Pick<CommandContext, 'args' | 'options' | 'cwd' | 'repoPath'>): CodeLine {
  const host = readHost(options.value('host') ?? '127.0.0.1');
  refuseConflicts(options, host, text);
  const print = options.value('print');
  const [working, token, info, ttl] = [
    options.value('cwd'),
    options.value('control-token-file'),
    options.value('control-info-file'),
    options.value('approval-ttl'),
  ];
  const toPath = (given: string | undefined): string | undefined =>
    given === undefined ? undefined : resolve(cwd, given);
  const mode = isFlagged(options, 'stdio')
    ? 'stdio'
    : isFlagged(options, 'web-only')
      ? 'web'
      : options.flag('acp')
        ? 'acp'
        : print === undefined
          ? 'terminal'
          : 'print';
  const ports = { web: options.value('port'), mcp: options.value('mcp-port') };
  return {
    mode,
    workingDir: toPath(working) ?? repoPath ?? cwd,
    web: { host, port: parseWhole(ports.web ?? `${usualPorts.web}`, '--port', maxPort) },
    mcpPort: parseWhole(ports.mcp ?? `${usualPorts.mcp}`, '--mcp-port', maxPort),
    // `--web-only` has no screen: a person goes to the usual address, so it is refused if another program has it.
    replaceable: (['web', 'mcp'] as const).filter(
      (name) => ports[name] === undefined && (name === 'mcp' || mode === 'terminal'),
    ),
    control: {
      mode: options.value('control') === 'write' ? 'write' : 'observe',
      tokenFile: toPath(token),
      infoFile: toPath(info),
    },
    browserControl: oneOf(options.value('browser-control'), ['off', 'loopback']),
    provider: options.value('provider'),
    model: options.value('model'),
    agent: options.value('agent'),
    context: sessionContexts[options.value('context') ?? ''],
    resume: options.value('resume') || undefined,
    listsThreads: options.value('resume') === '',
    continues: options.flag('continue'),
    text,
    print,
    yes: options.flag('yes'),
    events: options.flag('events'),
    approvalPolicy: approvalPolicies[options.value('approval-policy') ?? ''],
    approvalTtlSeconds:
      ttl === undefined ? undefined : parseWhole(ttl, '--approval-ttl', maxApprovalTtlSeconds),
    networkAccess: oneOf(options.value('network-access'), ['deny', 'allow']),
    goal: readGoal(options),
  };
}

function oneOf<Word extends string>(given: string | undefined, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === given);
}

/** Requires a literal address, because a host name could resolve to any address. Only `localhost` is unambiguous. */
function readHost(text: string): string {
  if (text.toLowerCase() === 'localhost') return '127.0.0.1';
  const plain = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (isIP(plain) !== 0 && !plain.includes('%')) return plain;
  throw usage(
    `expected an address for \`--host\` (127.0.0.1, ::1, 0.0.0.0, ::, …) or localhost, found \`${text.slice(0, 80)}\``,
    { command: 'code', option: '--host', expected: 'a literal address', found: text.slice(0, 80) },
    [],
  );
}

function readGoal(options: CommandOptions): string | undefined {
  const given = options.value('goal');
  if (given === undefined) return undefined;
  const goal = given.trim();
  const size = Buffer.byteLength(goal);
  if (size > 0 && size <= maxObjectiveBytes) return goal;
  const found = size === 0 ? 'blanks alone' : `${size} octets`;
  throw usage(
    `expected a goal of 1 to ${maxObjectiveBytes} octets after \`--goal\`, found ${found}`,
    { command: 'code', option: '--goal', expected: `1 to ${maxObjectiveBytes} octets`, found },
    [],
  );
}

/** Name in the conflict table of a `--host` that other machines can reach. */
const remoteHost = 'host of other machines';

/** Options of the servers of a session. */
const serving = [
  'port',
  'host',
  'mcp-port',
  'control',
  'control-token-file',
  'control-info-file',
  'browser-control',
] as const;

/** Options that cannot be combined, with the reason. `name=value` matches only that value. */
const conflicts: readonly (readonly [one: string, other: string, why: string])[] = [
  ['web-only', 'stdio', 'one serves HTTP and the other standard input and output'],
  ['control=write', 'stdio', 'there is no server to steer through'],
  ['browser-control', 'stdio', 'there is no server for a browser'],
  ['TEXT', 'stdio', 'no model is called there'],
  ['TEXT', 'print', 'the words of `--print` are the message'],
  ['TEXT', 'goal', 'the goal is what is said first'],
  ['print', 'web-only', 'one ends with its answer, and the other goes on'],
  ['print', 'stdio', 'no model is called there'],
  ['print', 'goal', 'a goal is pursued in a session that stays: on the screen, or with `--web-only`'],
  ['print', 'control=write', 'nothing is served'],
  ['print', 'resume=', 'nobody is there to choose a thread: name it after `--resume`'],
  ['continue', 'resume', 'both say which thread goes on'],
  ['continue', 'stdio', 'a thread goes on where a person sees it: on the screen'],
  ['continue', 'web-only', 'a thread goes on where a person sees it: on the screen'],
  ['resume', 'web-only', 'a thread goes on where a person sees it: on the screen'],
  ['resume', 'stdio', 'a thread goes on where a person sees it: on the screen'],
  ['goal', 'stdio', 'no model is called there, so no one would pursue it'],
  ['control=write', remoteHost, 'who steers is on this machine: expected 127.0.0.1, ::1 or localhost'],
  [
    'browser-control=loopback',
    remoteHost,
    'who steers is on this machine: expected 127.0.0.1, ::1 or localhost',
  ],
  ['cwd', 'repo', 'both say where the session works'],
  ...(['web-only', 'stdio', 'print'] as const).map(
    (name) => ['acp', name, 'one process has one way in'] as const,
  ),
  ...(['TEXT', 'goal', 'resume', 'continue'] as const).map(
    (name) => ['acp', name, 'the editor says which thread goes on, and what is said'] as const,
  ),
  ...serving.map((name) => ['acp', name, 'nothing is served'] as const),
];

const flags = ['web-only', 'stdio', 'continue', 'acp'] as const;
const values = [...serving, 'resume', 'goal', 'cwd', 'repo', 'print'] as const;
/** Other names of the same. */
const aliases: Readonly<Partial<Record<(typeof flags)[number], string>>> = {
  'web-only': 'web',
  stdio: 'mcp-stdio',
};

/** Whether the flag was given, by either of its names. */
function isFlagged(options: CommandOptions, name: (typeof flags)[number]): boolean {
  const alias = aliases[name];
  return options.flag(name) || (alias !== undefined && options.flag(alias));
}

/** USAGE for two options that contradict each other; `host` as it was read. */
function refuseConflicts(options: CommandOptions, host: string, text: string | undefined): void {
  for (const name of ['yes', 'events'] as const)
    if (options.flag(name) && options.value('print') === undefined)
      throw usage(
        `\`--${name}\` needs \`--print\``,
        { command: 'code', option: `--${name}`, expected: '--print', found: null },
        [],
      );
  const said = new Set<string>([
    ...(text === undefined ? [] : ['TEXT']),
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
  const second = other === remoteHost ? `--host ${host}` : `--${other.replace(/=$/, '')}`;
  throw usage(
    `\`${one === 'TEXT' ? 'TEXT' : `--${one.replace('=', ' ')}`}\` does not go with \`${second}\`: ${why}`,
    { command: 'code', option: one === 'TEXT' ? 'TEXT' : `--${one.split('=')[0]}`, found: second },
    ['`writ code --help` shows the options'],
  );
}

/** Flag that carries the model variant of a profile, by provider. */
const variantFlags: Readonly<Record<string, string>> = {
  ollama: 'ollama-thinking',
  deepseek: 'deepseek-reasoning-effort',
  kimi: 'kimi-thinking',
};

/**
 * Applies a profile's model binding: its provider, model and variant override the command line. AGENT_INVALID if the
 * provider has no variants.
 */
export function boundModel({ name, binding }: AgentProfile, asked: RequestedModel): RequestedModel {
  if (binding === undefined) return asked;
  const { provider, model, variant } = binding;
  if (variant === undefined) return { provider, model, flags: asked.flags };
  const flag = variantFlags[provider];
  if (flag === undefined)
    throw new WritError('AGENT_INVALID', {
      message: `the agent profile \`${name}\` binds \`${provider}\` with a variant, and that provider has none`,
      detail: { agent: name, provider, variant, expected: Object.keys(variantFlags) },
      hints: ['write the binding without `@…`'],
    });
  const alias = flagTable[provider]?.find((one) => one.name === flag)?.alias;
  const others = asked.flags.filter((one) => one.name !== flag && one.name !== alias);
  return { provider, model, flags: [...others, { name: flag, value: variant }] };
}

/**
 * Sets the session's default for `--plan-mode`. Codex plans first unless the command line decides. For any other
 * provider `--plan-mode=false` is the default and is removed.
 */
export function withPlanMode({ provider, model, flags }: RequestedModel): RequestedModel {
  const isSaid = (value: string): boolean =>
    flags.some((flag) => flag.name === 'plan-mode' && flag.value === value);
  if (provider === 'codex')
    return isSaid('true') || isSaid('false')
      ? { provider, model, flags }
      : { provider, model, flags: [...flags, { name: 'plan-mode', value: 'true' }] };
  const others = flags.filter((flag: GivenFlag) => flag.name !== 'plan-mode' || flag.value !== 'false');
  return { provider, model, flags: others };
}

/** Routes notes and warnings away from the terminal while a screen is shown, because they would overwrite it. */
export interface Aside {
  /** Sends text to `told` from now on. Returns a function that stops this. */
  listen(told: (text: string) => void): () => void;
}

/** Returns a context that sends notes and warnings to the screen while it exists, and to stderr otherwise. */
export function withAside(context: CommandContext): {
  readonly context: CommandContext;
  readonly aside: Aside;
} {
  let told: ((text: string) => void) | undefined;
  const { print } = context;
  const through =
    (say: CommandContext['print']['note']): CommandContext['print']['note'] =>
    (...parts) => {
      if (told === undefined) say(...parts);
      else told(parts.map((part) => (typeof part === 'string' ? part : part.text)).join(''));
    };
  return {
    context: {
      ...context,
      print: { ...print, note: through(print.note), complain: through(print.complain) },
    },
    aside: {
      listen(to) {
        told = to;
        return () => {
          told = undefined;
        };
      },
    },
  };
}
