/* Types of a command: its declaration, its context and its result, and how its modules are loaded. */
import type { Readable } from 'node:stream';
import type { JsonData } from '../../api/schemas/shape.ts';
import type { WritError } from '../../core/base/errors.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import type { Stores } from '../../store/stores.ts';
import type { Printer } from '../terminal/print.ts';
import type { Progress } from '../terminal/progress.ts';

/** One option as data. Without `value` it is a flag. */
export interface OptionSpec {
  /** Long name without dashes, kebab-case. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Placeholder of the value in the help text, e.g. `FILE`. */
  readonly value?: string;
  /**
   * The option may appear without a value; `means` describes that case. The next token is its value only if listed in
   * `unless`, or, with `words`, if it is not an option.
   */
  readonly bare?: { readonly means: string; readonly unless: readonly string[] | 'words' };
  /** May be given more than once; otherwise a second one is a usage error. */
  readonly repeatable?: boolean;
  /** The only values accepted. */
  readonly choices?: readonly string[];
  /** Heading in the help text; absent: `Options`. */
  readonly group?: string;
  readonly about: string;
}

/** One positional argument as data; only the last may be variadic. */
export interface ArgumentSpec {
  readonly name: string;
  readonly about: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** Words behind `--`: usage shows them after the options, and a list of commands leaves them out. */
  readonly behindDashes?: true;
}

/** One command as data, so that parsing and help load none of its code. */
export interface CommandSpec {
  /** One or two words: `run`, `spec validate`. */
  readonly name: string;
  /** One line, lower case, no full stop. */
  readonly summary: string;
  /** For programs only: no list of commands names it. */
  readonly hidden?: boolean;
  /** Paragraphs below the usage line. */
  readonly description?: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Whole command lines and what they do. */
  readonly examples: readonly { readonly line: string; readonly about: string }[];
  /**
   * The command writes its own JSON while it runs (NDJSON, or one early document). The dispatcher adds none on
   * success. The name of a flag: with this flag.
   */
  readonly streams?: true | string;
  /** An argument too many may be a secret that was typed in the wrong place: it is not repeated. */
  readonly hidesUnexpected?: boolean;
  /** Loads the module of the command when it is called. */
  readonly load: () => Promise<RunCommand>;
}

/** A command: everything it needs is in its context; it returns what is printed and the exit code. */
export type RunCommand = (context: CommandContext) => Promise<CommandResult>;

/** Options as typed: every value is the exact string. An undeclared name is a programming fault. */
export interface CommandOptions {
  /** `undefined`: not given. */
  value(name: string): string | undefined;
  /** In the order given; empty when not given. */
  values(name: string): readonly string[];
  flag(name: string): boolean;
}

/** Everything a command may use. It does not expose the process itself. */
export interface CommandContext {
  readonly args: readonly string[];
  /** Every command of this program. */
  readonly commands: readonly CommandSpec[];
  readonly options: CommandOptions;
  /** Aborts with a WritError `RUN_INTERRUPTED` as reason on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Gives Ctrl+C to another owner of the terminal: it no longer ends the command. Call the returned function to
   * restore it.
   */
  readonly leaveInterrupts?: () => () => void;
  /** Diagnostics while the command works go to `print.note` (stderr); results go into CommandResult. */
  readonly print: Printer;
  readonly progress: Progress;
  readonly cwd: string;
  /** What a repository's runs may be kept in, for commands that need no engine. */
  readonly stores: Stores;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** The user can be prompted: there are terminals for the prompt and for the answer. */
  readonly interactive: boolean;
  /** Whether stdout is a terminal. */
  readonly hasScreen: boolean;
  /** Whether what stdout shows may be coloured. */
  readonly colour: boolean;
  /** Threads that commands of one process share; else each engine starts its own. */
  readonly pool?: WorkerPool;
  /** `--repo`, resolved against `cwd`. */
  readonly repoPath?: string;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** How a command ended: `error` exactly when `exitCode` is not 0, `data` whenever there is something to show. */
export type CommandResult =
  | { readonly exitCode: 0; readonly data?: JsonData; readonly human: (printer: Printer) => void }
  | {
      readonly exitCode: number;
      readonly error: WritError;
      readonly data?: JsonData;
      readonly human: (printer: Printer) => void;
    };

/** Exit 0. */
export function succeeded(data: JsonData, human: (printer: Printer) => void): CommandResult {
  return { exitCode: 0, data, human };
}

/** A negative result: the catalogue's exit code, with the same data as a positive one. */
export function refused(error: WritError, data: JsonData, human: (printer: Printer) => void): CommandResult {
  return { exitCode: error.exitCode, error, data, human };
}

/**
 * Loads a command's modules with a fixed young generation. Loading creates mostly garbage, and V8 would keep 30 MB
 * for it. The command itself runs with V8's default, or, if it `stays` lean, with the young generation as it is then:
 * a run starts many processes, each costs a copy of its page tables, and most of what it allocates is garbage too.
 *
 * Loading becomes a third slower. That pays off for a command that starts many copies of this process, stays running,
 * or (around its work) has bounded memory.
 */
export async function loadLean<T>(load: () => Promise<T>, stays = false): Promise<T> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    if (!stays) setFlagsFromString('--semi-space-growth-factor=2');
  }
}
