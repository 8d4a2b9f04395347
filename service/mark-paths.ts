import { WritError } from '../core/base/errors.ts';
import { printable } from '../core/base/printable.ts';
import type { MarkGround } from './mark-ground.ts';
import { inMarkOrder } from './mark-order.ts';
import { Turn } from './mark-turn.ts';
import { MarkWalk, namesOf, type Place } from './mark-walk.ts';

/**
 * Why a path cannot be a mark: no text, a NUL in it, text that is no UTF-8 (a lone surrogate), or not in this
 * repository.
 */
type MarkRefusal = 'empty' | 'nul' | 'not-utf8' | 'outside';

const says: Readonly<Record<MarkRefusal, string>> = {
  empty: 'is empty',
  nul: 'holds a NUL character',
  'not-utf8': 'holds half a character and cannot be the name of a file',
  outside: 'does not lie in the repository',
};

/**
 * Of all marks of a batch, in UTF-8. A link can make a name of four characters one of four thousand; a listener takes
 * events of 4 MiB.
 */
const maxMarkBytes = 2 * 1024 * 1024;
const maxShown = 200;
/** A single path can have 131,000 names. */
const namesPerLook = 1024;

/**
 * The marks of a batch: sorted by code units, each once, POSIX, relative to the work tree that holds them (`.` for its
 * root). Parents are resolved as the disk has them, the last name is not followed. One path that is no place in the
 * repository refuses all: PATH_ESCAPES_REPOSITORY with `index` and `reason`, PAYLOAD_TOO_LARGE where links make more of
 * it than 2 MiB. Nothing is opened or written.
 */
export async function toMarks(ground: MarkGround, paths: readonly string[]): Promise<readonly string[]> {
  const walk = new MarkWalk(ground);
  const parents = new Map<string, Place | undefined>();
  const marks = new Set<string>();
  let bytes = 0;
  const turn = new Turn();
  for (const [index, path] of paths.entries()) {
    const unfit = unfitness(path);
    if (unfit !== undefined) throw escapes(index, path, unfit);
    const { before, last } = cutLast(path);
    if (!parents.has(before)) parents.set(before, await parentAt(walk, before, turn));
    const parent = parents.get(before);
    const mark = parent && (last === undefined ? parent.mark : walk.markOf(parent, last));
    if (mark === undefined || leavesOnWindows(mark)) throw escapes(index, path, 'outside');
    if (!marks.has(mark)) bytes += Buffer.byteLength(mark);
    if (bytes > maxMarkBytes) throw tooLarge();
    marks.add(mark === '' ? '.' : mark);
    if (turn.over) await turn.rest();
  }
  return inMarkOrder(marks, turn);
}

function unfitness(path: string): MarkRefusal | undefined {
  if (path === '') return 'empty';
  if (path.includes('\0')) return 'nul';
  return path.isWellFormed() ? undefined : 'not-utf8';
}

/**
 * The last name of a path and what comes before it. Slashes and `.` after a name say nothing; where `..` ends the path
 * there is no name.
 */
function cutLast(path: string): { readonly before: string; readonly last: string | undefined } {
  let end = path.length;
  for (;;) {
    const slash = path.lastIndexOf('/', end - 1);
    const name = path.slice(slash + 1, end);
    if (name !== '' && name !== '.')
      return name === '..'
        ? { before: path, last: undefined }
        : { before: path.slice(0, slash + 1), last: name };
    if (slash <= 0) return { before: path, last: undefined };
    end = slash;
  }
}

/**
 * The place of a directory, or nothing where a `..` led out on the way: what comes back in has been outside all the
 * same.
 */
async function parentAt(walk: MarkWalk, path: string, turn: Turn): Promise<Place | undefined> {
  let at = path.startsWith('/') ? walk.top : walk.root;
  let entered = at.mark !== undefined;
  for (const [index, name] of namesOf(path).entries()) {
    if (index % namesPerLook === namesPerLook - 1 && turn.over) await turn.rest();
    at = walk.step(at, name);
    if (entered && name === '..' && at.mark === undefined) return undefined;
    entered ||= at.mark !== undefined;
  }
  return at;
}

/** True where the mark would lead out if `\` parted names as on Windows: a drive, a share, a root, a `..` too many. */
function leavesOnWindows(mark: string): boolean {
  if (/^(?:\\|[A-Za-z]:(?:[\\/]|$))/.test(mark)) return true;
  if (!mark.includes('\\')) return false;
  let depth = 0;
  for (const name of mark.split(/[\\/]/)) {
    if (name === '..') depth -= 1;
    else if (name !== '' && name !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function tooLarge(): WritError {
  return new WritError('PAYLOAD_TOO_LARGE', {
    message: `expected marks of together at most ${maxMarkBytes} octets once links are followed; send the batch in parts`,
    detail: { maxBytes: maxMarkBytes },
  });
}

function escapes(index: number, path: string, reason: MarkRefusal): WritError {
  const shown = printable(path.slice(0, maxShown).toWellFormed());
  const cut = path.length > maxShown && !shown.endsWith('…') ? '…' : '';
  return new WritError('PATH_ESCAPES_REPOSITORY', {
    message: `path ${index} of the batch, \`${shown}${cut}\`, ${says[reason]}`,
    detail: { index, reason },
  });
}
