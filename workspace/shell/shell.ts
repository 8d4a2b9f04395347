/* The commands of a POSIX shell text, and those that its wrapper programs run. */
import { readScript } from './script.ts';
import {
  checkAssignedName,
  Reading,
  type ShellRedirect,
  type ShellWord,
  type SimpleCommand,
  Unproven,
  unproven,
} from './word.ts';

export type { ShellRedirect, ShellWord, SimpleCommand } from './word.ts';

/** All commands that a text would run, or why they cannot be determined. */
export type ShellReading =
  | {
      readonly ok: true;
      /** In text order. A wrapper (`env`, `sh -c`) comes before the commands that it runs. */
      readonly commands: readonly SimpleCommand[];
      /** Names that are referenced without an assignment before, sorted. */
      readonly variables: readonly string[];
      /** Files that are read or written by redirection, in the order of the text. */
      readonly redirects: readonly ShellRedirect[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Every simple command in a POSIX shell text. Only what dash and bash read alike is accepted; what hides a program
 * behind an expansion, a function, a path (of which `isProgram` is not true) or a stream is not ok. Never throws on bad
 * input.
 */
export function commandsOf(
  text: string,
  options: { readonly isProgram?: (path: string) => boolean } = {},
): ShellReading {
  const reading = new Reading(options);
  try {
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } catch (thrown) {
    if (thrown instanceof Unproven) return { ok: false, reason: thrown.message };
    throw thrown;
  }
  const { commands, redirects } = reading;
  return { ok: true, commands, variables: [...reading.free].sort(), redirects };
}

/** The readable parts of a text that cannot be read as a whole. For display only, never for authorization. */
interface ReadParts {
  /** In text order. Text next to a command can change it: a function with its name, `eval`. */
  readonly commands: readonly SimpleCommand[];
  /** Why the rest cannot be determined; at least one reason. */
  readonly gaps: readonly string[];
}

/** Returns the readable parts of a text that `commandsOf` refused with this reason. */
export function partsOf(text: string, reason: string): ReadParts {
  const reading = new Reading({ isPartial: true });
  const gaps = reading.gaps ?? [];
  try {
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } catch (thrown) {
    if (!(thrown instanceof Unproven)) throw thrown;
    gaps.push(thrown.message);
  }
  return { commands: reading.commands, gaps: [...new Set([reason, ...gaps])] };
}

/** The words of one plain command; `undefined` for any other text, one with an expansion or a redirection included. */
export function wordsOf(text: string): readonly string[] | undefined {
  const words: ShellWord[] = [];
  try {
    readScript(text, new Reading(), (argv) => words.push(...argv));
  } catch (thrown) {
    if (thrown instanceof Unproven) return undefined;
    throw thrown;
  }
  const literals: string[] = [];
  let rest = text.trim();
  for (const word of words) {
    if (word.literal === undefined || !rest.startsWith(word.text)) return undefined;
    literals.push(word.literal);
    rest = rest.slice(word.text.length).trimStart();
  }
  return rest === '' && literals.length > 0 ? literals : undefined;
}

const shells = new Set(['sh', 'dash', 'bash', 'ash']);

/** What GNU's own programs are called where the system has others. */
const gnuNames = new Set(['genv', 'gfind', 'gnice', 'gnohup', 'gstdbuf', 'gtime', 'gtimeout', 'gxargs']);

const bareName = /^(?:\[|:|[A-Za-z0-9_][A-Za-z0-9_.+@-]*)$/;

/**
 * Adds a simple command and every command that it is known to run. Ends the reading if these commands cannot be
 * determined.
 */
function follow(argv: readonly ShellWord[], assignments: readonly string[], reading: Reading): void {
  const [first, ...args] = argv;
  const program = first?.literal;
  if (program === undefined)
    unproven(`the program \`${(first?.text ?? '').slice(0, 40)}\` is not written out`);
  if (program.includes('/') && !reading.isProgram(program))
    unproven(`expected a program's bare name, found the path \`${program.slice(0, 80)}\``);
  const name = program.slice(program.lastIndexOf('/') + 1);
  checkBuiltIn(name, args, reading);
  if (!bareName.test(name)) unproven(`expected a program's name, found \`${name.slice(0, 40)}\``);
  if (isOpaque(name)) unproven(`what \`${name}\` runs is unknown from its text`);
  checkRunningOptions(name, args);
  reading.add({ argv, assignments });
  reading.nested(() => followArguments(gnuNames.has(name) ? name.slice(1) : name, args, reading));
}

function followArguments(name: string, args: readonly ShellWord[], reading: Reading): void {
  const inner = (command: readonly ShellWord[]): void => {
    if (command.length > 0) follow(command, [], reading);
  };
  switch (true) {
    case shells.has(name):
      followShell(name, args, reading);
      break;
    case name === 'find':
      for (const command of findCommands(args)) inner(command);
      break;
    case name === 'env':
      inner(envCommand(args, reading));
      break;
    case name === 'xargs':
      inner(xargsCommand(args));
      break;
    case name === 'command' && /^-[vV]$/.test(args[0]?.literal ?? ''):
      break;
    default: {
      const prefix = wrappers.get(name);
      if (prefix) inner(splitPrefix(name, args, prefix).command);
    }
  }
}

/** `sh -c TEXT` and `sh FILE`; a shell that reads its standard input could run anything. */
function followShell(name: string, args: readonly ShellWord[], reading: Reading): void {
  const { options, command } = splitPrefix(name, args, {
    flags: ['-a', '-c', '-e', '-f', '-n', '-u', '-x', '-C'],
    valued: ['-o'],
  });
  for (const { name: option, value } of options) {
    if (option === '-o' && !/^(?:errexit|nounset|xtrace|noglob|pipefail)$/.test(value?.literal ?? '')) {
      unproven(`\`${name} -o\` with an unknown option`);
    }
  }
  const [subject] = command;
  if (options.some((option) => option.name === '-c')) {
    const text = subject?.literal;
    if (text === undefined) unproven(`expected the text of \`${name} -c\` to be written out in quotes`);
    readScript(text, reading, (argv, assignments) => follow(argv, assignments, reading));
  } else if (!subject?.operand || subject.literal === '' || /^\/(?:dev|proc)\//.test(subject.head)) {
    unproven(`\`${name}\` would read commands from a stream`);
  }
}

/** Built-ins that give text or a name a meaning that the tree does not show. */
const refused = new Set(
  `
    eval . source alias unalias trap fc hash builtin enable declare typeset let shopt mapfile readarray bind
    complete compgen compopt caller dirs pushd popd disown suspend logout history help local getopts coproc
    select function autoload emulate noglob nocorrect whence print functions setopt unsetopt zmodload chdir
  `
    .trim()
    .split(/\s+/),
);

/** Built-ins with variable names as operands, and the options that they may have. */
const namingOptions: ReadonlyMap<string, RegExp> = new Map([
  ['export', /^(?:-p|--)$/],
  ['readonly', /^(?:-p|--)$/],
  ['unset', /^(?:-v|--)$/],
  ['read', /^-r$/],
]);

/** Ends the reading where a shell built-in would do more than run with these arguments. */
function checkBuiltIn(name: string, args: readonly ShellWord[], reading: Reading): void {
  if (refused.has(name)) unproven(`what \`${name}\` does is unknown from its text`);
  const naming = namingOptions.get(name);
  if (naming) checkNames(name, args, reading, naming);
  if (name === 'set') {
    const isPlain = args.every((word) =>
      /^(?:[-+][aefuxC]+|[-+]o|errexit|nounset|xtrace|noglob|pipefail)$/.test(word.literal ?? ''),
    );
    if (!isPlain || args.length === 0) unproven('expected plain options after `set`');
  }
  if (name === 'test' || name === '[') checkTest(name, args);
  if ((name === 'printf' || name === 'wait') && args[0] !== undefined) {
    if (!args[0].operand && !/^--?$/.test(args[0].literal ?? '')) unproven(`\`${name}\` with an option`);
  }
}

const afterOperand = /^(?:\]|\)|=|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** `-v` evaluates the subscript in its operand, with any commands in it. So an expansion must not become `-v`. */
function checkTest(name: string, args: readonly ShellWord[]): void {
  for (const [index, word] of args.entries()) {
    if (/^-[vR]$/.test(word.literal ?? '')) unproven(`\`${name} ${word.literal}\` is not in every shell`);
    if (word.literal !== undefined || word.operand) continue;
    if (!word.single) unproven(`expected quotes around ${word.text.slice(0, 40)} in \`${name}\``);
    const next = args[index + 1];
    if (next && !afterOperand.test(next.literal ?? ''))
      unproven(`an expansion in \`${name}\` that could be an operator`);
  }
}

/** Operands that name variables: each is written out and may be assigned. */
function checkNames(name: string, args: readonly ShellWord[], reading: Reading, option: RegExp): void {
  for (const word of args) {
    const { literal, head } = word;
    if (literal !== undefined && option.test(literal)) continue;
    const equals = head.indexOf('=');
    const hasValue = equals !== -1 && (name === 'export' || name === 'readonly');
    if (hasValue ? !word.single : literal === undefined)
      unproven(`a name after \`${name}\` that is not written out`);
    const variable = hasValue ? head.slice(0, equals) : (literal ?? '');
    const value = literal?.slice(equals + 1);
    if (name === 'export' && !hasValue) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) unproven(`expected a name after \`${name}\``);
      reading.reference(variable);
      continue;
    }
    checkAssignedName(variable, value === undefined ? undefined : { ...word, literal: value });
    reading.assigned.add(variable);
  }
}

const flags = '-0 -o -p -r -t -x --null --open-tty --interactive --no-run-if-empty --verbose --exit';
const valued = '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars';
const attached = '-e -i -l --eof --replace --max-lines';
const xargs: Prefix = { flags: flags.split(' '), valued: valued.split(' '), attached: attached.split(' ') };

/** The command of `xargs`, to which unknown words are added; empty where it runs its own `echo`. */
function xargsCommand(args: readonly ShellWord[]): readonly ShellWord[] {
  const { options, command } = splitPrefix('xargs', args, xargs);
  if (command.length === 0) return [];
  const replacing = options.filter(({ name }) => /^(?:-I|-i|--replace)$/.test(name));
  const [replace] = replacing;
  if (replace === undefined) return [...command, unknownWords];
  // A later option overrides an earlier one.
  if (replacing.length > 1 || options.some(({ name }) => /^(?:-[Lln]|--max-(?:lines|args))$/.test(name))) {
    unproven('`xargs` with a placeholder and an option that takes it back');
  }
  const placeholder = replace.value === undefined ? '{}' : replace.value.literal;
  if (!placeholder) unproven('a placeholder of `xargs` that is not written out');
  return command.map((word) => withPlaceholder(word, placeholder));
}

const env: Prefix = {
  flags: ['-i', '-0', '-v', '--ignore-environment', '--null', '--debug'],
  valued: ['-u', '--unset', '-C', '--chdir'],
};
/** What follows the options and `NAME=value` operands of `env`; empty where it only prints. */
function envCommand(args: readonly ShellWord[], reading: Reading): readonly ShellWord[] {
  const { options, command } = splitPrefix('env', args, env);
  for (const { name, value } of options) {
    if (name === '-u' || name === '--unset') checkAssignedName(value?.literal ?? '', undefined);
  }
  let at = command[0]?.literal === '-' ? 1 : 0;
  for (; at < command.length; at += 1) {
    const word = command[at];
    const equals = word?.head.indexOf('=') ?? -1;
    if (word === undefined || equals === -1) break;
    if (!word.single) unproven('an assignment of `env` that is not one word');
    const name = word.head.slice(0, equals);
    const value = word.literal?.slice(equals + 1);
    checkAssignedName(name, value === undefined ? undefined : { ...word, literal: value });
    reading.assigned.add(name);
  }
  return command.slice(at);
}

/** The commands of `-exec`, `-execdir`, `-ok` and `-okdir`. */
function findCommands(args: readonly ShellWord[]): readonly (readonly ShellWord[])[] {
  const commands: (readonly ShellWord[])[] = [];
  for (const word of args) {
    if (!word.operand && word.literal === undefined)
      unproven('an argument of `find` that could be an option');
  }
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.literal ?? '')) continue;
    const command: ShellWord[] = [];
    for (at += 1; at < args.length; at += 1) {
      const word = args[at];
      if (word === undefined || word.literal === ';') break;
      if (word.literal === '+' && args[at - 1]?.literal === '{}') {
        command.splice(-1, 1, unknownWords);
        break;
      }
      command.push(withPlaceholder(word, '{}'));
    }
    if (at >= args.length) unproven('expected `;` or `{} +` to end the command of `find`');
    if (command.length === 0) unproven('expected a program after `-exec`');
    commands.push(command);
  }
  return commands;
}

/** Programs with another program and its arguments as arguments. */
const wrappers: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ['command', { flags: ['-p'] }],
  ['exec', {}],
  ['nohup', {}],
  [
    'time',
    {
      flags: ['-p', '-v', '-a', '-q', '--portability', '--verbose', '--append', '--quiet'],
      valued: ['-f', '-o', '--format', '--output'],
    },
  ],
  ['nice', { valued: ['-n', '--adjustment'] }],
  ['ionice', { flags: ['-t', '--ignore'], valued: ['-c', '-n', '--class', '--classdata'] }],
  [
    'timeout',
    {
      flags: ['-v', '--verbose', '--foreground', '--preserve-status'],
      valued: ['-k', '-s', '--kill-after', '--signal'],
      operands: 1,
    },
  ],
  ['setsid', { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'] }],
  ['stdbuf', { valued: ['-i', '-o', '-e', '--input', '--output', '--error'] }],
  ['xvfb-run', { flags: ['-a', '--auto-servernum'], valued: ['-s', '-n', '--server-args', '--server-num'] }],
]);

/**
 * Options, and words such as `SHELL=…`, with which a program that is not a wrapper runs another program. They are
 * matched by their beginning, because most of these programs accept abbreviated long options.
 */
const running: ReadonlyMap<string, RegExp> = new Map([
  ['sort', /^--comp/],
  ...['tar', 'gtar', 'bsdtar'].map((name): [string, RegExp] => [
    name,
    /^(?:-[A-Za-hj-z]*[IF]|-I|-F|--(?:checkpoint-a|use-c|to-c|rsh|info-s|new-v))/,
  ]),
  ['rsync', /^(?:-[a-zA-Z]*e|--rsh|--rsync-path)/],
  ['split', /^--f/],
  ['make', /^(?:SHELL[:+?]?=|\.SHELLFLAGS|MAKEFLAGS=|MAKEFILES=|--ev|-[a-zA-Z]*E)/],
  ['gmake', /^(?:SHELL[:+?]?=|\.SHELLFLAGS|MAKEFLAGS=|MAKEFILES=|--ev|-[a-zA-Z]*E)/],
  ['go', /^--?(?:exec|toolexec|vettool)(?:=|$)/],
  ...['npm', 'npx', 'pnpm', 'yarn'].map((name): [string, RegExp] => [name, /^--?script-shell/]),
  ['cargo', /^--config/],
  ['fd', /^(?:-[a-zA-Z]*[xX]|--exec)/],
  ['rg', /^--(?:pre|hostname-bin)(?:=|$)/],
  ['man', /^(?:-[a-zA-Z]*[PH]|--(?:pag|html))/],
  ['zip', /^(?:-TT|--unzip-command)/],
]);

/** In a script of `sed`: the command `e`, or the flag of `s`. Broad, since it reads no script. */
const sedRuns = /(?:^|[;{}\n!\d$/,])\s*e(?:\s|$)|[^\w\s][gpimIM\d]*e[gpimIM\d]*\s*(?:$|[;}\n])/;

const scriptOption = /^(?:--expression=?|-[a-zA-Z]*e)/;

/** Ends the reading where an argument of an ordinary program is known to run another program. */
function checkRunningOptions(name: string, args: readonly ShellWord[]): void {
  const option = running.get(name);
  const found = option && args.find(({ head }) => option.test(head));
  if (found) unproven(`what \`${name}\` runs by \`${found.text.slice(0, 40)}\` is unknown`);
  if (name !== 'sed' && name !== 'gsed') return;
  if (args.some(({ head }) => sedRuns.test(head.replace(scriptOption, ''))))
    unproven(`a script of \`${name}\` that may run a program`);
}

/** Programs that run others in ways that are not followed here. */
const names = new Set(
  `
    sudo doas su runuser pkexec chroot unshare nsenter setpriv capsh bwrap systemd-run busybox toybox watch
    parallel script scriptreplay expect unbuffer at batch crontab flock strace ltrace gdb lldb perf valgrind
    ssh screen tmux zsh ksh mksh yash posh rbash rksh fish csh tcsh rc es elvish nu pwsh xonsh run-parts start-stop-daemon chrt taskset
    prlimit numactl choom fakeroot faketime proot firejail runcon newgrp sg cmd entr ld.so rlwrap setarch
    linux32 linux64 i386 x86_64 uname26 dbus-run-session dbus-launch caffeinate
  `
    .trim()
    .split(/\s+/),
);

/** Returns whether the programs that this one runs cannot be determined from its arguments. */
function isOpaque(name: string): boolean {
  return names.has(name) || /^ld-linux/.test(name);
}

/** Any number of words that are known only when the command runs. */
const unknownWords: ShellWord = { text: '…', head: '', single: false, operand: false };

/** Returns the word with its placeholder as a file name that is not known yet. */
function withPlaceholder(word: ShellWord, placeholder: string): ShellWord {
  if (word.literal !== undefined && !word.literal.includes(placeholder)) return word;
  const [head = ''] = word.head.split(placeholder);
  return {
    text: word.text,
    head,
    single: word.single,
    operand: word.single && head !== '' && !/^[-+]/.test(head),
  };
}

/** How a wrapper program parses the words before the program that it runs. */
interface Prefix {
  /** Options without a value, e.g. `-i`, `--foreground`; short ones may be clustered. */
  readonly flags?: readonly string[];
  /** Options with a value, attached or in the next word. */
  readonly valued?: readonly string[];
  /** Options with an optional value, which must be attached. */
  readonly attached?: readonly string[];
  /** Words between the options and the program (`timeout 5 npm test`). */
  readonly operands?: number;
}

interface Option {
  readonly name: string;
  readonly value?: ShellWord;
}

/**
 * Splits what follows a wrapper's name into options, operands and the command. Refuses an option that it does not know.
 */
function splitPrefix(
  name: string,
  words: readonly ShellWord[],
  prefix: Prefix,
): { options: Option[]; command: readonly ShellWord[] } {
  const options: Option[] = [];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word?.operand && !word.head.startsWith('-')) break;
    const text = word?.literal;
    if (text === undefined) return unproven(`an option of \`${name}\` that is not written out`);
    if (!text.startsWith('-') || text === '-') break;
    if (text === '--') {
      at += 1;
      break;
    }
    const option = text.startsWith('--') ? longOption(text, prefix) : shortOption(text, prefix);
    if (option === undefined) unproven(`\`${name}\` with the option \`${text.slice(0, 40)}\``);
    if (!option.takesNext) options.push(...option.options);
    else {
      at += 1;
      const value = words[at];
      if (!value?.single) unproven(`expected a value after \`${text.slice(0, 40)}\` of \`${name}\``);
      options.push(...option.options.slice(0, -1), { name: option.options.at(-1)?.name ?? '', value });
    }
  }
  const operands = prefix.operands ?? 0;
  const skipped = words.slice(at, at + operands);
  if (skipped.some((word) => !word.single)) unproven(`an operand of \`${name}\` that is not one word`);
  return { options, command: words.slice(at + operands) };
}

interface Found {
  readonly options: Option[];
  readonly takesNext: boolean;
}

function longOption(text: string, prefix: Prefix): Found | undefined {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  if (equals === -1) {
    const plain = prefix.flags?.includes(name) || prefix.attached?.includes(name);
    if (plain) return { options: [{ name }], takesNext: false };
    return prefix.valued?.includes(name) ? { options: [{ name }], takesNext: true } : undefined;
  }
  const takesValue = prefix.valued?.includes(name) || prefix.attached?.includes(name);
  return takesValue
    ? { options: [{ name, value: literal(text.slice(equals + 1)) }], takesNext: false }
    : undefined;
}

function shortOption(text: string, prefix: Prefix): Found | undefined {
  const options: Option[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const name = `-${text[at]}`;
    const rest = text.slice(at + 1);
    if (prefix.flags?.includes(name)) options.push({ name });
    else if (prefix.attached?.includes(name) || (prefix.valued?.includes(name) && rest !== '')) {
      options.push(rest === '' ? { name } : { name, value: literal(rest) });
      return { options, takesNext: false };
    } else if (prefix.valued?.includes(name)) {
      options.push({ name });
      return { options, takesNext: true };
    } else return undefined;
  }
  return { options, takesNext: false };
}

function literal(text: string): ShellWord {
  return { text, literal: text, head: text, single: true, operand: !text.startsWith('-') };
}
