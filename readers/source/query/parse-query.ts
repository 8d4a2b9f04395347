/** What a node has to be, and what of it is taken. */
export interface Pattern {
  /** `_`: of any type. */
  readonly type: string;
  readonly captures: readonly string[];
  readonly items: readonly Item[];
  /** `(#match? @name "form")`: its text has these forms. */
  readonly forms: readonly RegExp[];
}

/** Children that a pattern wants. */
export interface Item {
  readonly field: string | undefined;
  /** One of these. */
  readonly ways: readonly Pattern[];
  /** `?`: one or none; `*`: all that there are, none included; else each by itself makes a match. */
  readonly many: '' | '?' | '*';
  readonly place: 'first' | 'last' | undefined;
}

export type Settings = Readonly<Record<string, string>>;

/** A pattern, and what is said of all its matches. */
export interface QueryRow {
  readonly pattern: Pattern;
  /** `(#set! key value)`. */
  readonly settings: Settings;
}

const token = /;[^\n]*|[()[\]]|"(?:[^"\\]|\\.)*"|[^\s()[\]"]+/g;

/**
 * Reads rows of tree-sitter's query language: nodes, fields, `_`, alternatives, `?`, `*`, a `.` at either end,
 * captures, `#set!` and `#match?`. Throws TypeError for anything else, and where matches could grow faster than the
 * children of a node. Source: tree-sitter.github.io/tree-sitter/using-parsers/queries.
 */
export function parseQuery(text: string): readonly QueryRow[] {
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

  function fail(expected: string): never {
    throw new TypeError(`a query has ${expected}, not \`${tokens.slice(at, at + 4).join(' ')}\``);
  }

  function readWays(): readonly Pattern[] {
    const open = tokens[at++];
    const ways: Pattern[] = [];
    if (open === '[') {
      while (tokens[at] !== ']') ways.push(...readWays());
      at += 1;
    } else if (open === '(' && /^[([]$/.test(tokens[at] ?? '')) {
      ways.push(...readItem(false).ways);
      while (tokens[at] === '(') readPredicate();
      if (tokens[at++] !== ')') fail('nothing but predicates beside a node');
    } else if (open === '(') ways.push(readNode());
    else fail('a node in brackets');
    return ways;
  }

  /** `(type …)`, behind its bracket. */
  function readNode(): Pattern {
    const type = tokens[at++] ?? '';
    const items: Item[] = [];
    let isFirst = false;
    while (tokens[at] !== ')') {
      if (at >= tokens.length) fail('as many closing brackets as opening ones');
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
    const captures = readCaptures();
    if (items.filter(({ field, many, place }) => !field && many === '' && !place).length > 1)
      fail('at most one child of which each makes a match');
    return { type, captures, items, forms: [] };
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

  /** What is said behind all of a pattern is looked at as soon as it can be told. */
  function withForms(pattern: Pattern): Pattern {
    return {
      ...pattern,
      forms: forms.filter(({ name }) => pattern.captures.includes(name)).map(({ form }) => form),
      items: pattern.items.map((item) => ({ ...item, ways: item.ways.map(withForms) })),
    };
  }

  function readPredicate(): void {
    const close = tokens.indexOf(')', at);
    const [word, key, value, ...more] = tokens.slice(at + 1, close);
    if (key === undefined || more.length > 0) fail('a predicate with one or two words');
    if (word === '#set!') settings[key] = unquoted(value ?? '');
    else if (word === '#match?') forms.push({ name: key.slice(1), form: new RegExp(unquoted(value ?? '')) });
    else fail('`#set!` and `#match?`');
    at = close + 1;
  }
}

/** The same text as the key of an object, which is told from others without a look at its letters. */
function toKey(text: string): string {
  return Object.keys({ [text]: true })[0] ?? text;
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/gs, '$1') : word;
}
