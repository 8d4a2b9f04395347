/* Finds the paths that a command names. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../process/find-program.ts';
import type { ShellReading, ShellWord } from '../shell/shell.ts';

/** The place that a word of a command points to: the workspace, a scratch directory or device, outside, or unknown. */
export type CommandPath =
  | { readonly kind: 'workspace'; readonly relative: string }
  | { readonly kind: 'scratch' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'unknown' };

const devices = /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|fd\/[0-9])$/;
const scratchVariables = ['REPORTS_DIR', 'TMPDIR', 'HOME'];

type ReadText = Extract<ShellReading, { readonly ok: true }>;

/** What the redirections of a text write to. */
export function writtenPaths(reading: ReadText): readonly CommandPath[] {
  const moves = changesDirectory(reading);
  return reading.redirects
    .filter(({ operator }) => operator !== '<')
    .map(({ target }) => locate(target, moves));
}

/** What its redirections and the literal arguments of its commands name, options with `=` included. */
export function namedPaths(reading: ReadText): readonly CommandPath[] {
  const moves = changesDirectory(reading);
  const words = reading.commands.flatMap(({ argv }) => argv.slice(1));
  const values = words.flatMap(({ literal }) => {
    const equals = literal?.indexOf('=') ?? -1;
    return literal === undefined || equals === -1 ? [] : [literal.slice(equals + 1)];
  });
  return [
    ...reading.redirects.map(({ target }) => locate(target, moves)),
    ...words.map((word) => locate(word, moves)),
    ...values.map((value) => locateLiteral(value, moves)),
  ];
}

function changesDirectory({ commands }: ReadText): boolean {
  return commands.some(({ argv: [name, ...args] }) => {
    if (name?.literal === 'cd') return true;
    return name?.literal === 'env' && args.some(({ head }) => /^-[a-zA-Z0]*C|^--chdir/.test(head));
  });
}

function locate(word: ShellWord, moves: boolean): CommandPath {
  if (word.literal !== undefined) return locateLiteral(word.literal, moves);
  const { variable, rest } = word.from ?? {};
  if (variable === undefined || rest === undefined || (rest !== '' && !rest.startsWith('/')))
    return { kind: 'unknown' };
  if (variable === 'WORKSPACE') return inWorkspace(`.${rest}`);
  if (!scratchVariables.includes(variable)) return { kind: 'unknown' };
  return rest.split('/').includes('..') ? { kind: 'unknown' } : { kind: 'scratch' };
}

function locateLiteral(literal: string, moves: boolean): CommandPath {
  if (devices.test(literal)) return { kind: 'scratch' };
  if (path.posix.isAbsolute(literal)) {
    return path.posix.normalize(literal).startsWith('/tmp/') ? { kind: 'scratch' } : { kind: 'outside' };
  }
  return moves ? { kind: 'unknown' } : inWorkspace(literal);
}

function inWorkspace(relative: string): CommandPath {
  const normal = path.posix.normalize(relative).replace(/(?<=.)\/+$/, '');
  if (normal === '..' || normal.startsWith('../')) return { kind: 'outside' };
  return { kind: 'workspace', relative: normal };
}

/**
 * Resolves a path of a tool call through its symlinks, relative to the workspace. For a file that does not exist yet,
 * the symlinks of its directory are resolved. Returns `undefined` if the result is outside the workspace or cannot be
 * resolved.
 */
export function realPathIn(workspace: string, file: string): string | undefined {
  if (file === '' || file.includes('\0')) return undefined;
  const root = realpathSync.native(workspace);
  const real = resolve(root, path.resolve(root, file));
  return real !== undefined && isInside(root, real) ? relativeTo(root, real) : undefined;
}

/** The path of the entry itself, which is what a deletion removes; only its directory is resolved. */
export function entryPathIn(workspace: string, file: string): string | undefined {
  if (file === '' || file.includes('\0')) return undefined;
  const root = realpathSync.native(workspace);
  const entry = path.resolve(root, file);
  const directory = resolve(root, path.dirname(entry));
  if (directory === undefined) return undefined;
  const real = path.join(directory, path.basename(entry));
  return isInside(root, real) ? relativeTo(root, real) : undefined;
}

/** Resolves a path through its symlinks. `root` has none in it, so that below it only the rest is looked at. */
function resolve(root: string, absolute: string): string | undefined {
  let current: string = isInside(root, absolute) ? root : path.parse(absolute).root;
  for (const part of absolute.slice(current.length).split(path.sep)) {
    const next = path.join(current, part);
    try {
      const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() === true;
      current = isLink ? realpathSync(next) : next;
    } catch {
      // A dangling or circular symlink, where a write would land at an unchecked path; or a name too long for any
      // file.
      return undefined;
    }
  }
  return current;
}

function relativeTo(root: string, real: string): string {
  const relative = path.relative(root, real);
  return relative === '' ? '.' : relative.split(path.sep).join('/');
}

const segment = /^(?!\.{1,2}$)[A-Za-z0-9_.+@-]{1,255}$/;

/**
 * Returns a predicate for the paths by which a command may name a program. They are in untracked directories that the
 * workspace received, such as `.venv/bin/python`. A change cannot add files there.
 */
export function programsIn(directories: readonly string[]): (path: string) => boolean {
  return (path) => isPlain(path) && directories.some((directory) => path.startsWith(`${directory}/`));
}

/** Paths that `programsIn` may accept, for text that is read before it is known what a workspace is given. */
export function mayBeProgram(path: string): boolean {
  return isPlain(path) && /\/\.?bin\/[^/]+$/.test(path);
}

function isPlain(path: string): boolean {
  return path.length <= 1024 && path.split('/').every((part) => segment.test(part));
}
