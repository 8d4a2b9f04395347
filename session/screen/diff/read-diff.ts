import { unquotePath } from '../../../readers/diff/quote-path.ts';
import { visible } from '../visible.ts';
import type { DiffFile, Hunk } from './diff-file.ts';
import type { WordBudget } from './mark-words.ts';
import { readHunk } from './read-hunk.ts';

interface Draft {
  path: string;
  from?: string;
  change: DiffFile['change'];
  readonly notes: string[];
  readonly hunks: Hunk[];
  /** Neither a path nor a hunk was told yet. */
  isBare: boolean;
}

const envelope: Readonly<Record<string, DiffFile['change']>> = {
  Add: 'add',
  Update: 'modify',
  Delete: 'delete',
};

/** Word comparisons that one diff may cost, a third of a second. Lines beyond that are shown without marked words. */
export const maxWordComparisons = 1_000_000;

/**
 * A diff as files, hunks and lines: what git writes, plain unified diffs, envelopes (`*** Update File: P`, hunks
 * without numbers), and hunks of one file without a head, which is then `path`. Nothing of it is left out but what only
 * says where it is; what belongs nowhere is among the notes of its file. All of it is safe to be shown.
 * `budget` bounds the search for changed words.
 */
export function readDiff(
  text: string,
  path = '',
  budget: WordBudget = { comparisons: maxWordComparisons },
): readonly DiffFile[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const drafts: Draft[] = [];
  const begin = (name: string, change: Draft['change'], isBare = false): Draft => {
    const draft: Draft = { path: name, change, notes: [], hunks: [], isBare };
    drafts.push(draft);
    return draft;
  };
  const current = (): Draft => drafts.at(-1) ?? begin(path, 'modify', true);
  const isEnd = (at: number): boolean => isHead(lines, at);
  for (let at = 0; at < lines.length; ) {
    const line = (lines[at] ?? '').replace(/\r$/, '');
    if (takeHead(line, begin)) at += 1;
    else if (isPair(lines, at)) {
      takePair(lines, at, drafts.at(-1), begin);
      at += 2;
    } else if (line.startsWith('@@') || (/^[-+ ]/.test(line) && canGoOn(drafts.at(-1)))) {
      const { hunk, next } = readHunk(lines, at, isEnd, budget);
      current().hunks.push(hunk);
      at = Math.max(next, at + 1);
    } else {
      takeNote(line, current);
      at += 1;
    }
  }
  return drafts.map(toFile);
}

/** Hunks without a line of their own: in an envelope, and where there is no head at all. */
function canGoOn(draft: Draft | undefined): boolean {
  return draft === undefined || draft.isBare;
}

function isHead(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  return line.startsWith('diff --git ') || /^\*\*\* [A-Z]/.test(line) || isPair(lines, at);
}

/** `--- a/P` and `+++ b/P` below each other. */
function isPair(lines: readonly string[], at: number): boolean {
  return /^--- \S/.test(lines[at] ?? '') && /^\+\+\+ \S/.test(lines[at + 1] ?? '');
}

type Begin = (path: string, change: Draft['change'], isBare?: boolean) => Draft;

function takeHead(line: string, begin: Begin): boolean {
  if (line.startsWith('diff --git ')) {
    const [from, to] = readPaths(line.slice('diff --git '.length)) ?? ['', ''];
    begin(to, from === to ? 'modify' : 'rename').from = from;
    return true;
  }
  const [, kind = '', name = ''] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line) ?? [];
  const change = envelope[kind];
  if (change !== undefined) begin(name, change, true);
  return change !== undefined || /^\*\*\* (?:Begin Patch|End Patch|End of File)$/.test(line);
}

/** The names of a plain diff, or what git says again behind its own head. */
function takePair(lines: readonly string[], at: number, last: Draft | undefined, begin: Begin): void {
  const from = readPath((lines[at] ?? '').slice(4), 'a/');
  const to = readPath((lines[at + 1] ?? '').slice(4), 'b/');
  const isSame = last !== undefined && !last.isBare && last.hunks.length === 0 && last.path === (to ?? from);
  const change = from === undefined ? 'add' : to === undefined ? 'delete' : from === to ? 'modify' : 'rename';
  const draft = isSame ? last : begin(to ?? from ?? '', change);
  if (change === 'add' || change === 'delete') draft.change = change;
  if (change === 'rename' && from !== undefined) draft.from = from;
}

function takeNote(line: string, current: () => Draft): void {
  const moved = /^(?:rename|copy) (from|to) (.+)$/.exec(line) ?? /^\*\*\* Move (to): (.+)$/.exec(line);
  if (moved !== null) {
    const draft = current();
    const name = readPath(moved[2] ?? '', '') ?? '';
    if (moved[1] === 'from') draft.from = name;
    else {
      draft.from ??= draft.path;
      draft.path = name;
    }
    draft.change = 'rename';
  } else if (/^new file mode /.test(line)) current().change = 'add';
  else if (/^deleted file mode /.test(line)) current().change = 'delete';
  else if (!/^(?:index [\da-f]+\.\.|similarity index |dissimilarity index )/.test(line) && line !== '')
    current().notes.push(visible(line));
}

function toFile({ path, from, change, notes, hunks }: Draft): DiffFile {
  const count = (kind: string): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  const moved = change === 'rename' && from !== undefined ? { from: visible(from) } : {};
  return {
    path: visible(path),
    ...moved,
    change,
    added: count('added'),
    removed: count('removed'),
    notes,
    hunks,
  };
}

/**
 * A path as a line of a diff names it: quoted as git does (`"a/\\303\\244"`), or up to a tab. Nothing for `/dev/null`.
 */
function readPath(told: string, prefix: 'a/' | 'b/' | ''): string | undefined {
  const whole = told.startsWith('"')
    ? (unquotePath(Buffer.from(told))?.path ?? told)
    : (told.split('\t', 1)[0] ?? '').trimEnd();
  if (whole === '/dev/null' || whole === '') return undefined;
  return prefix !== '' && whole.startsWith(prefix) ? whole.slice(prefix.length) : whole;
}

/** Both paths of `diff --git a/P b/P`; where nobody can say where the first ends, the halves of what is the same. */
function readPaths(told: string): readonly [string, string] | undefined {
  const quoted =
    /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*"|.+)$/.exec(told) ?? /^(\S+) ("(?:[^"\\]|\\.)*")$/.exec(told);
  const half = (told.length - 1) / 2;
  const [one, two] =
    quoted === null
      ? told[half] === ' '
        ? [told.slice(0, half), told.slice(half + 1)]
        : told.split(' ', 2)
      : [quoted[1], quoted[2]];
  const [from, to] = [readPath(one ?? '', 'a/'), readPath(two ?? '', 'b/')];
  return from === undefined || to === undefined ? undefined : [from, to];
}
