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

/** As much of a text's beginning as is written down, and whether that is all of it. */
interface Written {
  readonly said: string;
  readonly isWhole: boolean;
}

const nothing: Written = { said: '', isWhole: false };

/** Wraps a tree; its offsets refer to `text`. `isWhole`: no import may be out of sight. */
export function readTree(tree: SyntaxTree, text: string, isWhole: boolean) {
  const textOf = (node: SyntaxNode | undefined): string => (node ? text.slice(node.start, node.end) : '');

  const stringOf = (node: SyntaxNode): Written => {
    // Scala's grammar has no nodes for what is between escapes.
    if (node.children.every(({ type }) => type === 'escape_sequence'))
      return { said: undoEscapes(stripQuotes(textOf(node))).slice(0, maxText), isWhole: true };
    let said = '';
    let isWhole = true;
    for (const { type, start, end } of node.children) {
      if (type === 'interpolation_start') isWhole = false;
      else if (!marks.has(type)) {
        if (!contents.has(type)) return { said: said.slice(0, maxText), isWhole: false };
        const piece = text.slice(start, end);
        said += type === 'escape_sequence' ? undoEscapes(piece) : piece;
      }
    }
    return { said: said.slice(0, maxText), isWhole };
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

  const read = (node: SyntaxNode | undefined, depth = 0): Written => {
    if (!node || depth > maxDepth) return nothing;
    if (strings.has(node.type)) return stringOf(node);
    if (/^(?:word|number)$/.test(node.type))
      return { said: textOf(node).replaceAll('\\', ''), isWhole: true };
    const inner = node.children.at(node.type === 'argument' ? -1 : 0);
    const parts = wraps.has(node.type) && inner ? [inner] : isJoin(node) ? partsOf(node) : undefined;
    let said = '';
    for (const part of parts ?? []) {
      const written = read(part, depth + 1);
      said += written.said;
      if (!written.isWhole) return { said: said.slice(0, maxText), isWhole: false };
    }
    return { said: said.slice(0, maxText), isWhole: parts !== undefined };
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
    literal(node: SyntaxNode | undefined): string | undefined {
      const { said, isWhole: isLiteral } = read(node);
      return isLiteral ? said : undefined;
    },
    /** What a text is put together of; none for what is no join. */
    parts: (node: SyntaxNode): readonly SyntaxNode[] => (isJoin(node) ? partsOf(node) : []),
    /** As much of a string's beginning as is written down. */
    opening: (node: SyntaxNode | undefined) => read(node).said,
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
