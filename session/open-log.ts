/** The diagnostic log, filtered as `RUST_LOG` is. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs';
import { type Clock, toRfc3339 } from '../core/base/clock.ts';
import { messageOf, WritError } from '../core/base/errors.ts';
import { printable } from '../core/base/printable.ts';

/** Facts logged with a line. They never contain text of a person or a model, and never a token. */
export type LogFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** The diagnostic log of the process. */
export interface SessionLog {
  /** The file that it is in; absent where it goes to `stderr`, or nowhere. */
  readonly file: string | undefined;
  /** `target` below `writ`, e.g. `http`; `event` is a few words that never change. */
  tell(level: Exclude<LogLevel, 'off'>, target: string, event: string, facts?: LogFacts): void;
  close(): void;
}

export interface LogSetting {
  /** Reads `WRIT_LOG`, `RUST_LOG` and `WRIT_LOG_FILE`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Resolves relative paths. */
  readonly toPath: (given: string) => string;
  readonly clock: Clock;
  readonly stderr: (line: string) => void;
}

const defaultOfFile = 'writ=debug';
const maxFact = 300;

/**
 * Opens the log that the environment selects. `WRIT_LOG` wins over `RUST_LOG`; with `WRIT_LOG_FILE` it is a file of
 * mode 0600, appended to, with the default filter `writ=debug`. PRIVATE_FILE_UNSAFE for a link, a pipe or another
 * owner's file.
 */
export function openLog({ env, toPath, clock, stderr }: LogSetting): SessionLog {
  const named = env.WRIT_LOG_FILE ?? '';
  const file = named === '' ? undefined : toPath(named);
  const said = [env.WRIT_LOG, env.RUST_LOG].find((text) => (text ?? '').trim() !== '');
  const filter = parseLogFilter(said ?? (file === undefined ? 'off' : defaultOfFile));
  const handle = file === undefined ? undefined : openOwn(file);
  let isOpen = true;
  const write = (line: string): void => {
    if (handle === undefined) {
      stderr(line);
      return;
    }
    try {
      writeSync(handle, `${line}\n`);
    } catch (fault) {
      // A full disk ends only the log.
      isOpen = false;
      stderr(`the log cannot be written: ${messageOf(fault)}`);
    }
  };
  return {
    file,
    tell(level, target, event, facts = {}) {
      if (isOpen && isTold(filter, target, level))
        write(
          `${toRfc3339(clock.now())} ${level.toUpperCase().padEnd(5)} writ::${target}: ${event}${words(facts)}`,
        );
    },
    close() {
      if (handle !== undefined) closeSync(handle);
      isOpen = false;
    },
  };
}

function isTold(filter: LogFilter, target: string, level: Exclude<LogLevel, 'off'>): boolean {
  return filter.tells(`writ::${target}`, level);
}

function words(facts: LogFacts): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${JSON.stringify(printable(String(value)).slice(0, maxFact))}`)
    .join('');
}

function openOwn(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  let handle: number | undefined;
  try {
    handle = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    const found = fstatSync(handle);
    if (!found.isFile()) throw new Error('it is not a regular file');
    if (process.geteuid !== undefined && found.uid !== process.geteuid())
      throw new Error(`it belongs to user ${found.uid}`);
    if ((found.mode & 0o077) !== 0) fchmodSync(handle, 0o600);
    return handle;
  } catch (cause) {
    if (handle !== undefined) closeSync(handle);
    throw new WritError('PRIVATE_FILE_UNSAFE', {
      message: `\`WRIT_LOG_FILE\`: \`${path}\` cannot be the log: ${messageOf(cause)}`,
      detail: { path },
      hints: ['name a file in a directory that you can write to'],
      cause,
    });
  }
}

/** From the least to the most output. */
const logLevels = ['off', 'error', 'warn', 'info', 'debug', 'trace'] as const;
type LogLevel = (typeof logLevels)[number];

/** What is written down, by the beginnings of targets; the longest one that fits counts. */
interface LogFilter {
  /** Whether a line of this target and level is written. */
  tells(target: string, level: Exclude<LogLevel, 'off'>): boolean;
}

const maxDirectives = 64;

/**
 * Parses a filter in the syntax of `RUST_LOG`: `level` or `target=level`, separated by commas (`writ::http=trace`).
 * Other directives are for other programs and are ignored.
 */
export function parseLogFilter(text: string): LogFilter {
  const rows = text
    .split(',', maxDirectives)
    .map(readDirective)
    .filter((row) => row !== undefined)
    .sort((left, right) => right.target.length - left.target.length);
  return {
    tells(target, level) {
      const row = rows.find((one) => isWithin(one.target, target));
      return row !== undefined && logLevels.indexOf(level) <= logLevels.indexOf(row.level);
    },
  };
}

function readDirective(text: string): { readonly target: string; readonly level: LogLevel } | undefined {
  const [, target, given] = /^\s*(?:([A-Za-z0-9_:-]{1,100})=)?([A-Za-z0-9_:-]{1,100})\s*$/.exec(text) ?? [];
  if (given === undefined) return undefined;
  const level = logLevels.find((one) => one === given.toLowerCase());
  if (level !== undefined) return { target: target ?? '', level };
  // A target without a level selects all levels.
  return target === undefined ? { target: given, level: 'trace' } : undefined;
}

function isWithin(above: string, target: string): boolean {
  return above === '' || target === above || target.startsWith(`${above}::`);
}
