/* The entry of the command line program. */
import { isAbsolute, resolve } from 'node:path';
import { systemClock } from '../core/base/clock.ts';
import { messageOf, WritError } from '../core/base/errors.ts';
import { commands } from './command-table.ts';
import { dispatch } from './dispatch.ts';
import { exit, exitNow } from './exit.ts';
import { openOutput } from './terminal/open-output.ts';
import { escapeTerminal } from './terminal/print.ts';

/** One Ctrl+C can come twice: from the terminal, and from npm or timeout(1), which pass it on. */
const echoMs = 250;

/** CURRENT_DIRECTORY_GONE where somebody has removed it. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (fault) {
    throw new WritError('CURRENT_DIRECTORY_GONE', { cause: fault });
  }
}

/** git and the programs of checks, which start in other directories, use the same directory for temporary files. */
function makeTemporaryAbsolute(): void {
  for (const name of ['TMPDIR', 'TMP', 'TEMP']) {
    const given = process.env[name];
    if (!given || isAbsolute(given)) continue;
    try {
      process.env[name] = resolve(given);
    } catch {
      // The current directory is gone, which the command reports if it needs one.
    }
  }
}

/**
 * Runs a command line in this process and exits. The first SIGINT or SIGTERM requests an orderly stop; a later one
 * exits at once.
 */
export async function main(argv: readonly string[]): Promise<void> {
  makeTemporaryAbsolute();
  const out = openOutput(1, () => process.stdout);
  const err = openOutput(2, () => process.stderr);
  const interrupted = new AbortController();
  let askedAt = Number.NEGATIVE_INFINITY;
  let left = 0;
  const interrupt = (signal: NodeJS.Signals): void => {
    if (signal === 'SIGINT' && left > 0) return;
    const now = systemClock.monotonic();
    if (now - askedAt < echoMs) return;
    if (interrupted.signal.aborted) exitNow(130);
    askedAt = now;
    interrupted.abort(
      new WritError('RUN_INTERRUPTED', { message: `interrupted by ${signal}`, detail: { signal } }),
    );
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  process.on('uncaughtException', (thrown) => {
    err.write(`writ: INTERNAL: ${escapeTerminal(messageOf(thrown))}\n`);
    if (process.env.WRIT_DEBUG === '1' && thrown instanceof Error) err.write(`${thrown.stack ?? ''}\n`);
    exitNow(70);
  });

  const code = await dispatch(argv, commands, {
    out,
    err,
    outTerminal: out,
    errTerminal: err,
    get stdin() {
      return process.stdin;
    },
    get cwd() {
      return currentDirectory();
    },
    env: process.env,
    signal: interrupted.signal,
    leaveInterrupts() {
      left += 1;
      return () => {
        left -= 1;
      };
    },
  });
  await exit(code, out, err);
}
