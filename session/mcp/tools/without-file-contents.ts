import { type SchemaNode, schemaRoot } from '../../../engine/spec/schema-node.ts';
import type { WritAnswer } from '../mcp-ground.ts';

type ErrorRecord = NonNullable<WritAnswer['error']>;

const hidden = '…';

/**
 * The answer of `writ spec validate` or `writ plan` without words of the file: what a client may not read could
 * otherwise be read by validating it. Kept are codes, the names and values of the IntentSpec's own schema, and what was
 * expected. The data of a plan is of a valid spec, and stays.
 */
export function withoutFileContents({ data, error }: WritAnswer): WritAnswer {
  const { files } = (data ?? {}) as { readonly files?: readonly Validated[] };
  return {
    ...(data === undefined
      ? {}
      : { data: Array.isArray(files) ? { ...data, files: files.map(toKnownFile) } : data }),
    ...(error === undefined
      ? {}
      : { error: error.code.startsWith('INTENTSPEC_') ? toKnownError(error) : error }),
  };
}

interface Issue {
  readonly code?: string;
  readonly path?: string;
  readonly message?: string;
  readonly severity?: string;
}

interface Validated {
  readonly path?: string;
  readonly valid?: boolean;
  readonly digest?: string | null;
  readonly issues?: readonly Issue[];
}

function toKnownFile({ path, valid, issues = [], digest = null }: Validated): Validated {
  return { path: path ?? '', valid: valid === true, issues: issues.map(toKnownIssue), digest };
}

function toKnownIssue({ code, path, message, severity }: Issue): Issue {
  return {
    code: code ?? '',
    path: toKnownPointer(path ?? ''),
    message: toKnownMessage(message ?? ''),
    severity: severity ?? 'error',
  };
}

function toKnownError({ details: { issues, ...details } = {}, ...error }: ErrorRecord): ErrorRecord {
  const { reason, invalid } = details;
  return {
    ...error,
    message: toKnownMessage(error.message),
    details: {
      ...(reason === undefined ? {} : { reason }),
      ...(invalid === undefined ? {} : { invalid }),
      ...(Array.isArray(issues) ? { issues: issues.map(toKnownIssue) } : {}),
    },
  };
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
