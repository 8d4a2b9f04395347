/* Parses text, JSON, TOML and YAML of dependency files, within limits. */
import { createRequire } from 'node:module';
import { parse as parseTomlText, TomlError } from 'smol-toml';

const require = createRequire(import.meta.url);

const maxFileBytes = 64 * 1024 * 1024;
const maxDepth = 100;

/** A value, or why there is none; a reason never quotes the file, which may hold anything. */
export type Content<Value> = { readonly value: Value } | { readonly reason: string };

export type Table = Readonly<Record<string, unknown>>;

/** UTF-8 text without its byte order mark. */
export function textContent(bytes: Uint8Array): Content<string> {
  if (bytes.length > maxFileBytes) return { reason: `it is larger than ${maxFileBytes} bytes` };
  try {
    return { value: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { reason: 'it is not valid UTF-8' };
  }
}

/** A JSON object as package managers read it: of equal keys the last. */
export function jsonContent(text: string): Content<Table> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { reason: 'it is not valid JSON' };
  }
  return isTable(value) ? { value } : { reason: 'it holds no object' };
}

export function tomlContent(text: string): Content<Table> {
  try {
    return { value: parseTomlText(text, { maxDepth, unsafeKeyBehaviour: 'throw' }) };
  } catch (fault) {
    if (fault instanceof TomlError) return { reason: `it is not valid TOML (line ${fault.line})` };
    return { reason: 'it is not valid TOML' };
  }
}

/** The part of js-yaml that is used; the package brings no types. It is loaded here: most changes bring no YAML. */
interface YamlLibrary {
  readonly load: (
    text: string,
    options: {
      readonly schema: unknown;
      readonly listener?: (event: string, state: { readonly anchorMap: object }) => void;
    },
  ) => unknown;
  readonly FAILSAFE_SCHEMA: unknown;
  readonly CORE_SCHEMA: unknown;
}

/** Values, and characters of texts and keys, that a YAML document may contain once its aliases are followed. */
const maxValues = 500_000;
const maxCharacters = 16 * 1024 * 1024;
const maxJsonText = 2 * 1024 * 1024;

/**
 * Parses a YAML document with a mapping as its root. Every scalar is a string, an empty one is `null`. Refuses
 * anchors, tags, duplicate keys and several documents.
 */
export function yamlContent(text: string): Content<Table> {
  return readYaml(text, 'FAILSAFE_SCHEMA');
}

/**
 * Parses a YAML 1.2 document (core schema) into JSON values and resolves aliases. Refuses third-party tags, duplicate
 * keys, several documents, and numbers that JSON does not have. Also refuses more than 2 MiB of text, more than 100
 * levels, and aliases that expand beyond the limits.
 */
export function yamlAsJson(text: string): Content<Table> {
  if (text.length > maxJsonText) return { reason: `it is larger than ${maxJsonText} characters` };
  const content = readYaml(text, 'CORE_SCHEMA');
  return 'reason' in content || isBounded(content.value)
    ? content
    : { reason: 'its content is too large, too deep or no JSON' };
}

function readYaml(text: string, schema: 'FAILSAFE_SCHEMA' | 'CORE_SCHEMA'): Content<Table> {
  // Some readers end a line there and others do not: a comment would hide what follows it.
  if (/\r(?!\n)/.test(text)) return { reason: 'it holds a carriage return that ends no line' };
  const library = require('js-yaml') as YamlLibrary;
  try {
    const value = library.load(text, {
      schema: library[schema],
      listener: (_, { anchorMap }) => {
        if (schema === 'FAILSAFE_SCHEMA' && Object.keys(anchorMap).length > 0) throw new Error('anchor');
      },
    });
    return isTable(value) ? { value } : { reason: 'it holds no mapping' };
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : '';
    return {
      reason: /single document/.test(message) ? 'it holds several documents' : 'it is not valid YAML',
    };
  }
}

/** An alias counts each time; one within its own anchor has no end, but its depth has one. */
function isBounded(root: unknown): boolean {
  let values = 0;
  let characters = 0;
  const pending: [value: unknown, depth: number][] = [[root, 0]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [value, depth] = next;
    values += 1;
    if (typeof value === 'string') characters += value.length;
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        characters += key.length;
        pending.push([inner, depth + 1]);
      }
    }
    if (depth > maxDepth || values + pending.length > maxValues || characters > maxCharacters) return false;
  }
  return true;
}

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` as an object; anything else is an empty one. */
export function tableOf(value: unknown): Table {
  return isTable(value) ? value : {};
}

/** Own entries of an object; none of anything else. */
export function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isTable(value) ? Object.entries(value) : [];
}

/** `value` as a list; anything else is an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string of at most 4,096 characters without control characters; anything else is empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= 4096 && !/\p{Cc}/u.test(value) ? value : '';
}

/** Finds texts in the order in which they occur, and their lines (from 1). All calls together read the text once. */
export class LineFinder {
  readonly #text: string;
  #at = 0;
  #line = 1;
  /** The line feed that ends this line; the length of the text in the last one. */
  #lineEnd: number;
  #misses = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#feedFrom(0);
  }

  /**
   * Returns the line of the next occurrence after the last match; `undefined` if there is none. After 20 misses it
   * stops searching.
   */
  next(needle: string): number | undefined {
    if (this.#misses >= 20) return undefined;
    const at = this.#text.indexOf(needle, this.#at);
    if (at === -1) {
      this.#misses += 1;
      return undefined;
    }
    this.#at = at + needle.length;
    for (; this.#lineEnd < at; this.#lineEnd = this.#feedFrom(this.#lineEnd + 1)) this.#line += 1;
    return this.#line;
  }

  /** The line that begins with a key of TOML, or holds it. */
  nextKey(key: string): number | undefined {
    const before = this.next(`\n${key}`);
    return before === undefined ? this.next(key) : before + 1;
  }

  #feedFrom(at: number): number {
    const feed = this.#text.indexOf('\n', at);
    return feed === -1 ? this.#text.length : feed;
  }
}

/** Lines with their numbers, from 1. */
export function numberedLines(text: string, end: string | RegExp = /\r?\n/): (readonly [number, string])[] {
  return text.split(end).map((line, at) => [at + 1, line] as const);
}

/** Lines of the YAML keys that are indented by at most two spaces, from 1; the first of equal ones. */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [at, line] of text.split('\n').entries()) {
    const key = /^ {0,2}(?:"([^"]+)"|'([^']+)'|([^\s"'#][^\s#]*)):(?:\s|$)/.exec(line);
    const name = key?.[1] ?? key?.[2] ?? key?.[3];
    if (name !== undefined && !lines.has(name)) lines.set(name, at + 1);
  }
  return lines;
}
