import type { Table } from './content.ts';

/** What a plain document says, and on which line the keys of depth 0 and 1 stand. */
export interface PlainYaml {
  readonly value: Table;
  readonly lines: ReadonlyMap<string, number>;
}

type Node = Record<string, unknown>;

/**
 * The YAML that lockfile writers write: block mappings, flow mappings and lists on one line, block lists of scalars,
 * quoted and plain scalars (all strings), comments on lines of their own. `undefined` for anything else: the document
 * may still be YAML. Linear.
 */
export function parsePlainYaml(text: string): PlainYaml | undefined {
  const root: Node = Object.create(null);
  const lines = new Map<string, number>();
  const stack: { readonly indent: number; readonly node: Node }[] = [{ indent: 0, node: root }];
  let pending: { readonly node: Node; readonly key: string; readonly indent: number } | undefined;
  let list: { readonly indent: number; readonly items: unknown[] } | undefined;
  let number = 0;
  for (const raw of text.split('\n')) {
    number += 1;
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const body = line.trimStart();
    if (body === '' || body.startsWith('#')) continue;
    if (line === '---' && number === 1) continue;
    const indent = line.length - body.length;
    if (line.slice(0, indent).includes('\t')) return undefined;
    if (body.startsWith('- ')) {
      if (pending && indent >= pending.indent) {
        list = { indent, items: [] };
        pending.node[pending.key] = list.items;
        pending = undefined;
      }
      const item = list?.indent === indent ? scalarOrFlow(body.slice(2).trim()) : undefined;
      if (item === undefined || (typeof item === 'string' && /^[^'"]*:(?: |$)/.test(body.slice(2))))
        return undefined;
      list?.items.push(item);
      continue;
    }
    list = undefined;
    if (pending) {
      if (indent > pending.indent) {
        if (stack.length > 90) return undefined;
        const node: Node = Object.create(null);
        pending.node[pending.key] = node;
        stack.push({ indent, node });
      } else pending.node[pending.key] = '';
      pending = undefined;
    }
    while (stack.length > 1 && indent < (stack.at(-1)?.indent ?? 0)) stack.pop();
    const top = stack.at(-1);
    if (top === undefined || top.indent !== indent) return undefined;
    const pair = keyOf(body);
    if (pair === undefined || Object.hasOwn(top.node, pair.key)) return undefined;
    if (stack.length <= 2 && !lines.has(pair.key)) lines.set(pair.key, number);
    if (pair.rest === '') pending = { node: top.node, key: pair.key, indent };
    else {
      const value = scalarOrFlow(pair.rest);
      if (value === undefined) return undefined;
      top.node[pair.key] = value;
    }
  }
  if (pending) pending.node[pending.key] = '';
  return { value: root, lines };
}

function keyOf(body: string): { readonly key: string; readonly rest: string } | undefined {
  const quote = body[0];
  if (quote === '"' || quote === "'") {
    const quoted = quotedAt(body, 0);
    if (quoted === undefined || body[quoted.end] !== ':') return undefined;
    const rest = body.slice(quoted.end + 1);
    return rest === '' || rest.startsWith(' ') ? { key: quoted.value, rest: rest.trim() } : undefined;
  }
  if (/^[?&*!|>%@`{}[\],]/.test(body) || body.startsWith('<<')) return undefined;
  let at = body.indexOf(':');
  while (at !== -1 && at + 1 < body.length && body[at + 1] !== ' ') at = body.indexOf(':', at + 1);
  if (at <= 0) return undefined;
  const key = body.slice(0, at);
  return key.includes(' #') || key.endsWith(' ') ? undefined : { key, rest: body.slice(at + 1).trim() };
}

/** A value that stands on one line; `undefined` for what is not plain. */
function scalarOrFlow(text: string): unknown {
  if (text.startsWith('{') || text.startsWith('[')) {
    const flow = new Flow(text);
    const value = flow.value(0);
    return flow.isAtEnd ? value : undefined;
  }
  if (text.startsWith('"') || text.startsWith("'")) {
    const quoted = quotedAt(text, 0);
    return quoted?.end === text.length ? quoted.value : undefined;
  }
  return isPlain(text) && !/: |:$/.test(text) ? text : undefined;
}

function isPlain(text: string): boolean {
  return !/^[?&*!|>%@`#,]|^- |^-$|^\? | #/.test(text) && text !== '';
}

function quotedAt(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  const quote = text[from];
  if (quote === "'") {
    let value = '';
    for (let at = from + 1; at < text.length; at += 1) {
      const end = text.indexOf("'", at);
      if (end === -1) return undefined;
      value += text.slice(at, end);
      if (text[end + 1] !== "'") return { value, end: end + 1 };
      value += "'";
      at = end + 1;
    }
    return undefined;
  }
  let end = from + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  try {
    return { value: JSON.parse(text.slice(from, end + 1)) as string, end: end + 1 };
  } catch {
    return undefined;
  }
}

/** A flow mapping or list. */
class Flow {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  value(depth: number): unknown {
    this.#space();
    const first = this.#text[this.#at];
    if (depth > 20) return undefined;
    if (first === '{') return this.#mapping(depth);
    if (first === '[') return this.#list(depth);
    return this.#scalar();
  }

  #mapping(depth: number): unknown {
    const node: Node = Object.create(null);
    this.#at += 1;
    for (;;) {
      this.#space();
      if (this.#take('}')) return node;
      const key = this.#scalar();
      if (key === undefined || !this.#take(':') || this.#text[this.#at] !== ' ' || Object.hasOwn(node, key))
        return undefined;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      node[key] = value;
      this.#space();
      if (!this.#take(',') && this.#text[this.#at] !== '}') return undefined;
    }
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

  #scalar(): string | undefined {
    const text = this.#text;
    if (text[this.#at] === '"' || text[this.#at] === "'") {
      const quoted = quotedAt(text, this.#at);
      if (quoted) this.#at = quoted.end;
      return quoted?.value;
    }
    const from = this.#at;
    while (this.#at < text.length && !',{}[]'.includes(text[this.#at] ?? '')) {
      if (text[this.#at] === ':' && (text[this.#at + 1] ?? ' ') === ' ') break;
      this.#at += 1;
    }
    const scalar = text.slice(from, this.#at).trim();
    return isPlain(scalar) ? scalar : undefined;
  }

  #take(letter: string): boolean {
    if (this.#text[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }
}
