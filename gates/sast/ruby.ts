import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { rubyNames } from '../../readers/source/names/ruby-names.ts';
import { type CallRow, collectHits, type Hit, hitOf } from '../direct-eval/hits.ts';

/** What our rows say of Ruby. */
export function rubySast(reading: Reading): readonly Hit[] {
  const { text, literal } = reading;
  const { behind } = rubyNames(reading);
  const rows: readonly CallRow[] = [
    [/^Marshal\.(?:load|restore)$/, 'sast/ruby-unsafe-deserialization', ({ given }) => isForeign(given[0])],
    [/^(?:YAML|Psych)\.unsafe_load_(?:file|stream)$/, 'sast/ruby-yaml-load'],
    [
      /^(?:YAML|Psych)\.unsafe_load$/,
      'sast/ruby-yaml-load',
      ({ given: [first] }) => first && literal(behind(first)) === undefined,
    ],
  ];
  return collectHits(reading.tree, {
    call: (node) => {
      const receiver = childOf(node, 'receiver');
      const name = childOf(node, 'method');
      if (!receiver || !name) return undefined;
      const path = `${constantOf(receiver)}.${text(name)}`;
      const hit = hitOf(rows, { node, target: receiver, given: argumentsOf(node) }, [{ path }]);
      return hit && { ...hit, also: [name.start] };
    },
  });

  /** `Marshal`, also as `::Marshal` or behind a name that was given it. */
  function constantOf(node: SyntaxNode): string {
    return text(behind(node)).slice(0, 100).replace(/^::/, '');
  }

  /** Neither text of the source nor what the same expression has just dumped: `Marshal.load(Marshal.dump(x))`. */
  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = node && behind(node);
    if (!value || literal(value) !== undefined) return false;
    const receiver = value.type === 'call' ? childOf(value, 'receiver') : undefined;
    return !(receiver && constantOf(receiver) === 'Marshal' && text(childOf(value, 'method')) === 'dump');
  }
}
