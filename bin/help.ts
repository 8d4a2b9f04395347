/* Help texts and usage errors. */
import { WritError } from '../core/base/errors.ts';
import { nearestName } from '../core/base/printable.ts';
import type { CommandSpec, OptionSpec } from './command-parts/command.ts';

/** The help text for one command, one group of commands, or all of writ. */
export function helpText(
  commands: readonly CommandSpec[],
  about: { readonly command?: CommandSpec; readonly group?: string },
): string {
  if (about.command !== undefined) return commandHelp(about.command);
  const group = about.group;
  const listed =
    group === undefined ? commands : commands.filter((command) => command.name.startsWith(`${group} `));
  const name = `writ ${group}`;
  if (group === undefined) return overview(listed);
  return join([
    `Usage: ${name} <command> [options]`,
    '',
    'Commands:',
    ...columns(listed.map((command) => [usageOf(command, group), command.summary])),
    '',
    `\`${name} <command> --help\` shows a command's options and examples.`,
  ]);
}

/** All commands on one screen: the most used with what they do, the others by name. */
function overview(commands: readonly CommandSpec[]): string {
  const most = mostUsed.flatMap((name) => commands.filter((command) => command.name === name));
  return join([
    'writ checks a change to a git repository, and commits it with signed evidence that anyone can verify offline.',
    '',
    'Usage: writ <command> [options]',
    '',
    'Most used:',
    ...columns(most.map((command) => [usageOf(command), command.summary])),
    '',
    'All commands:',
    ...columns(groupsOf(commands).map(({ title, names }) => [title, namesOf(names)])),
    '',
    'Options:',
    ...optionRows(globalOptions),
    '',
    "`writ <command> --help` shows a command's options and examples, `writ help` the topics.",
    '',
    ...exitCodes,
  ]);
}

/** What the exit code of a command says. */
export const exitCodes: readonly string[] = [
  'Exit codes: 0 success, 1 refused or failed, 3 nothing could be verified, 4 waiting for a person,',
  '70 fault of writ, 128 something on this machine is missing, 129 wrong usage, 130 interrupted.',
];

/** The groups with the commands of this table; what is in no group comes last. */
export function groupsOf(commands: readonly CommandSpec[]): typeof commandGroups {
  const there = commands.filter(({ hidden }) => hidden !== true).map(({ name }) => name);
  const grouped = new Set(commandGroups.flatMap(({ names }) => names));
  const others = { title: 'other', names: there.filter((name) => !grouped.has(name)) };
  return [...commandGroups, others]
    .map(({ title, names }) => ({ title, names: names.filter((name) => there.includes(name)) }))
    .filter(({ names }) => names.length > 0);
}

/** Commands of one group are written once: `spec new, validate, show`. */
function namesOf(names: readonly string[]): string {
  let last = '';
  const shown = names.map((name) => {
    const [first = '', ...rest] = name.split(' ');
    const isRepeated = rest.length > 0 && first === last;
    last = rest.length > 0 ? first : '';
    return isRepeated ? rest.join(' ') : name;
  });
  return shown.join(', ');
}

const mostUsed = ['seal', 'run', 'verify', 'code', 'doctor'];

/** Every command but the hidden ones, by what it is for. */
export const commandGroups: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: 'change',
    names: [
      'seal',
      'plan',
      'run',
      'resume',
      'approve',
      'cancel',
      'ci',
      'ci init',
      'queue add',
      'queue run',
      'queue remove',
      'queue show',
    ],
  },
  { title: 'look', names: ['runs', 'show', 'report', 'graph', 'replay'] },
  {
    title: 'spec',
    names: [
      ...['spec new', 'spec validate', 'spec show', 'spec digest', 'spec canonical'],
      ...['spec activate', 'spec close', 'spec supersede', 'spec schema'],
    ],
  },
  {
    title: 'session',
    names: [
      ...['code', 'threads list', 'threads archive', 'threads export', 'threads delete'],
      ...['mcp add', 'mcp list', 'mcp remove', 'usage', 'code-control'],
    ],
  },
  { title: 'verify', names: ['verify', 'attest sign', 'attest show', 'trust update', 'trust show'] },
  {
    title: 'log',
    names: [
      ...['ledger show', 'ledger prove', 'ledger consistency', 'ledger audit', 'ledger export-trusted-root'],
      ...[
        'ledger rotate',
        'ledger serve',
        'ledger token',
        'ledger backup',
        'ledger restore',
        'ledger migrate',
      ],
    ],
  },
  {
    title: 'scan',
    names: ['scan', 'lsp', 'baseline', 'redact', 'sca import', 'rules', 'hook install', 'hook uninstall'],
  },
  { title: 'share', names: ['push', 'fetch'] },
  {
    title: 'extend',
    names: ['plugin list', 'plugin new', 'plugin test', 'plugin pack', 'plugin add', 'plugin trust'],
  },
  { title: 'machine', names: ['init', 'doctor', 'vault set', 'vault list', 'vault rm', 'gc', 'fsck'] },
  { title: 'service', names: ['worker', 'service run', 'service status', 'service events', 'service dirty'] },
  { title: 'guide', names: ['help', 'explain', 'config print', 'schema', 'completion', 'demo'] },
];

function commandHelp(command: CommandSpec): string {
  return join([
    sentence(command.summary),
    '',
    'Examples:',
    ...command.examples.flatMap((example) => [`  ${example.line}`, `      ${example.about}`]),
    '',
    `Usage: writ ${usageOf(command)}${command.options.length > 0 ? ' [options]' : ''}${behindDashes(command)}`,
    ...(command.description === undefined ? [] : ['', command.description]),
    ...(command.arguments.length === 0
      ? []
      : ['', 'Arguments:', ...columns(command.arguments.map((one) => [one.name, one.about]))]),
    ...groupedOptions(command.options),
    '',
    'Global options:',
    ...optionRows(globalOptions),
    '',
    `\`writ schema ${command.name}\` prints the JSON Schema of the member \`data\` that \`--json\` prints.`,
  ]);
}

/** Options under the headings that they name, in the order of their first one. */
function groupedOptions(options: readonly OptionSpec[]): readonly string[] {
  return optionGroups(options).flatMap(([title, those]) => ['', `${title}:`, ...optionRows(those)]);
}

export function optionGroups(
  options: readonly OptionSpec[],
): readonly (readonly [title: string, options: readonly OptionSpec[]])[] {
  return [...Map.groupBy(options, ({ group = 'Options' }) => group)];
}

/** A command with its arguments; the name without that of its group. */
export function usageOf(command: CommandSpec, group?: string): string {
  const name = group === undefined ? command.name : command.name.slice(group.length + 1);
  const words = command.arguments.flatMap((one) => {
    if (one.behindDashes) return [];
    const shown = one.variadic === true ? `${one.name}…` : one.name;
    return one.optional === true ? `[${shown}]` : shown;
  });
  return [name, ...words].join(' ');
}

function behindDashes({ arguments: words }: CommandSpec): string {
  return words.flatMap(({ name, behindDashes: isBehind }) => (isBehind ? [` [-- ${name}…]`] : [])).join('');
}

function optionRows(options: readonly OptionSpec[]): readonly string[] {
  return columns(
    options.map((option) => {
      const [words, about] = optionWords(option);
      return [option.short === undefined ? `    ${words}` : words, about];
    }),
  );
}

/** An option as it is typed, and what it is for. */
export function optionWords(option: OptionSpec): readonly [words: string, about: string] {
  const short = option.short === undefined ? '' : `-${option.short}, `;
  const value = option.value === undefined ? '' : toPlaceholder(option.value, option.bare);
  const choices = option.choices === undefined ? '' : ` (${option.choices.join(', ')})`;
  const repeatable = option.repeatable === true ? '; may be repeated' : '';
  return [`${short}--${option.name}${value}`, `${option.about}${choices}${repeatable}`];
}

function toPlaceholder(value: string, bare: OptionSpec['bare']): string {
  if (bare === undefined) return ` ${value}`;
  return bare.unless === 'words' ? ` [${value}]` : `[=${value}]`;
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.min(34, Math.max(...rows.map(([left]) => left.length)));
  return rows.map(([left, right]) =>
    left.length > width ? `  ${left}\n  ${' '.repeat(width)}  ${right}` : `  ${left.padEnd(width)}  ${right}`,
  );
}

export function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}

function join(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

/** A lone `-` is an operand (stdin), as everywhere in POSIX. */
export function isOption(token: string): boolean {
  return token.length > 1 && token.startsWith('-');
}

/** The declared option that a token names, with the value it carries; `undefined`: none. */
export function resolveOption(
  token: string,
  declared: readonly OptionSpec[],
): { readonly option: OptionSpec; readonly inline?: string } | undefined {
  if (!token.startsWith('--')) {
    const option = declared.find((one) => one.short === token[1]);
    if (option === undefined) return undefined;
    if (token.length === 2) return { option };
    return option.value === undefined ? undefined : { option, inline: token.slice(token[2] === '=' ? 3 : 2) };
  }
  const equals = token.indexOf('=');
  const name = token.slice(2, equals === -1 ? undefined : equals);
  const option = declared.find((one) => one.name === name);
  if (option === undefined) return undefined;
  return equals === -1 ? { option } : { option, inline: token.slice(equals + 1) };
}

/** `USAGE` for an option that is not declared, with the nearest name. */
export function unknownOption(
  token: string,
  declared: readonly OptionSpec[],
  command: string | undefined,
): WritError {
  const name = (token.split('=')[0] ?? token).slice(0, 80);
  const hints = suggest(
    name.replace(/^-+/, ''),
    declared.map((option) => option.name),
    (one) => `\`--${one}\``,
  );
  return usage(`unknown option \`${name}\``, { found: name, ...(command === undefined ? {} : { command }) }, [
    ...hints,
    command === undefined
      ? 'options of a command follow its name; `writ --help` lists the commands'
      : `\`writ ${command} --help\` shows the options`,
  ]);
}

/** The hint that names the nearest candidate, or none. */
export function suggest(
  typed: string,
  candidates: readonly string[],
  show: (one: string) => string,
): readonly string[] {
  const near = nearestName(typed, candidates);
  return near === undefined ? [] : [`did you mean ${show(near)}?`];
}

/** The fault for a command line that is not understood. */
export function usage(
  message: string,
  detail: Readonly<Record<string, unknown>>,
  hints: readonly string[],
  cause?: unknown,
): WritError {
  return new WritError('USAGE', { message, detail, hints, cause });
}

/** Options of every command, accepted before or after its name. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'json', about: 'exactly one JSON document on stdout' },
  { name: 'quiet', short: 'q', about: 'no progress and no notes; results and errors only' },
  { name: 'no-color', about: 'no colours (also NO_COLOR; FORCE_COLOR forces them)' },
  { name: 'repo', value: 'PATH', about: 'work on the repository at PATH instead of the current directory' },
  { name: 'help', short: 'h', about: 'show help for this level' },
  { name: 'version', about: 'show the version' },
];
