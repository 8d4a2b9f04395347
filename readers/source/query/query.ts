/* Matches patterns of tree-sitter's query language against a tree. */
import type { SyntaxNode } from '../grammar/syntax-tree.ts';

/** The conditions for a node, and its captures. */
interface Pattern {
  /** `_`: of any type. */
  readonly type: string;
  readonly captures: readonly string[];
  readonly items: readonly Item[];
  /** `(#match? @name "form")`: its text has these forms. */
  readonly forms: readonly RegExp[];
}

/** Children that a pattern wants. */
interface Item {
  readonly field: string | undefined;
  /** One of these. */
  readonly ways: readonly Pattern[];
  /** `?`: one or none; `*`: all that there are, none included; else each by itself makes a match. */
  readonly many: '' | '?' | '*';
  readonly place: 'first' | 'last' | undefined;
}

type Settings = Readonly<Record<string, string>>;

/** A pattern, and the settings of all its matches. */
interface QueryRow {
  readonly pattern: Pattern;
  /** `(#set! key value)`. */
  readonly settings: Settings;
}

const token = /;[^\n]*|[()[\]]|"(?:[^"\\]|\\.)*"|[^\s()[\]"]+/g;

/**
 * Reads rows of tree-sitter's query language: nodes, fields, `_`, alternatives, `?`, `*`, a `.` at either end,
 * captures, `#set!` and `#match?`. A pattern has at most one child of which each makes a match, so that matches grow no
 * faster than the children of a node. Source: tree-sitter.github.io/tree-sitter/using-parsers/queries.
 */
function parseQuery(text: string): readonly QueryRow[] {
  const tokens = (text.match(token) ?? []).filter((one) => !one.startsWith(';')).map(toKey);
  const rows: QueryRow[] = [];
  let at = 0;
  let settings: Record<string, string> = {};
  let forms: { readonly name: string; readonly form: RegExp }[] = [];
  while (at < tokens.length) {
    settings = {};
    forms = [];
    for (const pattern of readItem(false).ways) rows.push({ pattern: withForms(pattern), settings });
  }
  return rows;

  function readWays(): readonly Pattern[] {
    const ways: Pattern[] = [];
    if (tokens[at++] === '[') while (tokens[at] !== ']') ways.push(...readWays());
    else if (!/^[([]$/.test(tokens[at] ?? '')) return [readNode()];
    else {
      ways.push(...readItem(false).ways);
      while (tokens[at] === '(') readPredicate();
    }
    at += 1;
    return ways;
  }

  /** `(type …)`, behind its bracket. */
  function readNode(): Pattern {
    const type = tokens[at++] ?? '';
    const items: Item[] = [];
    let isFirst = false;
    while (tokens[at] !== ')') {
      if (at >= tokens.length) throw new TypeError('a query has as many closing brackets as opening ones');
      if (tokens[at] === '(' && tokens[at + 1]?.startsWith('#')) readPredicate();
      else if (tokens[at] !== '.') {
        items.push(readItem(isFirst));
        isFirst = false;
      } else {
        at += 1;
        isFirst = tokens[at] !== ')';
      }
    }
    at += 1;
    return { type, captures: readCaptures(), items, forms: [] };
  }

  function readItem(isFirst: boolean): Item {
    const field = tokens[at]?.endsWith(':') ? tokens[at++]?.slice(0, -1) : undefined;
    const inner = readWays();
    const many = tokens[at] === '?' || tokens[at] === '*' ? (tokens[at++] as '?' | '*') : '';
    const captures = readCaptures();
    const ways = inner.map((way) => ({ ...way, captures: [...way.captures, ...captures] }));
    const isLast = tokens[at] === '.' && tokens[at + 1] === ')';
    return { field, ways, many, place: isFirst ? 'first' : isLast ? 'last' : undefined };
  }

  function readCaptures(): readonly string[] {
    const names: string[] = [];
    while (tokens[at]?.startsWith('@')) names.push(toKey(tokens[at++]?.slice(1) ?? ''));
    return names;
  }

  /** Moves predicates at the end of a pattern to the nodes that they constrain, so that they are tested early. */
  function withForms(pattern: Pattern): Pattern {
    return {
      ...pattern,
      forms: forms.filter(({ name }) => pattern.captures.includes(name)).map(({ form }) => form),
      items: pattern.items.map((item) => ({ ...item, ways: item.ways.map(withForms) })),
    };
  }

  function readPredicate(): void {
    const [word, key = '', value = ''] = tokens.slice(at + 1, tokens.indexOf(')', at));
    if (word === '#set!') settings[key] = unquoted(value);
    else forms.push({ name: key.slice(1), form: new RegExp(unquoted(value)) });
    at = tokens.indexOf(')', at) + 1;
  }
}

/** Returns the same text as an object key, which compares by identity instead of by characters. */
function toKey(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text;
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/gs, '$1') : word;
}

type TextOf = (node: SyntaxNode) => string;

type Capture = readonly [name: string, node: SyntaxNode];
type Taken = readonly Capture[];

/** A node that a row matches, with its captures: names and nodes, in the order of the pattern. */
function toMatch(node: SyntaxNode, settings: Settings, taken: Taken) {
  return {
    node,
    settings,
    taken,
    /** Returns the first node captured under a name. */
    one: (name: string) => taken.find(([one]) => one === name)?.[1],
    /** Returns every node captured under a name, in order. */
    all: (name: string) => taken.flatMap(([one, found]) => (one === name ? [found] : [])),
  };
}

export type Match = ReturnType<typeof toMatch>;

/**
 * Patterns of a language's syntax, matched node by node. They are matched against trees copied out of the runtime.
 * The runtime's own matcher adds a third of the parse time, this one a twentieth.
 */
export class Query {
  readonly #rows = new Map<string, QueryRow[]>();
  readonly #types = new Map<string, ReadonlySet<string>>();

  readonly text: string;

  /** The text is part of the program: a test compares what it matches with the runtime's own queries. */
  constructor(text: string) {
    this.text = text;
    for (const row of parseQuery(text)) {
      const { type, items, captures } = row.pattern;
      for (const name of items.length === 0 ? captures : [])
        this.#types.set(name, new Set([...this.typesOf(name), type]));
      if (items.length > 0) this.#rows.set(type, [...(this.#rows.get(type) ?? []), row]);
    }
  }

  /** Returns the node types that rows without children capture under that name; such rows make no matches. */
  typesOf(name: string): ReadonlySet<string> {
    return this.#types.get(name) ?? noTypes;
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
      waysOf(row.pattern, node, text).map((one) => toMatch(node, row.settings, one)),
    );
  }
}

const none: readonly never[] = [];
const noTypes: ReadonlySet<string> = new Set();

/** Returns the captures for each way in which a pattern fits a node; none if it does not fit. */
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

/** The captures so far, and the first child that the next item may match. */
interface Way {
  readonly taken: Taken;
  readonly from: number;
}

/** Returns the combined captures of a way and the next item, for each child that fits. */
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
