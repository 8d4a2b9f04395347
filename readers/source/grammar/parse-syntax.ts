/* Parses a source with a grammar, within a budget of work. */
import type { TreeCursor } from 'web-tree-sitter';
import { dropRuntime, type Grammar } from './load-grammar.ts';
import type { SyntaxTree } from './syntax-tree.ts';

/** A text with more pieces of syntax than this is left unread; 512 KiB of source hold about half of it. */
const maxNodes = 400_000;
const maxDepth = 2_000;

interface Growing {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly parent: Growing | undefined;
  children: readonly Growing[];
  readonly field: string | undefined;
}

/** Remaining work for parses; each parse subtracts its own. */
export interface ParseBudget {
  /** Steps of the parser: it reports one per hundred operations. */
  steps: number;
  /** Pieces of `pieceChars` that are read: a scanner may look through the rest of the text for each of its tokens. */
  pieces: number;
}

const pieceChars = 4096;

/**
 * Returns the budget for a text of this length. Ordinary source needs at most 24 steps for 1,024 characters and reads
 * each piece about twice. If a comment crosses the end of a piece, some scanners read both pieces for each of its
 * lines.
 */
export function parseBudget(length: number): ParseBudget {
  return { steps: 1_000 + Math.ceil(length / 25), pieces: 5_000 + 16 * Math.ceil(length / pieceChars) };
}

/**
 * Reads `text`; offsets in the tree count from `offset`. `undefined` when the budget is used up, when the tree is too
 * large or deep, or when the runtime breaks: hostile text can do each of these to an error-tolerant parser. The same
 * text has the same result on every machine. A grammar serves until then; call for it again before the next text.
 */
export function parseSyntax(
  grammar: Grammar,
  text: string,
  {
    offset = 0,
    budget = parseBudget(text.length),
  }: { readonly offset?: number; readonly budget?: ParseBudget } = {},
): SyntaxTree | undefined {
  // A NUL ends the text for a grammar's scanner, and hides what is behind it; programs run on.
  const read = text.includes('\0') ? text.replaceAll('\0', ' ') : text;
  try {
    const tree = grammar.parser.parse(
      (index) => {
        budget.pieces -= 1;
        // The text ends here for a scanner that reads on, and the parser stops at its next step.
        return budget.pieces < 0 ? '' : read.slice(index, index + pieceChars);
      },
      null,
      {
        progressCallback: () => {
          budget.steps -= 1;
          return budget.steps < 0 || budget.pieces < 0;
        },
      },
    );
    if (!tree || budget.pieces < 0) {
      tree?.delete();
      grammar.parser.reset();
      return undefined;
    }
    const cursor = tree.walk();
    try {
      return grow(grammar, cursor, offset);
    } finally {
      cursor.delete();
      tree.delete();
    }
  } catch {
    dropRuntime();
    return undefined;
  }
}

const none: readonly Growing[] = [];

/**
 * Lists of children are made when their last child is known, as long as they are: half of all nodes have none, and most
 * others few.
 */
function grow({ types, fields }: Grammar, walk: TreeCursor, offset: number): SyntaxTree | undefined {
  const nodes: Growing[] = [];
  const faults: Growing[] = [];
  const root = toNode(types[walk.nodeTypeId] ?? 'ERROR', undefined, undefined);
  nodes.push(root);
  if (root.type === 'ERROR') faults.push(root);
  let parent = root;
  let depth = 0;
  /** Children of every open node, one after the other, and where those of each begin. */
  const pending: Growing[] = [];
  const begins: number[] = [0];
  if (!walk.gotoFirstChild()) return { root, nodes, faults };
  for (;;) {
    // 65535 is the number of an error, which is in no grammar's list.
    const id = walk.nodeTypeId;
    const type = id === 65_535 ? 'ERROR' : types[id];
    let descended = false;
    if (type !== undefined) {
      const field = fields[walk.currentFieldId] ?? undefined;
      const node = toNode(type, parent, field);
      nodes.push(node);
      pending.push(node);
      if (type === 'ERROR' || node.start === node.end) faults.push(node);
      if (nodes.length > maxNodes) return undefined;
      if (walk.gotoFirstChild()) {
        depth += 1;
        if (depth > maxDepth) return undefined;
        parent = node;
        begins.push(pending.length);
        descended = true;
      }
    }
    if (descended) continue;
    while (!walk.gotoNextSibling()) {
      const begin = begins.pop() ?? 0;
      if (pending.length > begin) parent.children = pending.splice(begin);
      if (depth === 0 || !parent.parent) return { root, nodes, faults };
      walk.gotoParent();
      depth -= 1;
      parent = parent.parent;
    }
  }

  function toNode(type: string, above: Growing | undefined, field: string | undefined): Growing {
    const start = walk.startIndex + offset;
    return { type, start, end: walk.endIndex + offset, parent: above, children: none, field };
  }
}

/** Non-ASCII white space of JavaScript, Python, C# and Java, and the byte order mark, in UTF-8 read as latin1. */
const spaces =
  /\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xaf]|\xe2\x81[\x9f\xa0]|\xe3\x80\x80|\xef\xbb\xbf/g;
const separators = /\xe2\x80[\xa8\xa9]/g;

/**
 * Converts UTF-8 bytes, given as latin1 text, to a form that grammars parse correctly and with indexes that are still
 * byte offsets. White space becomes blanks, U+2028 and U+2029 become line breaks, and every other byte beyond ASCII
 * becomes a letter.
 */
export function plainText(latin1: string): string {
  if (!/[^\x00-\x7f]/.test(latin1)) return latin1;
  return latin1
    .replace(spaces, (found) => ' '.repeat(found.length))
    .replace(separators, '  \n')
    .replace(/[\x80-\xff]/g, (found) => String.fromCharCode(0x80 + found.charCodeAt(0)));
}
