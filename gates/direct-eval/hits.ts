/* Collects the places in a syntax tree where text becomes code. */
import {
  argumentsOf,
  childOf,
  type SyntaxNode,
  type SyntaxTree,
} from '../../readers/source/grammar/syntax-tree.ts';
import { originsOf, type Way } from '../../readers/source/names/paths.ts';
import type { Token } from '../../readers/source/tokens/lex.ts';
import type { SastRowId } from '../sast/rows.ts';
import type { ChangedSource } from '../source/changed-source.ts';

/** A place where text becomes code. Offsets are into the source text. */
export interface Hit {
  readonly start: number;
  /** Where the call ends: it counts where any of its lines was added. Absent: it is as good as one character. */
  readonly end?: number;
  /** Further offsets that make it one (an option, a name's origin): it counts where any of them was added. */
  readonly also?: readonly number[];
  /** What was written, e.g. `eval`. */
  readonly call: string;
  /** Why it counts, lower case, no full stop; of static analysis, the id of its row. */
  readonly why: string;
}

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

/** For the detail of a finding: how many lines it has from an offset on, if there are several. */
export function linesOf(
  { text }: ChangedSource,
  { end = 0 }: Hit,
  offset: number,
): { readonly lines?: number } {
  const lines = text.slice(offset, end).split('\n').length;
  return lines > 1 ? { lines } : {};
}

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

/** Whether a hit executes text; else its reason is the id of a row of static analysis. */
export function executesText({ why: reason }: Pick<Hit, 'why'>): boolean {
  return !reason.startsWith('sast/');
}

/** Builds a hit with a row's id as its reason. `also`: further offsets that make it a hit. */
export function sastHit(
  row: SastRowId,
  { start: from, end }: SyntaxNode,
  call: string,
  also: readonly number[] = [],
  start: number = from,
): Hit {
  return { start, end, also, call, why: row };
}

/** The hit of the first row that fits a way in which a call is reached; what executes text comes first. */
export function hitOf(rows: readonly CallRow[], call: Call, ways: readonly Way[]): Hit | undefined {
  const { node, target, given } = call;
  let other: Hit | undefined;
  for (const way of ways)
    for (const [path, reason, when] of rows) {
      const found = path.test(way.path) && (when ? when(call, way) : given.length > 0);
      if (!found) continue;
      const { also = [], ...more } = found === true ? {} : found;
      const origins = [...originsOf(way), ...also];
      const hit = { start: target.start, end: node.end, call: way.path, why: reason, ...more, also: origins };
      if (executesText(hit)) return hit;
      other ??= hit;
    }
  return other;
}

/** A node that calls `target`, with its arguments. */
export function callOf(node: SyntaxNode, target: SyntaxNode): Call {
  return { node, target, given: argumentsOf(node) };
}

/** Nodes that pass a value on, apart by blanks: a type with the field of the value (`pair.value`), or any child. */
export function takersIn(list: string): ReadonlyMap<string, string | undefined> {
  return new Map(list.split(/\s+/).map((one) => one.split('.') as [string, string | undefined]));
}

/** A value that is passed on. `place` is the node that names the value, if that is not its parent. */
export type PassedText = Pick<Hit, 'call' | 'why'> & { readonly place?: SyntaxNode | undefined };

/** Hits for values that their parent node passes on, unless an existing hit calls them under their new name. */
export function passedTextHits(
  { nodes }: SyntaxTree,
  hits: readonly Hit[],
  takers: ReadonlyMap<string, string | undefined>,
  find: (node: SyntaxNode) => PassedText | undefined,
): readonly Hit[] {
  const called = new Set(hits.filter(executesText).flatMap(({ also = [] }) => also));
  return nodes.flatMap((node): readonly Hit[] => {
    const { parent, field, start } = node;
    const isTaken = parent && takers.has(parent.type) && (takers.get(parent.type) ?? field) === field;
    const found = isTaken ? find(node) : undefined;
    if (!found) return [];
    const { call, why: reason, place = parent } = found;
    const name = childOf(place, 'name') ?? childOf(place, 'left');
    return name && called.has(name.start) ? [] : [{ start, call, why: reason }];
  });
}

/** Whether the body of a function does nothing but return `true`. */
export function returnsTrue(text: (node: SyntaxNode) => string, body: SyntaxNode | undefined): boolean {
  if (!body || /^(?:true|boolean_literal)$/.test(body.type))
    return body !== undefined && text(body) === 'true';
  const [only, ...more] = body.children.filter(({ type }) => !type.endsWith('comment'));
  const isBare = more.length === 0 && /^(?:block|return_statement|arrow_expression_clause)$/.test(body.type);
  return isBare && only !== undefined && returnsTrue(text, only);
}

/** Tokens with lookups for matchers. An index outside the list returns an empty token. */
export type TokenView = ReturnType<typeof viewTokens>;

const nothing: Token = { kind: 'newline', text: '', start: 0, end: 0, dynamic: false };

/** Wraps a token list. */
export function viewTokens(tokens: readonly Token[]) {
  const at = (index: number): Token => tokens[index] ?? nothing;
  const isOf = (kind: Token['kind'], index: number, texts: readonly string[]): boolean =>
    at(index).kind === kind && texts.includes(at(index).text);
  const beyond = (index: number, step: 1 | -1): number => {
    let found = index + step;
    while (tokens[found]?.kind === 'newline') found += step;
    return found;
  };
  return {
    at,
    text: (index: number): string => at(index).text,
    /** True for a word token of that text. */
    isWord: (index: number, ...words: readonly string[]): boolean => isOf('word', index, words),
    isPunct: (index: number, ...marks: readonly string[]): boolean => isOf('punct', index, marks),
    /** Index of the next token that is not a line break. */
    next: (index: number): number => beyond(index, 1),
    previous: (index: number): number => beyond(index, -1),
  };
}
