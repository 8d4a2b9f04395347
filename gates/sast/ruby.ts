import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { rubyBehind, rubyNames } from '../../readers/source/names/ruby-names.ts';
import { collectHits, type Hit } from '../direct-eval/hit.ts';
import { type SastRowId, sastHit } from './rows.ts';

/** What our rows say of Ruby. */
export function rubySast(reading: Reading): readonly Hit[] {
  const { text, literal } = reading;
  const names = rubyNames(reading);
  return collectHits(reading.tree, { call: callHit });

  function callHit(node: SyntaxNode): Hit | undefined {
    const receiver = childOf(node, 'receiver');
    const name = childOf(node, 'method');
    if (!name) return undefined;
    const word = text(name);
    const given = childOf(node, 'arguments')?.children.filter(({ type }) => type !== 'comment') ?? [];
    const owner = constantOf(receiver);
    const at = (row: SastRowId, call: string) =>
      sastHit(row, node, call, [name.start], (receiver ?? name).start);
    if (owner === 'Marshal' && /^(?:load|restore)$/.test(word) && given.length > 0 && !isOwnData(given[0]))
      return at('sast/ruby-unsafe-deserialization', `Marshal.${word}`);
    if (/^(?:YAML|Psych)$/.test(owner) && /^unsafe_load(?:_file|_stream)?$/.test(word) && given.length > 0)
      return literal(behind(given[0])) !== undefined && word === 'unsafe_load'
        ? undefined
        : at('sast/ruby-yaml-load', `${owner}.${word}`);
    return undefined;
  }

  /** `Marshal`, also as `::Marshal` or behind a name that was given it. */
  function constantOf(node: SyntaxNode | undefined): string {
    if (!node) return '';
    const value = behind(node) ?? node;
    return text(value).slice(0, 100).replace(/^::/, '');
  }

  function behind(node: SyntaxNode | undefined): SyntaxNode | undefined {
    return node && rubyBehind(reading, names.values, node);
  }

  /** Text of the source, or what the same expression has just dumped: `Marshal.load(Marshal.dump(x))` copies. */
  function isOwnData(node: SyntaxNode | undefined): boolean {
    const value = behind(node);
    if (literal(value) !== undefined) return true;
    return (
      value?.type === 'call' &&
      constantOf(childOf(value, 'receiver')) === 'Marshal' &&
      text(childOf(value, 'method')) === 'dump'
    );
  }
}
