import { createRequire } from 'node:module';
import type { Document } from 'yaml';
import { type Content, isTable, type Table } from './content.ts';
import { parsePlainYaml } from './plain-yaml.ts';

const require = createRequire(import.meta.url);

/** Loaded where a document is not plain: eighty modules, and most changes bring none. */
const library = (): typeof import('yaml') => require('yaml') as typeof import('yaml');

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
      logLevel: 'silent',
      lineCounter: new LineCounter(),
    } as Parameters<typeof parseDocument>[1]);
    if (document.errors.length > 0) return { reason: 'it is not valid YAML' };
    if (repeatsKey(document)) return { reason: 'a mapping of it has a key twice, or one that is no word' };
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return isTable(value) ? { value } : { reason: 'it holds no mapping' };
  } catch {
    return { reason: 'it is not valid YAML' };
  }
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
