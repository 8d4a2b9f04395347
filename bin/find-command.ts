import type { CommandSpec } from './command-parts/command.ts';
import { globalOptions } from './global-options.ts';
import { isOption, resolveOption, suggest, unknownOption, usage } from './option-token.ts';

/** A command line with its command words taken out. */
export interface NamedCommand {
  /** The command words found: none, a group alone, or a whole name (known or not). */
  readonly words: readonly string[];
  readonly rest: readonly string[];
}

/** Takes the command's words out of the line; before them only global options may stand. */
export function findCommand(argv: readonly string[], commands: readonly CommandSpec[]): NamedCommand {
  const words: string[] = [];
  const rest: string[] = [];
  let at = 0;
  for (; at < argv.length && !isComplete(words, commands); at += 1) {
    const token = argv[at] ?? '';
    if (token === '--') break;
    if (!isOption(token)) {
      words.push(token);
      continue;
    }
    rest.push(token);
    const option = resolveOption(token, globalOptions)?.option;
    if (option === undefined) {
      if (words.length > 0) break;
      throw unknownOption(token, globalOptions, undefined);
    }
    const next = argv[at + 1];
    if (option.value !== undefined && !token.includes('=') && next !== undefined) {
      rest.push(next);
      at += 1;
    }
  }
  return { words, rest: [...rest, ...argv.slice(rest.length + words.length)] };
}

function isComplete(words: readonly string[], commands: readonly CommandSpec[]): boolean {
  const [first] = words;
  return words.length === 2 || (first !== undefined && !isGroup(first, commands));
}

/** True for a word that only begins command names, such as `spec`. */
export function isGroup(word: string, commands: readonly CommandSpec[]): boolean {
  return commands.some((command) => command.name.startsWith(`${word} `));
}

/** The command that the words name; `USAGE` with the nearest name otherwise. */
export function commandOf(named: NamedCommand, commands: readonly CommandSpec[]): CommandSpec {
  const [first, second] = named.words;
  const name = named.words.join(' ');
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  if (first !== undefined && isGroup(first, commands)) {
    const members = commands
      .filter((command) => command.name.startsWith(`${first} `))
      .map((command) => command.name.slice(first.length + 1));
    throw usage(
      second === undefined ? `\`${first}\` needs a subcommand` : `unknown command \`${first} ${second}\``,
      { expected: members, found: second ?? null },
      [
        ...suggest(second ?? '', members, (member) => `\`writ ${first} ${member}\``),
        `\`writ ${first} --help\` lists them`,
      ],
    );
  }
  const names = commands.map((command) => command.name);
  throw usage(
    first === undefined ? 'no command given' : `unknown command \`${first}\``,
    { found: first ?? null },
    [
      ...suggest(
        first ?? '',
        [...new Set(names.map((one) => one.split(' ')[0] ?? one))],
        (one) => `\`writ ${one}\``,
      ),
      '`writ --help` lists the commands',
    ],
  );
}
