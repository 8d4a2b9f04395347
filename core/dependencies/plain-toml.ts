import type { Table } from './content.ts';

type Node = Record<string, unknown>;

const header = /^\[(\[?)((?:[\w-]+|"[^"\\]*")(?:\.(?:[\w-]+|"[^"\\]*"))*)\](\]?)$/;
const pair = /^([\w-]+|"[^"\\]*") = /;

/**
 * The TOML that lockfile writers write: tables, lists of tables, `key = value` with one space on either side; values are basic strings,
 * true, false, integers, lists and inline tables. `undefined` for anything else: the document may still be TOML. Linear.
 */
export function parsePlainToml(text: string): Table | undefined {
  const scanner = new Scanner(text);
  const root: Node = {};
  const seen = new Set<Node>();
  let table = root;
  while (!scanner.isAtEnd) {
    const line = scanner.line();
    if (line === '' || line.startsWith('#')) {
      scanner.skipLine();
      continue;
    }
    if (line.startsWith('[')) {
      const [, open, path = '', close] = header.exec(line) ?? [];
      if (open === undefined || (open === '[') !== (close === ']')) return undefined;
      const next = enter(root, keysOf(path), open === '[', seen);
      if (next === undefined) return undefined;
      table = next;
      scanner.skipLine();
      continue;
    }
    const [matched, written] = pair.exec(line) ?? [];
    if (matched === undefined || written === undefined) return undefined;
    const key = unquoted(written);
    if (Object.hasOwn(table, key) || key === '__proto__') return undefined;
    scanner.skip(matched.length);
    const value = scanner.value(0);
    if (value === undefined || !scanner.endLine()) return undefined;
    table[key] = value;
  }
  return root;
}

function keysOf(path: string): readonly string[] {
  return (path.match(/[\w-]+|"[^"\\]*"/g) ?? []).map(unquoted);
}

function unquoted(key: string): string {
  return key.startsWith('"') ? key.slice(1, -1) : key;
}

function enter(root: Node, keys: readonly string[], isList: boolean, seen: Set<Node>): Node | undefined {
  if (keys.includes('__proto__')) return undefined;
  let node = root;
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(node, key) ? node[key] : undefined;
    if (next === undefined) node = node[key] = {};
    else if (Array.isArray(next)) node = next.at(-1) as Node;
    else if (typeof next === 'object') node = next as Node;
    else return undefined;
  }
  const last = keys.at(-1) ?? '';
  const there = Object.hasOwn(node, last) ? node[last] : undefined;
  const made: Node = {};
  if (isList) {
    if (there === undefined) node[last] = [made];
    else if (Array.isArray(there) && seen.has(there.at(-1) as Node)) there.push(made);
    else return undefined;
    seen.add(made);
    return made;
  }
  if (there !== undefined) return undefined;
  node[last] = made;
  return made;
}

class Scanner {
  readonly #text: string;
  #at = 0;
  #end = -1;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The rest of the current line. */
  line(): string {
    if (this.#end < this.#at) {
      const feed = this.#text.indexOf('\n', this.#at);
      this.#end = feed === -1 ? this.#text.length : feed;
    }
    const end = this.#text[this.#end - 1] === '\r' ? this.#end - 1 : this.#end;
    return this.#text.slice(this.#at, end);
  }

  skip(length: number): void {
    this.#at += length;
  }

  skipLine(): void {
    this.line();
    this.#at = this.#end + 1;
    this.#end = -1;
  }

  /** True where nothing more stands on the line, which is then passed. */
  endLine(): boolean {
    this.#end = -1;
    if (this.line() !== '') return false;
    this.skipLine();
    return true;
  }

  value(depth: number): unknown {
    const text = this.#text;
    const first = text[this.#at];
    if (first === '"') return this.#string();
    if (depth < 20 && first === '[') return this.#list(depth);
    if (depth < 20 && first === '{') return this.#inlineTable(depth);
    const bare = /^(?:true|false|-?(?:0|[1-9]\d{0,14}))(?=[,\]} \r\n]|$)/.exec(
      text.slice(this.#at, this.#at + 20),
    )?.[0];
    if (bare === undefined) return undefined;
    this.#at += bare.length;
    return bare === 'true' ? true : bare === 'false' ? false : Number(bare);
  }

  #string(): string | undefined {
    const text = this.#text;
    if (text.startsWith('"""', this.#at)) return undefined;
    const end = text.indexOf('"', this.#at + 1);
    if (end === -1) return undefined;
    const value = text.slice(this.#at + 1, end);
    // An escape or a control character: left to the library.
    if (/[\\\p{Cc}]/u.test(value)) return undefined;
    this.#at = end + 1;
    return value;
  }

  #list(depth: number): unknown {
    const items: unknown[] = [];
    this.#at += 1;
    for (;;) {
      this.#space();
      if (this.#take(']')) return items;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      items.push(value);
      this.#space();
      if (!this.#take(',') && this.#text[this.#at] !== ']') return undefined;
    }
  }

  #inlineTable(depth: number): unknown {
    const node: Node = {};
    this.#at += 1;
    for (let isFirst = true; ; isFirst = false) {
      while (this.#text[this.#at] === ' ') this.#at += 1;
      if (isFirst && this.#take('}')) return node;
      const [matched, written = ''] = pair.exec(this.#text.slice(this.#at, this.#at + 300)) ?? [];
      if (
        matched === undefined ||
        unquoted(written) === '__proto__' ||
        Object.hasOwn(node, unquoted(written))
      )
        return undefined;
      this.#at += matched.length;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      node[unquoted(written)] = value;
      while (this.#text[this.#at] === ' ') this.#at += 1;
      if (this.#take('}')) return node;
      if (!this.#take(',')) return undefined;
    }
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13) return;
      this.#at += 1;
    }
  }
}
