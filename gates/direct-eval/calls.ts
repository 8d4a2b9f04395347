import { argumentsOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { originsOf, type Way } from '../../readers/source/names/paths.ts';
import type { Hit } from './hit.ts';

export const why = {
  code: 'evaluates a string as code',
  shell: 'runs a command line in a shell',
  handed: 'hands a command line to a shell',
  system: 'hands a command line to the system',
};

/** A call by what it may reach. */
export interface Call {
  readonly node: SyntaxNode;
  /** What is called. */
  readonly target: SyntaxNode;
  readonly given: readonly SyntaxNode[];
}

type Found = boolean | undefined | Partial<Pick<Hit, 'also' | 'call' | 'why'>>;

/**
 * What executes text: functions by their paths, why, and what has to hold of a call; absent: that it has arguments. The
 * test may return what else makes it a hit, or another name for it.
 */
export type CallRow = readonly [path: RegExp, why: string, when?: (call: Call, way: Way) => Found];

/** The hit of the first row that fits a way in which a call is reached. */
export function hitOf(rows: readonly CallRow[], call: Call, ways: readonly Way[]): Hit | undefined {
  const { node, target, given } = call;
  for (const way of ways)
    for (const [path, reason, when] of rows) {
      const found = path.test(way.path) && (when ? when(call, way) : given.length > 0);
      if (!found) continue;
      const { also = [], ...more } = found === true ? {} : found;
      const origins = [...originsOf(way), ...also];
      return { start: target.start, end: node.end, call: way.path, why: reason, ...more, also: origins };
    }
  return undefined;
}

/** A node that calls `target`, with its arguments. */
export function callOf(node: SyntaxNode, target: SyntaxNode): Call {
  return { node, target, given: argumentsOf(node) };
}

/** By the type of a node: the child of it to which a value is handed on; undefined: every child. */
export type Takers = Readonly<Record<string, string | undefined>>;

/** Whether a value is handed on by the node around it. */
export function isTaken({ parent, field }: SyntaxNode, takers: Takers): boolean {
  return (
    parent !== undefined && Object.hasOwn(takers, parent.type) && (takers[parent.type] ?? field) === field
  );
}
