/* Follows wrapper programs to the commands that they run. */
import { splitPrefix } from './options.ts';
import {
  checkBuiltIn,
  checkRunningOptions,
  envCommand,
  findCommands,
  isOpaque,
  wrappers,
  xargsCommand,
} from './programs.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';
import { readScript } from './script.ts';

const shells = new Set(['sh', 'dash', 'bash', 'ash']);

/** What GNU's own programs are called where the system has others. */
const gnuNames = new Set(['genv', 'gfind', 'gnice', 'gnohup', 'gstdbuf', 'gtime', 'gtimeout', 'gxargs']);

const bareName = /^(?:\[|:|[A-Za-z0-9_][A-Za-z0-9_.+@-]*)$/;

/**
 * Adds a simple command and every command that it is known to run. Ends the reading if these commands cannot be
 * determined.
 */
export function follow(argv: readonly ShellWord[], assignments: readonly string[], reading: Reading): void {
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
