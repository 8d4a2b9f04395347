import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { rubyBehind, rubyClassOf, rubyNames } from '../../readers/source/names/ruby-names.ts';
import { collectHits } from '../direct-eval/collect-hits.ts';
import type { SastRowId } from './rows.ts';
import type { SastHit } from './sast-row.ts';

const cleaners =
  /^(?:sanitize\w*|strip_tags|strip_links|h|html_escape|html_escape_once|escape_html|escapeHTML|escape_javascript|j|json_escape|to_json|content_tag|tag|link_to|image_tag|safe_join|raw|html_safe|render|to_i|to_f)$/;
const maxDepth = 24;

/** What our rows say of Ruby. */
export function rubySast(reading: Reading): readonly SastHit[] {
  const { tree, text, literal } = reading;
  const names = rubyNames(reading);
  return collectHits(tree, { call: callHit });

  function callHit(node: SyntaxNode): SastHit | undefined {
    const receiver = childOf(node, 'receiver');
    const name = childOf(node, 'method');
    if (!name) return undefined;
    const word = text(name);
    const given = childOf(node, 'arguments')?.children.filter(({ type }) => type !== 'comment') ?? [];
    const owner = constantOf(receiver);
    const at = (row: SastRowId, call: string): SastHit => ({
      row,
      start: (receiver ?? name).start,
      end: node.end,
      also: [name.start],
      call,
      why: '',
    });
    if (owner === 'Marshal' && /^(?:load|restore)$/.test(word) && given.length > 0 && !isOwnData(given[0]))
      return at('sast/ruby-unsafe-deserialization', `Marshal.${word}`);
    if (/^(?:YAML|Psych)$/.test(owner) && /^unsafe_load(?:_file|_stream)?$/.test(word) && given.length > 0)
      return literal(behind(given[0])) !== undefined && word === 'unsafe_load'
        ? undefined
        : at('sast/ruby-yaml-load', `${owner}.${word}`);
    if (word === 'html_safe' && receiver && given.length === 0)
      return isSafe(receiver) ? undefined : at('sast/ruby-html-safe', 'html_safe');
    const isOwn =
      names.own.get(tree.root)?.has('raw') || names.own.get(rubyClassOf(node, tree.root))?.has('raw');
    if (word === 'raw' && !receiver && !isOwn && given.length === 1 && !isSafe(given[0]))
      return at('sast/ruby-html-safe', 'raw');
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

  /** Written down, or made safe by a helper that says so. */
  function isSafe(node: SyntaxNode | undefined, depth = 0): boolean {
    if (!node || depth > maxDepth) return false;
    if (literal(node) !== undefined || /^(?:integer|float|nil|true|false|simple_symbol)$/.test(node.type))
      return true;
    switch (node.type) {
      case 'call':
        return cleaners.test(text(childOf(node, 'method')));
      case 'constant':
      case 'parenthesized_statements':
        return node.type === 'constant'
          ? literal(behind(node)) !== undefined
          : isSafe(node.children.at(-1), depth + 1);
      case 'conditional':
        return node.children.slice(1).every((one) => isSafe(one, depth + 1));
      case 'binary':
      case 'chained_string':
        return node.children.every((one) => isSafe(one, depth + 1));
      case 'string':
        return node.children.every(
          (one) => one.type !== 'interpolation' || one.children.every((inner) => isSafe(inner, depth + 1)),
        );
    }
    return false;
  }
}
