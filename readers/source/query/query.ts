import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import { type Item, type Pattern, parseQuery, type QueryRow, type Settings } from './parse-query.ts';

type TextOf = (node: SyntaxNode) => string;

type Capture = readonly [name: string, node: SyntaxNode];
type Taken = readonly Capture[];

/** Where a row fits, and what was taken there. */
export class Match {
  readonly node: SyntaxNode;
  readonly settings: Settings;
  readonly #taken: Taken;

  constructor(node: SyntaxNode, settings: Settings, taken: Taken) {
    this.node = node;
    this.settings = settings;
    this.#taken = taken;
  }

  /** Names and nodes, in the order of the pattern. */
  taken(): Taken {
    return this.#taken;
  }

  /** The first node taken under a name. */
  one(name: string): SyntaxNode | undefined {
    return this.#taken.find(([one]) => one === name)?.[1];
  }

  /** Every node taken under a name, in order. */
  all(name: string): readonly SyntaxNode[] {
    return this.#taken.flatMap(([one, node]) => (one === name ? [node] : []));
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
    return rows.flatMap((row) =>
      waysOf(row.pattern, node, text).map((one) => new Match(node, row.settings, one)),
    );
  }
}

const none: readonly never[] = [];
/** What is taken in each way in which a pattern fits a node; none where it does not. */
function waysOf({ type, forms, captures, items }: Pattern, node: SyntaxNode, text: TextOf): readonly Taken[] {
  if (type !== '_' && type !== node.type) return none;
  if (forms.length > 0 && !forms.every((form) => form.test(text(node)))) return none;
  let ways: readonly Way[] = [{ taken: captures.map((name): Capture => [name, node]), from: 0 }];
  for (const item of items) {
    ways = ways.flatMap((way) => withItem(way, item, node, text));
    if (ways.length === 0) return none;
  }
  return ways.map(({ taken }) => taken);
}

/** What the items so far took, and the first child that the next one may take. */
interface Way {
  readonly taken: Taken;
  readonly from: number;
}

/** What a way and the next item take together, for each child that fits. */
function withItem(way: Way, item: Item, node: SyntaxNode, text: TextOf): readonly Way[] {
  const found: Way[] = [];
  const { children } = node;
  for (let at = way.from; at < children.length; at += 1) {
    const child = children[at];
    if (!child || !isPlaced(item, child, node)) continue;
    for (const pattern of item.ways)
      for (const taken of waysOf(pattern, child, text))
        found.push({ taken: item.many === '*' ? taken : [...way.taken, ...taken], from: at + 1 });
  }
  const last = found.at(-1);
  if (!last) return item.many === '' ? none : [way];
  if (item.many !== '*') return found;
  return [{ taken: [...way.taken, ...found.flatMap(({ taken }) => taken)], from: last.from }];
}

function isPlaced({ field, place }: Item, child: SyntaxNode, { children }: SyntaxNode): boolean {
  if (field !== undefined && child.field !== field) return false;
  return place === undefined || child === children.at(place === 'first' ? 0 : -1);
}
