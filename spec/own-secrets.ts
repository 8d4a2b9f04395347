/* Refuses a spec that contains secrets. */
import { appendPointer } from '../core/base/json-pointer.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { error, type Issue } from '../core/interfaces/finding.ts';
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
  const { ownSecretsIn } = await import('./secrets-in-text.ts');
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

/** What a token is at least: so many characters without a blank, a colon or the like between them. */
const run = /[A-Za-z0-9+/_=.~-]{16,}/g;
/** Identifiers and digests as separate words. Hex digits that encode ASCII text do not match. */
const plainIds =
  /(?<!\S)(?!(?:[2-7][0-9a-f]){20,32}(?!\S))(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64})(?!\S)/gi;
/** What hides a token from an eye that looks for runs: escapes, and what is not seen. */
const hidden = /[%\\&\u001b\p{Cf}]/u;
/** Words as people write them, camel case and versions included, with a small number behind. */
const word =
  /^(?:[A-Za-z]?[a-z]{0,24}(?:[A-Z][a-z]{1,24}){0,8}\d{0,4}|[A-Z]{1,12}|v\d{1,2}(?:alpha|beta)\d{0,2})$/;

/**
 * Fast pre-check whether a text may contain a token or a private key: `false` only if `ownSecretsIn` finds none. The
 * full search needs tables that cost more to build than a whole validation of a spec.
 */
export function mayHoldSecret(text: string): boolean {
  if (hidden.test(text) || text.includes('PRIVATE KEY')) return true;
  for (const [found] of text.replace(plainIds, '').matchAll(run))
    if (!found.split(/[-_/.=]/).every((part) => word.test(part))) return true;
  return false;
}
