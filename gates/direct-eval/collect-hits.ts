import type { SyntaxNode, SyntaxTree } from '../../readers/source/grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';

/** Hits of a tree, in order, by who looks at nodes of a type. */
export function collectHits<H extends Hit>(
  { nodes }: SyntaxTree,
  finders: Readonly<Record<string, (node: SyntaxNode) => H | undefined>>,
): readonly H[] {
  const byType = new Map(Object.entries(finders));
  const hits: H[] = [];
  for (const node of nodes) {
    const hit = byType.get(node.type)?.(node);
    if (hit) hits.push(hit);
  }
  return hits;
}
