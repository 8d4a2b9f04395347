import { readFileSync } from 'node:fs';

/** Cases of a labelled set of fixtures/scan as files of a place. */
export interface Corpus {
  /** The set, relative to this repository: `=== LABEL [PATH]: NAME` before each case. */
  readonly cases: string;
  /** Ending of the files of cases that name no path. */
  readonly as?: string;
  /** Words with which the labels of wanted cases begin; default `bad`. */
  readonly label?: string;
  /** How many cases of each label, the first ones; default 12. */
  readonly each?: number;
  /** Of a case that is a change: which side of `---`. */
  readonly side?: 'base' | 'candidate';
}

/** Text of the files by path: one directory for each case. A side that is empty is no file: `undefined`. */
export function corpusFiles(
  root: string,
  { cases, as = 'txt', label = 'bad', each = 12, side }: Corpus,
): ReadonlyMap<string, string | undefined> {
  const files = new Map<string, string | undefined>();
  const counts = new Map<string, number>();
  const parts = readFileSync(`${root}/${cases}`, 'utf8').split(/^=== /m).slice(1);
  for (const [index, part] of parts.entries()) {
    const end = part.indexOf('\n');
    const [title, body] = [part.slice(0, end), part.slice(end + 1)];
    const [, words = '', path = `case.${as}`] = /^(\S+ [^\s:]+)(?: ([^\s:]+))?: /.exec(title) ?? [];
    const count = (counts.get(words) ?? 0) + 1;
    if (!words.startsWith(label) || count > each) continue;
    counts.set(words, count);
    const [base = '', candidate = ''] = body.split(/^---\n/m);
    const text = side === undefined ? body : side === 'base' ? base : candidate;
    files.set(`${String(index + 1).padStart(3, '0')}/${path}`, text.trim() === '' ? undefined : text);
  }
  if (files.size === 0) throw new Error(`${cases} has no case labelled \`${label}\``);
  return files;
}
