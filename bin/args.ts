/* Parses the command line with cac, strictly. */
import { cac } from 'cac';
import { WritError } from '../core/base/errors.ts';
import type { ArgumentSpec, CommandOptions, CommandSpec, OptionSpec } from './command-parts/command.ts';
import { globalOptions, isOption, resolveOption, suggest, unknownOption, usage } from './help.ts';

/** A command line as understood. `help` without a command is about `group` or about everything. */
type Invocation =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command?: CommandSpec; readonly group?: string }
  | {
      readonly kind: 'command';
      readonly command: CommandSpec;
      readonly args: readonly string[];
      readonly options: CommandOptions;
    };

/** Parses what follows `writ`. Values come through as the exact strings; whatever is not declared is `USAGE`. */
export function parseArguments(argv: readonly string[], commands: readonly CommandSpec[]): Invocation {
  const named = findCommand(argv, commands);
  const flags = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  if (flags.includes('--help') || flags.includes('-h')) return helpFor(named, commands);
  if (flags.includes('--version')) return { kind: 'version' };

  const command = commandOf(named, commands);
  const declared = [...globalOptions, ...command.options];
  const parsed = readWithCac(command, declared, lex(named.rest, declared, command.name));
  checkValues(command, declared, parsed.options);
  return { kind: 'command', command, args: parsed.args, options: parsed.options };
}

function helpFor(named: NamedCommand, commands: readonly CommandSpec[]): Invocation {
  const [first] = named.words;
  if (first === undefined) return { kind: 'help' };
  const isCommand = commands.some(({ name }) => name === first);
  if (named.words.length === 1 && !isCommand && isGroup(first, commands))
    return { kind: 'help', group: first };
  return { kind: 'help', command: commandOf(named, commands) };
}

interface Lexed {
  /** `--name` or `--name==value`: no spelling that cac would coerce, split, nest or swallow. */
  readonly options: readonly string[];
  /** `=text`, in order. */
  readonly positionals: readonly string[];
}

function lex(tokens: readonly string[], declared: readonly OptionSpec[], command: string): Lexed {
  const options: string[] = [];
  const positionals: string[] = [];
  const seen = new Set<string>();
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    if (token === '--') {
      positionals.push(...tokens.slice(at + 1).map((text) => `=${text}`));
      break;
    }
    if (!isOption(token)) {
      positionals.push(`=${token}`);
      continue;
    }
    const resolved = resolveOption(token, declared);
    if (resolved === undefined) throw unknownOption(token, declared, command);
    const { option, inline } = resolved;
    const shown = `--${option.name}`;
    const help = `\`writ ${command} --help\` shows the options`;
    if (seen.has(option.name) && option.repeatable !== true) {
      throw usage(`\`${shown}\` is given twice`, { command, option: shown, expected: 'once' }, [help]);
    }
    seen.add(option.name);
    if (option.value === undefined) {
      if (inline !== undefined)
        throw usage(`\`${shown}\` takes no value`, { command, option: shown, found: inline }, [help]);
      options.push(shown);
      continue;
    }
    let value = inline;
    if (value === undefined) {
      const next = tokens[at + 1];
      if (option.bare !== undefined && !isValueOf(option.bare, next)) {
        options.push(`${shown}==${option.bare.means}`);
        continue;
      }
      if (next === undefined || isOption(next) || next === '--') {
        throw usage(
          `\`${shown}\` needs a value`,
          { command, option: shown, expected: option.value, found: next ?? null },
          [`a value that begins with a dash is written \`${shown}=VALUE\``, help],
        );
      }
      value = next;
      at += 1;
    }
    if (value === '')
      throw usage(
        `\`${shown}\` needs a value`,
        { command, option: shown, expected: option.value, found: '' },
        [help],
      );
    options.push(`${shown}==${value}`);
  }
  return { options, positionals };
}

/** Returns whether the next token is the value of an option with an optional value. */
function isValueOf({ unless }: NonNullable<OptionSpec['bare']>, next: string | undefined): boolean {
  if (next === undefined) return false;
  return unless === 'words' ? !isOption(next) && next !== '--' : unless.includes(next);
}

function readWithCac(
  command: CommandSpec,
  declared: readonly OptionSpec[],
  lexed: Lexed,
): { readonly args: readonly string[]; readonly options: CommandOptions } {
  const cli = cac('writ');
  const known = cli.command([command.name, ...command.arguments.map(toBrackets)].join(' '));
  for (const option of declared)
    known.option(`--${option.name}${option.value === undefined ? '' : ' <value>'}`, option.about);
  const parsed = cli.parse(['node', 'writ', command.name, ...lexed.positionals, ...lexed.options], {
    run: false,
  });
  known.checkUnknownOptions();
  const help = `\`writ ${command.name} --help\` shows the arguments`;
  const args = parsed.args.map((text) => text.slice(1));
  try {
    known.checkRequiredArgs();
  } catch (cause) {
    const missing = command.arguments[args.length]?.name ?? '';
    throw usage(
      `argument ${missing} is missing`,
      { command: command.name, expected: command.arguments.map((one) => one.name), found: null },
      [help],
      cause,
    );
  }
  try {
    known.checkUnusedArgs();
  } catch (cause) {
    const extra = command.hidesUnexpected ? '…' : (args[command.arguments.length] ?? '');
    const names = command.arguments.map((one) => one.name);
    throw usage(
      `unexpected argument \`${extra}\``,
      { command: command.name, expected: names.length === 0 ? 'no argument' : names, found: extra },
      [help],
      cause,
    );
  }
  return { args, options: toOptions(declared, parsed.options) };
}

function toBrackets(argument: ArgumentSpec): string {
  const name = argument.variadic === true ? `...${argument.name}` : argument.name;
  return argument.optional === true ? `[${name}]` : `<${name}>`;
}

/** cac keys options in camel case and turns `no-x` into `x: false`. */
function toOptions(
  declared: readonly OptionSpec[],
  parsed: Readonly<Record<string, unknown>>,
): CommandOptions {
  const values = new Map<string, readonly string[]>();
  const flags = new Map<string, boolean>();
  for (const { name, value } of declared) {
    const negated = name.startsWith('no-');
    const key = name
      .slice(negated ? 3 : 0)
      .replace(/([a-z])-([a-z])/g, (_, before: string, after: string) => before + after.toUpperCase());
    const found = parsed[key];
    if (value === undefined) flags.set(name, found === !negated);
    else values.set(name, found === undefined ? [] : [found].flat().map((text) => String(text).slice(1)));
  }
  const read = <T>(from: Map<string, T>, name: string): T => {
    const found = from.get(name);
    if (found === undefined)
      throw new WritError('INTERNAL', {
        message: `option \`${name}\` is not declared`,
        detail: { option: name },
      });
    return found;
  };
  return {
    value: (name) => read(values, name)[0],
    values: (name) => read(values, name),
    flag: (name) => read(flags, name),
  };
}

function checkValues(command: CommandSpec, declared: readonly OptionSpec[], options: CommandOptions): void {
  for (const { name, value, choices } of declared) {
    if (value === undefined || choices === undefined) continue;
    for (const given of options.values(name)) {
      if (choices.includes(given)) continue;
      throw usage(
        `\`--${name}\` does not know \`${given}\``,
        { command: command.name, option: `--${name}`, expected: choices, found: given },
        [
          ...suggest(given, choices, (one) => `\`${one}\``),
          `\`writ ${command.name} --help\` shows the options`,
        ],
      );
    }
  }
}

/** A command line without its command words. */
interface NamedCommand {
  /** The command words found: none, a group alone, or a whole name (known or not). */
  readonly words: readonly string[];
  readonly rest: readonly string[];
}

/** Removes the command words from the command line. Only global options may precede them. */
function findCommand(argv: readonly string[], commands: readonly CommandSpec[]): NamedCommand {
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
function isGroup(word: string, commands: readonly CommandSpec[]): boolean {
  return commands.some((command) => command.name.startsWith(`${word} `));
}

/** The command that the words name; `USAGE` with the nearest name otherwise. */
function commandOf(named: NamedCommand, commands: readonly CommandSpec[]): CommandSpec {
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
