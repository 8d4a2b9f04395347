import type { Tally } from './tally.ts';

/** One test point; what is known of it later than its line is written into it. */
export interface Point {
  readonly ok: boolean;
  readonly name: string;
  readonly directive: 'skip' | 'todo' | undefined;
  durationMs: number | undefined;
  isSuite: boolean;
  message: string | undefined;
  /** What the subtests of this point counted. */
  inner: Inner | undefined;
}

/** What the subtests of a point counted. */
export interface Inner {
  readonly tally: Tally;
  readonly points: number;
}

/** `[not ]ok [number] [- name] [# directive]`; `undefined` for any other line. */
export function toPoint(content: string): Point | undefined {
  const match = /^(not )?ok(?=\s|$)[ \t]*(?:\d{1,9}(?=\s|$))?[ \t]*(?:-(?=\s|$))?(.*)$/.exec(content);
  if (!match) return undefined;
  const description = (match[2] ?? '').replace(/ \{$/, '');
  const hash = directiveAt(description);
  const mark = hash === -1 ? '' : description.slice(hash + 1).trim();
  const time = /^time=(\d{1,12}(?:\.\d{1,20})?)(ms|s)?\b/.exec(mark);
  const name = (
    hash === -1 || (!time && !directiveOf(mark)) ? description : description.slice(0, hash)
  ).trim();
  return {
    ok: match[1] === undefined,
    name: name.replace(/\\([\\#])/g, '$1'),
    directive: directiveOf(mark),
    durationMs: time ? Number(time[1]) * (time[2] === 's' ? 1000 : 1) : undefined,
    isSuite: false,
    message: undefined,
    inner: undefined,
  };
}

/**
 * Where the first `#` stands that begins a directive, else the first at all; -1 for none. A `\#` is part of the name.
 */
function directiveAt(description: string): number {
  let first = -1;
  for (const { index } of description.matchAll(/(?<=^|\s)#/g)) {
    if (directiveOf(description.slice(index + 1).trim())) return index;
    if (first === -1) first = index;
  }
  return first;
}

function directiveOf(mark: string): Point['directive'] {
  if (/^skip/i.test(mark)) return 'skip';
  return /^todo\b/i.test(mark) ? 'todo' : undefined;
}
