/* A syntax tree with its source text. */
import type { SyntaxNode, SyntaxTree } from '../grammar/syntax-tree.ts';

/** A tree with its source text, and the queries that finders use on both. */
export type Reading = ReturnType<typeof readTree>;

const maxText = 4_000;
const maxDepth = 40;

/** Literal text. */
const contents = typesIn(`string_fragment string_content string_start string_end string_literal_content
  interpreted_string_literal_content raw_string_literal_content raw_string_content escape_sequence
  multiline_string_fragment`);
/** Nodes without text of the string: its quotes. */
const marks = typesIn(`string_start string_end raw_string_start raw_string_end string_literal_encoding`);
const strings = typesIn(`string template_string encapsed_string string_literal interpreted_string_literal
  raw_string_literal verbatim_string_literal interpolated_string_expression raw_string ansi_c_string
  simple_symbol heredoc nowdoc bare_string`);
const joins =
  typesIn(`additive_expression binary_expression binary_op binary_operator binary infix_expression concatenated_string chained_string
  concatenation`);
const wraps = typesIn(`parenthesized_expression as_expression satisfies_expression non_null_expression
  argument literal_element`);

/** Wraps a tree; its offsets refer to `text`. `isWhole`: no import may be out of sight. */
export function readTree(tree: SyntaxTree, text: string, isWhole: boolean) {
  const textOf = (node: SyntaxNode | undefined): string => (node ? text.slice(node.start, node.end) : '');

  const stringOf = (node: SyntaxNode): string | undefined => {
    // Scala's grammar has no nodes for what is between escapes.
    if (node.children.every(({ type }) => type === 'escape_sequence'))
      return undoEscapes(stripQuotes(textOf(node))).slice(0, maxText);
    let said = '';
    for (const child of node.children) {
      if (marks.has(child.type)) continue;
      if (!contents.has(child.type)) return undefined;
      said += child.type === 'escape_sequence' ? undoEscapes(textOf(child)) : textOf(child);
    }
    return said.slice(0, maxText);
  };

  const isJoin = (node: SyntaxNode): boolean => {
    if (!joins.has(node.type)) return false;
    const [left, right] = partsOf(node);
    if (
      !left ||
      !right ||
      node.type === 'concatenated_string' ||
      node.type === 'chained_string' ||
      node.type === 'concatenation'
    )
      return true;
    return /^[\s()]*[+.][\s()]*$/.test(text.slice(left.end, right.start));
  };

  const literal = (node: SyntaxNode | undefined, depth = 0): string | undefined => {
    if (!node || depth > maxDepth) return undefined;
    if (strings.has(node.type)) return stringOf(node);
    if (node.type === 'word' || node.type === 'number') return textOf(node).replaceAll('\\', '');
    if (wraps.has(node.type) && node.children.length > 0)
      return literal(node.children.at(node.type === 'argument' ? -1 : 0), depth + 1);
    if (!isJoin(node)) return undefined;
    let said = '';
    for (const child of partsOf(node)) {
      const part = literal(child, depth + 1);
      if (part === undefined) return undefined;
      said += part;
    }
    return said.slice(0, maxText);
  };

  const opening = (node: SyntaxNode | undefined, depth = 0): string => {
    const whole = literal(node, depth);
    if (whole !== undefined || !node || depth > maxDepth) return whole ?? '';
    if (wraps.has(node.type) || isJoin(node)) {
      let said = '';
      for (const child of node.children) {
        const part = literal(child, depth + 1);
        said += part ?? opening(child, depth + 1);
        if (part === undefined) break;
      }
      return said.slice(0, maxText);
    }
    if (!strings.has(node.type)) return '';
    let said = '';
    for (const child of node.children) {
      if (marks.has(child.type) || child.type === 'interpolation_start') continue;
      if (!contents.has(child.type)) break;
      said += textOf(child);
    }
    return said.slice(0, maxText);
  };

  const isText = (node: SyntaxNode | undefined, depth = 0): boolean => {
    if (!node || depth > maxDepth) return false;
    if (strings.has(node.type)) return true;
    if (wraps.has(node.type)) return isText(node.children[0], depth + 1);
    return isJoin(node) && node.children.some((child) => isText(child, depth + 1));
  };

  return {
    tree,
    isWhole,
    text: textOf,
    /** Returns the text of a string that is fully literal: literals and their concatenation only. */
    literal: (node: SyntaxNode | undefined) => literal(node),
    /** What a text is put together of; none for what is no join. */
    parts: (node: SyntaxNode): readonly SyntaxNode[] => (isJoin(node) ? partsOf(node) : []),
    /** As much of a string's beginning as is written down. */
    opening: (node: SyntaxNode | undefined) => opening(node),
    /** A string in any form, built or literal: something that is text for certain. */
    isText: (node: SyntaxNode | undefined) => isText(node),
  };
}

/** What a join joins; Scala's operators are nodes. */
function partsOf({ children }: SyntaxNode): readonly SyntaxNode[] {
  return children.filter(({ type }) => type !== 'operator_identifier');
}

function stripQuotes(written: string): string {
  const found = /^[$@:a-zA-Z]{0,3}("{3}|'{3}|["'`])([\s\S]*)\1$/.exec(written);
  return found?.[2] ?? written.replace(/^:/, '');
}

function undoEscapes(written: string): string {
  if (!written.includes('\\')) return written;
  return written.replace(
    /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{1,3})|([\s\S]))/g,
    (all, ...parts) => {
      const [braced, four, two, octal, one] = parts as (string | undefined)[];
      const hex = braced ?? four ?? two;
      if (hex !== undefined) return toCharacter(Number.parseInt(hex, 16));
      if (octal !== undefined) return toCharacter(Number.parseInt(octal, 8));
      if (one === undefined) return all;
      return one === 'n' ? '\n' : one === 't' ? '\t' : one;
    },
  );
}

function toCharacter(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function typesIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}
