import path from 'node:path';
import type { ShellReading, ShellWord } from '../shell.ts';

/** Where a word of a command points: into the workspace, to what is thrown away afterwards, or nobody knows. */
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
