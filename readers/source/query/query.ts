import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import { type Item, type Pattern, parseQuery, type QueryRow } from './parse-query.ts';

type TextOf = (node: SyntaxNode) => string;

/** Names and what was taken under them, by turns: most matches take two or three nodes. */
type Taken = (string | SyntaxNode)[];

/** Where a row fits, and what was taken there. */
export class Match {
  readonly node: SyntaxNode;
  readonly settings: Readonly<Record<string, string>>;
  readonly #taken: Taken;

  constructor(node: SyntaxNode, { settings }: QueryRow, taken: Taken) {
    this.node = node;
    this.settings = settings;
    this.#taken = taken;
  }

  /** Names and nodes, in the order of the pattern. */
  taken(): readonly (readonly [name: string, node: SyntaxNode])[] {
    const pairs: [string, SyntaxNode][] = [];
    for (let at = 0; at < this.#taken.length; at += 2)
      pairs.push([this.#taken[at] as string, this.#taken[at + 1] as SyntaxNode]);
    return pairs;
  }

  /** The first node taken under a name. */
  one(name: string): SyntaxNode | undefined {
    for (let at = 0; at < this.#taken.length; at += 2)
      if (this.#taken[at] === name) return this.#taken[at + 1] as SyntaxNode;
    return undefined;
  }

  /** Every node taken under a name, in order. */
  all(name: string): readonly SyntaxNode[] {
    let nodes: SyntaxNode[] | undefined;
    for (let at = 0; at < this.#taken.length; at += 2)
      if (this.#taken[at] === name) {
        nodes ??= [];
        nodes.push(this.#taken[at + 1] as SyntaxNode);
      }
    return nodes ?? none;
  }
}

/**
 * What a language says of its syntax, asked node by node. It is matched against trees that were copied out of the
 * runtime: the runtime's own matcher takes a third of the time of a parse once more, this one a twentieth.
 */
export class Query {
  readonly #rows = new Map<string, QueryRow[]>();
  readonly #types = new Map<string, ReadonlySet<string>>();

  readonly text: string;

  /** Throws TypeError for what `parseQuery` does not read, and for a row that fits nodes of any type. */
  constructor(text: string) {
    this.text = text;
    for (const row of parseQuery(text)) {
      const { type, items, captures } = row.pattern;
      if (type === '_') throw new TypeError('a row of a query begins with the type of a node');
      for (const name of items.length === 0 ? captures : [])
        this.#types.set(name, new Set([...this.typesOf(name), type]));
      if (items.length > 0) this.#rows.set(type, [...(this.#rows.get(type) ?? []), row]);
    }
  }

  /** Types of nodes that rows without children take under that name; such rows make no matches. */
  typesOf(name: string): ReadonlySet<string> {
    return this.#types.get(name) ?? new Set();
  }

  /** Whether a row may fit at a node; half of all nodes have no children, which every row wants. */
  mayFit({ children, type }: SyntaxNode): boolean {
    return children.length > 0 && this.#rows.has(type);
  }

  /** Rows that fit at a node, in the order of the query; each way in which one fits is a match. */
  at(node: SyntaxNode, text: TextOf): readonly Match[] {
    const rows = this.#rows.get(node.type);
    if (!rows) return none;
    let matches: Match[] | undefined;
    for (const row of rows) {
      taken.length = 0;
      const count = take(row.pattern, node, text);
      if (count === 0) continue;
      matches ??= [];
      for (const one of count === 1 ? [taken.slice()] : ways(row.pattern, node, text))
        matches.push(new Match(node, row, one));
    }
    return matches ?? none;
  }
}

const none: readonly never[] = [];
/** What `take` has taken so far: most patterns fit in no way or in one, for which nothing else is made. */
const taken: Taken = [];

/** Takes what a pattern takes of a node: 0 where it does not fit, 1 where in one way, 2 where perhaps in several. */
function take(pattern: Pattern, node: SyntaxNode, text: TextOf): 0 | 1 | 2 {
  if (!isSuch(pattern, node, text)) return 0;
  const { captures, items } = pattern;
  for (const name of captures) taken.push(name, node);
  const { children } = node;
  let from = 0;
  for (const item of items) {
    let next = 0;
    for (let at = from; at < children.length; at += 1) {
      const child = children[at];
      if (!child || !isPlaced(item, child, node)) continue;
      for (const way of item.ways) {
        const before = taken.length;
        const inner = take(way, child, text);
        if (inner === 0) taken.length = before;
        else if (inner === 2 || (next > 0 && item.many !== '*')) return 2;
        else next = at + 1;
      }
    }
    if (next === 0 && item.many === '') return 0;
    from = Math.max(from, next);
  }
  return 1;
}

function isSuch({ type, forms }: Pattern, node: SyntaxNode, text: TextOf): boolean {
  if (type !== '_' && type !== node.type) return false;
  return forms.length === 0 || forms.every((form) => form.test(text(node)));
}

function isPlaced({ field, place }: Item, child: SyntaxNode, { children }: SyntaxNode): boolean {
  if (field !== undefined && child.field !== field) return false;
  return place === undefined || child === children.at(place === 'first' ? 0 : -1);
}

/** What is taken in each way in which a pattern fits a node; none where it does not. */
function ways(pattern: Pattern, node: SyntaxNode, text: TextOf): readonly Taken[] {
  if (!isSuch(pattern, node, text)) return none;
  const { captures, items } = pattern;
  return after(0, 0).map((rest) => [...captures.flatMap((name) => [name, node]), ...rest]);

  /** What items take from a child on. */
  function after(index: number, from: number): readonly Taken[] {
    const item = items[index];
    if (!item) return [[]];
    const each = node.children.flatMap((child, at) =>
      at >= from && isPlaced(item, child, node)
        ? item.ways.flatMap((way) => ways(way, child, text)).map((own) => ({ own, next: at + 1 }))
        : [],
    );
    const last = each.at(-1);
    if (!last) return item.many === '' ? none : after(index + 1, from);
    if (item.many === '*') {
      const all = each.flatMap(({ own }) => own);
      return after(index + 1, last.next).map((rest) => [...all, ...rest]);
    }
    return each.flatMap(({ own, next }) => after(index + 1, next).map((rest) => [...own, ...rest]));
  }
}
