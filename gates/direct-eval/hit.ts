import type { SyntaxNode, SyntaxTree } from '../../readers/source/grammar/syntax-tree.ts';
import type { ChangedSource } from '../source/changed-source.ts';

/** A place where text becomes code. Offsets are into the source text. */
export interface Hit {
  readonly start: number;
  /** Where the call ends: it counts where any of its lines was added. Absent: it is as good as one character. */
  readonly end?: number;
  /**
   * Further offsets that make it one (an option further down, the other name's origin); a hit counts where any of them
   * was added.
   */
  readonly also?: readonly number[];
  /** What was written, e.g. `eval`. */
  readonly call: string;
  /** Why it counts, lower case, no full stop; of static analysis, the id of its row. */
  readonly why: string;
}

/** Why a call of what is reached by a path is a hit; `call` is named instead of the path. */
export type Reason = Pick<Hit, 'why' | 'also'> & Partial<Pick<Hit, 'call'>>;

/** Hits of a tree, in order, by who looks at nodes of a type. */
export function collectHits(
  { nodes }: SyntaxTree,
  finders: Readonly<Record<string, (node: SyntaxNode) => Hit | undefined>>,
): readonly Hit[] {
  const byType = new Map(Object.entries(finders));
  const hits: Hit[] = [];
  for (const node of nodes) {
    const hit = byType.get(node.type)?.(node);
    if (hit) hits.push(hit);
  }
  return hits;
}

/** Where a hit was added: its start, else any of its lines, else what else makes it one. */
export function firstAdded(
  source: ChangedSource,
  { start, end = start, also = [] }: Hit,
): number | undefined {
  if (source.isAdded(start)) return start;
  const stop = Math.min(end, source.text.length);
  for (
    let next = source.text.indexOf('\n', start);
    next !== -1 && next + 1 < stop;
    next = source.text.indexOf('\n', next + 1)
  ) {
    if (!source.isAdded(next + 1)) continue;
    const line = source.text.slice(next + 1, stop);
    return next + 1 + Math.max(0, line.search(/[^\s]/));
  }
  return also.find((offset) => source.isAdded(offset));
}
