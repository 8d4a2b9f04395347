/* The commands of a POSIX shell text, and those that its wrapper programs run. */
import {
  checkBuiltIn,
  checkRunningOptions,
  envCommand,
  findCommands,
  isOpaque,
  splitPrefix,
  wrappers,
  xargsCommand,
} from './programs.ts';
import { readScript } from './script.ts';
import {
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
