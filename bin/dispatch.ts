/* Runs one command line: parse, load the command, print its result, return its exit code. */
import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { cac } from 'cac';
import { userSecrets } from '../api/vault/user-secrets.ts';
import { systemClock } from '../core/base/clock.ts';
import { isWritError, WritError } from '../core/base/errors.ts';
import type { WorkerPool } from '../core/kernel/worker/pool.ts';
import { createStores } from '../plugins/store/built-in-stores.ts';
import type {
  ArgumentSpec,
  CommandContext,
  CommandOptions,
  CommandResult,
  CommandSpec,
  OptionSpec,
} from './command-parts/command.ts';
import { globalOptions, isOption, resolveOption, suggest, unknownOption, usage } from './help.ts';
import { createPrinter, type Sink, wantsColour } from './terminal/print.ts';
import { createProgress } from './terminal/progress.ts';

/** What a command line runs in; the real process or a test. */
export interface Host {
  readonly out: Sink;
  readonly err: Sink;
  readonly outTerminal: { readonly isTTY?: boolean | undefined };
  readonly errTerminal: { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly stdin: Readable;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** See `CommandContext`. */
  readonly leaveInterrupts?: () => () => void;
  /** Worker threads that outlive the command line; the creator closes them. */
  readonly pool?: WorkerPool;
}

/** Runs one command line and resolves to its exit code; never throws, prints everything there is to print. */
export async function dispatch(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  host: Host,
): Promise<number> {
  const globals = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const events = globals.includes('--events');
  const json = globals.includes('--json') || (events && globals[0] !== 'schema');
  const quiet = globals.includes('--quiet') || globals.includes('-q');
  const plain = globals.includes('--no-color');
  const progress = createProgress(
    host.err,
    { enabled: host.errTerminal.isTTY === true && !quiet && !json, columns: host.errTerminal.columns ?? 80 },
    systemClock,
  );
  const printer = createPrinter(host.out, host.err, {
    quiet,
    isOnRunner: host.env.GITHUB_ACTIONS === 'true',
    colourOut: wantsColour(host.env, host.outTerminal, plain),
    colourErr: wantsColour(host.env, host.errTerminal, plain),
    before: progress.clear,
  });

  const end = async (command: string, result: CommandResult, streamed = false): Promise<number> => {
    progress.clear();
    const code = await answer(command, result, streamed);
    for (const line of at === undefined ? [] : await setAsideLines(at)) printer.complain('writ: ', line);
    return code;
  };
  const answer = async (command: string, result: CommandResult, streamed: boolean): Promise<number> => {
    const error = 'error' in result ? result.error : undefined;
    if (json && streamed && error === undefined) return result.exitCode;
    if (json) {
      const { toEnvelope } = await import('../api/envelope.ts');
      host.out.write(toEnvelope(command, { data: result.data, error }, streamed || events));
    } else {
      result.human(printer);
      if (error === undefined) return result.exitCode;
      const { complain } = await import('./exit.ts');
      complain(printer, error, host.env);
    }
    return result.exitCode;
  };

  let name = '';
  let streams = false;
  let at: string | undefined;
  try {
    const invocation = parseArguments(argv, commands);
    if (invocation.kind === 'version') {
      const { readVersion } = await import('../api/build.ts');
      const version = readVersion();
      return await end('version', { exitCode: 0, data: { version }, human: (to) => to.line(version) });
    }
    if (invocation.kind === 'help') {
      const { helpText } = await import('./help.ts');
      const text = helpText(commands, invocation);
      return await end('help', { exitCode: 0, data: { text }, human: (to) => to.text(text) });
    }
    const { command, args, options } = invocation;
    name = command.name;
    streams = typeof command.streams === 'string' ? options.flag(command.streams) : command.streams === true;
    const context: CommandContext = {
      args,
      commands,
      options,
      signal: host.signal,
      ...(host.leaveInterrupts === undefined ? {} : { leaveInterrupts: host.leaveInterrupts }),
      print: printer,
      progress,
      cwd: host.cwd,
      stores: createStores(userSecrets(host.env)),
      env: host.env,
      get stdin() {
        return host.stdin;
      },
      get interactive() {
        return host.errTerminal.isTTY === true && 'isTTY' in host.stdin && host.stdin.isTTY === true;
      },
      colour: wantsColour(host.env, host.outTerminal, plain),
      hasScreen: host.outTerminal.isTTY === true,
      ...(host.pool === undefined ? {} : { pool: host.pool }),
      ...repositoryOf(options, host.cwd),
      json,
      quiet,
    };
    const run = await command.load();
    at = context.repoPath ?? host.cwd;
    return await end(name, await run(context), streams);
  } catch (thrown) {
    const { toFault } = await import('../api/envelope.ts');
    const error = interruption(thrown, host.signal) ?? toFault(thrown);
    if (name === '' && typeof error.detail.command === 'string') name = error.detail.command;
    return end(name, { exitCode: error.exitCode, error, human: () => {} }, streams);
  }
}

function repositoryOf(options: CommandOptions, cwd: string): { readonly repoPath?: string } {
  const given = options.value('repo');
  return given === undefined ? {} : { repoPath: resolve(cwd, given) };
}

/** Once interrupted, an abort that surfaces in any wording is the interruption. */
function interruption(thrown: unknown, signal: AbortSignal): WritError | undefined {
  if (!signal.aborted || !isWritError(signal.reason)) return undefined;
  const aborted = thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError');
  return aborted ? signal.reason : undefined;
}

/**
 * What every command reports of local changes that a run stored and did not merge back. Costs a few file reads if there
 * are none. Never fails: a repository that cannot be read is reported by the command itself.
 */
async function setAsideLines(start: string): Promise<readonly string[]> {
  try {
    if (!mayHoldAny(start)) return [];
    const { openRepository } = await import('../workspace/git/repository.ts');
    const { setAsideNotices } = await import('../workspace/git/set-aside.ts');
    return await setAsideNotices(await openRepository(start, { bare: true, onlyReads: true }));
  } catch {
    return [];
  }
}

/** Returns false if git's ref files show that no such ref exists. */
function mayHoldAny(start: string): boolean {
  const gitDir = findGitDir(start);
  if (gitDir === undefined) return false;
  const common = readText(join(gitDir, 'commondir'));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trimEnd());
  if (exists(join(commonDir, 'refs/writ/set-aside')) || exists(join(commonDir, 'reftable'))) return true;
  return readText(join(commonDir, 'packed-refs'))?.includes(' refs/writ/set-aside/') === true;
}

function findGitDir(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    const found = join(at, '.git');
    if (exists(join(found, 'HEAD'))) return found;
    const link = readText(found)?.match(/^gitdir: (.+)\n$/)?.[1];
    if (link !== undefined) return resolve(at, link);
    if (exists(join(at, 'HEAD')) && exists(join(at, 'refs'))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** False also below a file: `.git` is a file in a linked working tree and in a submodule. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'latin1') : undefined;
  } catch {
    return undefined;
  }
}

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
