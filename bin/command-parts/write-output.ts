/* Writes output files, prints early warnings, and parses numbers of the command line. */
import { closeSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, WritError } from '../../core/base/errors.ts';
import type { Issue } from '../../core/interfaces/finding.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { styled } from '../terminal/print.ts';
import type { CommandContext } from './command.ts';

/**
 * Creates a file with these bytes and returns its absolute path. `OUTPUT_EXISTS` if the path exists, even as a
 * symlink. A partially written file is removed.
 */
export function writeOutput(cwd: string, path: string, bytes: string | Uint8Array): string {
  const target = resolve(cwd, path);
  let descriptor: number;
  try {
    descriptor = openSync(target, 'wx');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw exists(path, target, cause);
    }
    throw outputFailed(path, cause);
  }
  try {
    const content = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written);
  } catch (cause) {
    unlinkSync(target);
    throw outputFailed(path, cause);
  } finally {
    closeSync(descriptor);
  }
  return target;
}

/** Locks a file that a command reads, changes and writes. OUTPUT_FAILED if another process holds it for 15 seconds. */
export async function lockOutput(path: string, lockPath: string): Promise<AsyncDisposable> {
  const { acquireProcessLock } = await import('../../workspace/process/process-lock.ts');
  const lock = await acquireProcessLock(lockPath, {
    waitMs: 15_000,
    busy: () => outputFailed(path, new Error('another process changes it')),
  });
  return { [Symbol.asyncDispose]: () => lock.release() };
}

/** The lock for changes of `.writ/config.toml` by commands. */
export function configLock({ commonDir }: Pick<Repository, 'commonDir'>): string {
  return join(commonDir, 'writ', 'config.lock');
}

/** Creates a directory at an unused path and returns its absolute path. OUTPUT_EXISTS, OUTPUT_FAILED. */
export async function makeDirectory({ cwd }: { readonly cwd: string }, path: string): Promise<string> {
  const directory = resolve(cwd, path);
  await mkdir(directory).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw outputFailed(path, cause);
    throw new WritError('OUTPUT_EXISTS', {
      message: `\`${path}\` exists already`,
      detail: { path },
      cause,
    });
  });
  return directory;
}

function exists(path: string, target: string, cause: unknown): WritError {
  const isDirectory = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  return new WritError('OUTPUT_EXISTS', {
    message: isDirectory ? `\`${path}\` is a directory` : `\`${path}\` exists already`,
    detail: { path },
    ...(isDirectory ? { hints: ['name a file in it'] } : {}),
    cause,
  });
}

type Words = (directory: string) => readonly [why: string, hint: string];

const closed: Words = (directory) => [
  `nothing may be written in \`${directory}\``,
  'name a file in a directory of your own',
];
/** Cause and next step by file system error. Other errors show their own message. */
const words = new Map<unknown, Words>([
  ['ENOENT', (directory) => [`there is no directory \`${directory}\``, `make it: \`mkdir -p ${directory}\``]],
  // A recursive `mkdir` reports this for a file above the path.
  ['EEXIST', (directory) => [`\`${directory}\` is no directory`, 'name a path in a directory']],
  ['ENOTDIR', (directory) => [`\`${directory}\` is no directory`, 'name a file in a directory']],
  ['EACCES', closed],
  ['EROFS', closed],
  ['ENOSPC', () => ['there is no space left', 'free space, or name a file on another disk']],
]);

/** OUTPUT_FAILED for `path`, which the user named: the cause and the next step in words. */
export function outputFailed(path: string, cause: unknown): WritError {
  const [why, ...hints] = words.get((cause as NodeJS.ErrnoException).code)?.(dirname(path)) ?? [
    messageOf(cause),
  ];
  return new WritError('OUTPUT_FAILED', {
    message: `\`${path}\` cannot be written: ${why}`,
    detail: { path },
    hints,
    cause,
  });
}

/** Prints a run's early warnings to stderr, also under `--json` and `--quiet`. */
export function printIssue({ print }: Pick<CommandContext, 'print'>): (issue: Issue) => void {
  return ({ code, message }) => print.complain(styled('yellow', 'warning'), `: ${code}: ${message}`);
}

/** A whole number out of a command line; USAGE. */
export function parseWhole(text: string | undefined, name: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new WritError('USAGE', {
    message: `expected a whole number up to ${most} for ${name}, found \`${text ?? ''}\``,
    detail: { expected: `0 to ${most}`, found: text ?? null },
  });
}
