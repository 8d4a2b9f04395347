/* Loads a grammar, and parses a source with it within a budget of work. */
import { setFlagsFromString } from 'node:v8';
import type { Language, Parser, TreeCursor } from 'web-tree-sitter';
import { WritError } from '../../../core/base/errors.ts';
import type { GrammarName, SyntaxTree } from './syntax-tree.ts';

/** A parser and what its node numbers mean. One per thread and grammar; used by one parse at a time. */
export interface Grammar {
  readonly parser: Parser;
  /** Node type by number; `undefined` for punctuation and keywords, which are left out of trees. */
  readonly types: readonly (string | undefined)[];
  readonly fields: readonly (string | null)[];
}

let loaded = new Map<GrammarName, Promise<Grammar>>();
/** Kept for good: collecting a parser of a broken runtime would run that runtime's code once more. */
const broken: unknown[] = [];
let runtime: Promise<typeof import('web-tree-sitter')> | undefined;
let generation = 0;
/** Source after which a thread gives up: each runtime that hostile text has broken stays in memory. */
const maxGenerations = 50;

/** Returns a grammar; its bytes are read on first use in this thread. Throws GRAMMAR_FAULT if it does not load. */
export function loadGrammar(name: GrammarName, read: () => Promise<Uint8Array>): Promise<Grammar> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = load(name, read);
  loaded.set(name, loading);
  return loading;
}

async function load(name: GrammarName, read: () => Promise<Uint8Array>): Promise<Grammar> {
  try {
    runtime ??= startRuntime();
    const { Language: language, Parser: parser } = await runtime;
    const grammar = language.loadSync(compilePlainly(await read()));
    return {
      parser: new parser().setLanguage(grammar),
      types: namedTypes(grammar),
      fields: grammar.fields,
    };
  } catch (cause) {
    throw new WritError('GRAMMAR_FAULT', {
      message: `the grammar \`${name}\` cannot be loaded`,
      hints: ['install the dependencies again, with optional files left in place'],
      cause,
    });
  }
}

/**
 * Compiles a module completely and at once, and disables later optimisation of its functions. One function of the
 * shell grammar costs the optimiser 700 MB of memory. For the other grammars it retains 15 MB and more of freed
 * memory. The flags apply to the process: if another thread first calls a function of another module meanwhile, that
 * function stays unoptimised. This costs some speed and has no other effect.
 */
function compilePlainly(bytes: Uint8Array): object {
  const flags = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'];
  for (const flag of flags) setFlagsFromString(`--no-${flag}`);
  try {
    return new WebAssembly.Module(new Uint8Array(bytes));
  } finally {
    for (const flag of flags) setFlagsFromString(`--${flag}`);
  }
}

/** Drops a runtime with memory that can no longer be trusted; the next grammar is loaded into a new one. */
export function dropRuntime(): void {
  generation += 1;
  broken.push(loaded);
  runtime = undefined;
  loaded = new Map();
}

async function startRuntime(): Promise<typeof import('web-tree-sitter')> {
  if (generation > maxGenerations)
    throw new TypeError(`${maxGenerations} texts have broken the runtime of grammars in this thread`);
  // A module keeps one runtime for good; another address is another module.
  const address = new URL(import.meta.resolve('web-tree-sitter'));
  if (generation > 0) address.search = String(generation);
  const module: typeof import('web-tree-sitter') = await import(address.href);
  await module.Parser.init({ print: () => {}, printErr: () => {} });
  return module;
}

function namedTypes(grammar: Language): readonly (string | undefined)[] {
  return grammar.types.map((type, id) => (grammar.nodeTypeIsNamed(id) ? type : undefined));
}

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
interface ParseBudget {
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

/** Lists of children are made when they are complete, as long as they are: half of all nodes have none. */
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
