import { createRequire } from 'node:module';
import type { Document } from 'yaml';
import { type Content, isTable, type Table } from './content.ts';
import { parsePlainYaml } from './plain-yaml.ts';

const require = createRequire(import.meta.url);

/** Loaded where a document is not plain: eighty modules, and most changes bring none. */
const library = (): typeof import('yaml') => require('yaml') as typeof import('yaml');

/** `silent` would keep quiet about a second document. */
const logLevel = 'error';

/** The library takes seconds for megabytes: beyond this only the plain form that lockfile writers use is read. */
const maxLibraryBytes = 2 * 1024 * 1024;

/**
 * A YAML document whose root is a mapping; every scalar is a string. Aliases, tags, duplicate keys and several
 * documents are refused. `lines` says where the keys of depth 0 and 1 stand.
 */
export function yamlContent(text: string): Content<Table> & { readonly lines?: ReadonlyMap<string, number> } {
  // A line break to some readers and none to others: a comment would hide what follows it.
  if (/\r(?!\n)/.test(text)) return { reason: 'it holds a carriage return that ends no line' };
  const plain = parsePlainYaml(text);
  if (plain !== undefined) return plain;
  if (text.length > maxLibraryBytes)
    return { reason: `it is no plain YAML, and larger than ${maxLibraryBytes} characters` };
  if (deepest(text) > 100) return { reason: 'it is nested deeper than 100' };
  const { LineCounter, parseDocument } = library();
  try {
    const document = parseDocument(text, {
      schema: 'failsafe',
      maxAliasCount: 0,
      // The library compares each key with each; `repeatsKey` does it in one pass.
      uniqueKeys: false,
      logLevel,
      lineCounter: new LineCounter(),
    } as Parameters<typeof parseDocument>[1]);
    const reason = faultOf(document);
    if (reason !== undefined) return { reason };
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return isTable(value) ? { value } : { reason: 'it holds no mapping' };
  } catch {
    return { reason: 'it is not valid YAML' };
  }
}

/** Values, and characters of texts and keys, that a document may come to once its aliases are followed. */
const maxValues = 500_000;
const maxCharacters = 16 * 1024 * 1024;
const maxDepth = 100;
/** The library multiplies aliases within aliases: beyond so many they are an attack. */
const maxAliases = 100;

/**
 * A YAML 1.2 document (core schema) as the JSON that it stands for: numbers, booleans and null are such, anchors are
 * followed. Refused are tags of others, duplicate keys, several documents, numbers that JSON has not, and what is too
 * large: more than 2 MiB of text, 100 levels, or what the aliases blow up.
 */
export function yamlAsJson(text: string): Content<Table> {
  if (/\r(?!\n)/.test(text)) return { reason: 'it holds a carriage return that ends no line' };
  if (text.length > maxLibraryBytes) return { reason: `it is larger than ${maxLibraryBytes} characters` };
  if (deepest(text) > maxDepth) return { reason: `it is nested deeper than ${maxDepth}` };
  try {
    const document = library().parseDocument(text, {
      schema: 'core',
      uniqueKeys: false,
      logLevel,
    });
    const reason = document.warnings.length > 0 ? 'it is not valid YAML' : faultOf(document);
    if (reason !== undefined) return { reason };
    const value: unknown = document.toJS({ maxAliasCount: maxAliases });
    if (!isTable(value)) return { reason: 'it holds no mapping' };
    return isBounded(value) ? { value } : { reason: 'what its aliases come to is too large, or no JSON' };
  } catch {
    return { reason: 'it is not valid YAML' };
  }
}

/** An alias within what it stands for has no end: its depth has one. */
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

/** Why nothing is read of what the library has parsed. */
function faultOf(document: Document.Parsed): string | undefined {
  if (document.errors.some(({ code }) => code === 'MULTIPLE_DOCS')) return 'it holds several documents';
  if (document.errors.length > 0) return 'it is not valid YAML';
  return repeatsKey(document) ? 'a mapping of it has a key twice, or one that is no word' : undefined;
}

/** True where two keys of one mapping are equal, or one is no scalar. */
function repeatsKey(document: Document.Parsed): boolean {
  const { isScalar, visit } = library();
  let repeats = false;
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : undefined;
        if (name === undefined || seen.has(name)) {
          repeats = true;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return repeats;
}

/** An upper bound on nesting: brackets before a place, and the deepest indentation. */
function deepest(text: string): number {
  let open = 0;
  let most = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 91 || code === 123) open += 1;
    else if ((code === 93 || code === 125) && open > 0) open -= 1;
    if (open > most) most = open;
  }
  let indent = 0;
  for (const [spaces] of text.matchAll(/^[ \-?]+/gm)) indent = Math.max(indent, spaces.length);
  return Math.max(most, indent);
}
