import { appendPointer } from '../core/base/json-pointer.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { error, type Issue } from '../core/interfaces/finding.ts';
import { mayHoldSecret } from './may-hold-secret.ts';
import type { ReadResult } from './read-intent-spec.ts';

/** Code of the issue. */
const ownSecretCode = 'SEMANTIC_SECRET';

/** Characters of a secret by which a message that repeats its beginning is known. */
const leadLength = 8;

/** Places that are named; a document that holds more is refused for these. */
const maxPlaces = 100;

/**
 * Refuses a document with a token or private key in its values or names, because a spec is stored, shown and sent. No
 * issue repeats a secret, neither the new ones nor the existing ones.
 */
export async function withoutOwnSecrets(bytes: Uint8Array, read: ReadResult): Promise<ReadResult> {
  if (!read.ok && read.malformed !== undefined) return read;
  const texts = textsOf(
    read.ok ? read.document : parseStrictJson(bytes, { code: 'INTENTSPEC_MALFORMED' }).value,
  );
  const all = texts.map(({ text }) => text).join('\n\n');
  if (!mayHoldSecret(all)) return read;
  // The secret scanner is loaded only here, not with the spec module.
  const { ownSecretsIn } = await import('./secret-words.ts');
  // All texts in one scan, since nearly every spec has no secret.
  if (ownSecretsIn(all).length === 0) return read;
  const held = texts.map(({ text, within }) => ({ within, values: ownSecretsIn(text) }));
  const secrets = held.flatMap(({ values }) => values);
  // The match spans several texts, and no single text holds a secret.
  if (secrets.length === 0) return read;
  const repeats = (text: string): boolean => secrets.some((one) => text.includes(one.slice(0, leadLength)));
  const places = held
    .filter(({ values }) => values.length > 0)
    .map(({ within }) =>
      pointerTo(
        within.slice(
          0,
          [...within, ''].findIndex((name, at) => at === within.length || repeats(name)),
        ),
      ),
    );
  const others = read.issues.filter(({ path, message }) => !repeats(path) && !repeats(message));
  const digest = read.digest === undefined ? {} : { digest: read.digest };
  return {
    ok: false,
    issues: [...[...new Set(places)].slice(0, maxPlaces).map(toIssue), ...others],
    ...digest,
  };
}

function toIssue(place: string): Issue {
  return error(
    ownSecretCode,
    place,
    'expected words without a secret, found a token or a private key; take it out and revoke it where anybody saw it',
  );
}

function pointerTo(names: readonly string[]): string {
  return names.reduce(appendPointer, '');
}

interface Text {
  readonly text: string;
  /** Names on the path to the text; for a name, those of the object that contains it. */
  readonly within: readonly string[];
}

/** Every text of a JSON value and every name in it, in document order. */
function textsOf(value: unknown, within: readonly string[] = []): readonly Text[] {
  if (typeof value === 'string') return [{ text: value, within }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(Array.isArray(value) ? [] : [{ text: name, within }]),
    ...textsOf(inner, [...within, name]),
  ]);
}
