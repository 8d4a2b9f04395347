import type { JsonData } from '../../../api/json-data.ts';
import { type SchemaNode, schemaRoot } from '../../../engine/spec/schema-node.ts';

const hidden = '…';

/**
 * The data of `writ spec validate` without words of the file: what a client may not read could otherwise be read by
 * validating it. Kept are codes, the names and values of the IntentSpec's own schema, and what was expected.
 */
export function withoutFileContents(data: JsonData): JsonData {
  const { files } = data as { readonly files?: readonly Validated[] };
  if (!Array.isArray(files)) return {};
  return {
    files: files.map(({ path, valid, issues = [], digest = null }: Validated) => ({
      path: path ?? '',
      valid: valid === true,
      issues: issues.map(({ code, path: at, message, severity }) => ({
        code: code ?? '',
        path: toKnownPointer(at ?? ''),
        message: toKnownMessage(message ?? ''),
        severity: severity ?? 'error',
      })),
      digest,
    })),
  };
}

interface Validated {
  readonly path?: string;
  readonly valid?: boolean;
  readonly digest?: string | null;
  readonly issues?: readonly Readonly<Partial<Record<'code' | 'path' | 'message' | 'severity', string>>>[];
}

let words: ReadonlySet<string> | undefined;

/** Names of properties, and the values that the schema lists. */
function knownWords(): ReadonlySet<string> {
  words ??= new Set(wordsOf(schemaRoot));
  return words;
}

function* wordsOf(node: SchemaNode): Generator<string> {
  yield* node.enum ?? [];
  if (typeof node.const === 'string') yield node.const;
  for (const [name, inner] of Object.entries(node.properties ?? {})) {
    yield name;
    yield* wordsOf(inner);
  }
  for (const inner of Object.values(node.$defs ?? {})) yield* wordsOf(inner);
  if (node.items !== undefined) yield* wordsOf(node.items);
  if (typeof node.additionalProperties === 'object') yield* wordsOf(node.additionalProperties);
}

function toKnownPointer(pointer: string): string {
  return pointer
    .split('/')
    .map((part) => (part === '' || /^\d{1,6}$/.test(part) || knownWords().has(part) ? part : hidden))
    .join('/');
}

/** What was found is of the file, and so is what is quoted and not a word of the schema. */
function toKnownMessage(message: string): string {
  const [expected = ''] = message.split(/[,;:]? found /, 1);
  return expected.replaceAll(
    /`([^`]*)`?/g,
    (_, word: string) => `\`${knownWords().has(word) ? word : hidden}\``,
  );
}
