import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Node } from 'web-tree-sitter';
import { shippedGrammar } from '../../../gates/source/shipped-grammar.ts';
import { regexWordPlaces } from './regex-word-places.ts';

/** A word of a table of a source, and how the source says that it is none. */
export interface WordPlace {
  /** Where the table stands: `gates/x.ts#table.key`. */
  readonly table: string;
  readonly word: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
  /** What stands there where the word is taken away. */
  readonly to: string;
}

export const root: string = fileURLToPath(new URL('../../../', import.meta.url));

/** What no source holds. */
const nowhere = "'ZqXjZqXj'";

/** Nothing in these runs, or a person reads it. */
const unread =
  /^(?:import_statement|interface_declaration|type_alias_declaration|type_annotation|type_arguments|literal_type|throw_statement)$/;
const prose = /^(?:message|hints?|title|help|why|about|says|note)$/;

/** The words of the tables of a source, in its order: texts in lists, names of records, alternatives of patterns. */
export async function wordPlaces(file: string): Promise<readonly WordPlace[]> {
  const { parser } = await shippedGrammar('typescript');
  const tree = parser.parse(readFileSync(join(root, file), 'utf8'));
  if (tree === null) throw new Error(`\`${file}\` cannot be parsed`);
  const places: WordPlace[] = [];
  visit(tree.rootNode, [], (path, word, start, end, to) => {
    // A sentence is for people.
    if (!/[a-z]{2} [a-z]{2}.* /.test(word))
      places.push({ table: `${file}#${path.join('.')}`, word, start, end, to });
  });
  tree.delete();
  return places;
}

type Found = (path: readonly string[], word: string, start: number, end: number, to: string) => void;

function visit(node: Node, path: readonly string[], found: Found): void {
  for (const child of node.namedChildren) {
    if (child === null || unread.test(child.type)) continue;
    const isPair = child.type === 'pair';
    const name = isPair
      ? stringOf(child.childForFieldName('key'))
      : /^(?:variable_declarator|function_declaration)$/.test(child.type)
        ? (child.childForFieldName('name')?.text ?? '')
        : undefined;
    if (isPair && prose.test(name ?? '')) continue;
    const inner = name === undefined ? path : [...path, name];
    if (child.type === 'array') for (const one of child.namedChildren) tellString(one, inner, found);
    if (child.type === 'regex') tellPattern(child.childForFieldName('pattern'), inner, found);
    if (isRaw(child)) tellPattern(child.childForFieldName('arguments'), inner, found);
    if (child.type === 'object' && path.length === 1 && isTable(child))
      for (const one of child.namedChildren) tellString(one?.childForFieldName('key') ?? null, inner, found);
    visit(child, inner, found);
  }
}

function tellString(node: Node | null, path: readonly string[], found: Found): void {
  if (node?.type !== 'string' && node?.type !== 'property_identifier') return;
  const word = stringOf(node);
  if (word !== '') found(path, word, node.startIndex, node.endIndex, nowhere);
}

/** `String.raw`: a part of a pattern. */
function isRaw(node: Node): boolean {
  return (
    node.type === 'call_expression' &&
    node.childForFieldName('function')?.text === 'String.raw' &&
    node.childForFieldName('arguments')?.type === 'template_string'
  );
}

function tellPattern(pattern: Node | null, path: readonly string[], found: Found): void {
  if (pattern === null) return;
  // What is put into a pattern is read where it stands.
  const put = pattern.namedChildren.flatMap((one) => (one?.type === 'template_substitution' ? [one] : []));
  for (const { word, start, end, to } of regexWordPlaces(pattern.text)) {
    const [from, behind] = [pattern.startIndex + start, pattern.startIndex + end];
    if (!put.some((one) => one.startIndex < behind && from < one.endIndex))
      found(path, word, from, behind, to);
  }
}

function stringOf(node: Node | null): string {
  if (node === null || node.type !== 'string') return node?.text ?? '';
  return node.text.slice(1, -1).replace(/\\(?:u\{?[\da-f]+\}?|(.))/gi, (_, sign) => sign ?? '');
}

/** The value of a constant of the module, of which every name is one of a record and not of a shape. */
function isTable(node: Node): boolean {
  for (let at = node.parent; at !== null; at = at.parent)
    if (/function|method|class_body|arguments/.test(at.type)) return false;
  const declared = node.parent?.type === 'variable_declarator' ? node.parent : node.parent?.parent;
  return /\bRecord</.test(declared?.childForFieldName('type')?.text ?? '');
}
