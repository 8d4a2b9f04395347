/* Finds all sensitive data in bytes. */
import type { ClassWords, SensitiveClass } from '../../core/interfaces/privacy.ts';
import { type AnchorSearch, createAnchorSearch } from '../anchors/anchor-search.ts';
import { findEmails, findIpAddresses, findNumbers } from './personal/find-numbers.ts';
import { findHealthTerms, findWorded, healthHeads, wordedHeads } from './personal/find-worded.ts';
import type { SensitiveMatch } from './redaction.ts';
import { findSecrets, latin1Of } from './secrets/find-secrets.ts';
import type { SecretMatch } from './secrets/secret-patterns.ts';
import { weighSecret } from './secrets/weigh-secret.ts';

export interface Search {
  readonly classes: ReadonlySet<SensitiveClass>;
  readonly words: ClassWords;
  /** Whether secrets need `reserved`: weighing each value costs time. */
  readonly weighs?: boolean;
  /** Path of the file with these bytes: a name such as `.netrc` implies that it contains passwords. */
  readonly path?: string;
}

/**
 * Everything in bytes that is of one of the classes, in order of start; matches may overlap. Names of persons and
 * postal addresses have no form that could be checked and are not found; nor is what is written in pictures. Linear in
 * the number of bytes.
 */
export function findSensitive(
  bytes: Uint8Array,
  { classes, words, weighs = false, path }: Search,
  text = latin1Of(bytes),
): readonly SensitiveMatch[] {
  const found: (readonly SensitiveMatch[])[] = [];
  const wantsHealth = classes.has('phi');
  const isWorded = wordedClasses.some((one) => classes.has(one));
  const places = isWorded ? wordPlaces(bytes) : { worded: [], health: [] };
  if (classes.has('secrets')) found.push(secretsIn(findSecrets(bytes, text, path), text, weighs));
  if (classes.has('pii') || wantsHealth) {
    const identifiers = [...findEmails(text), ...findNumbers(bytes, text), ...findIpAddresses(text)].sort(
      byStart,
    );
    if (classes.has('pii')) found.push(identifiers.map(soft));
    if (wantsHealth) found.push(findHealthTerms(text, places.health, identifiers).map(soft));
  }
  if (isWorded)
    found.push(
      findWorded(text, places.worded).flatMap((match) => (classes.has(match.class) ? [soft(match)] : [])),
    );
  for (const dataClass of classes) found.push(ownWords(bytes, words[dataClass] ?? [], dataClass));
  return found.flat().sort(byStart);
}

const wordedClasses: readonly SensitiveClass[] = ['pii', 'phi', 'internal', 'confidential'];
let wordedSearch: AnchorSearch<'worded' | 'health'> | undefined;

/** Where words are that something may follow, and names of illnesses and medicines, in order. */
function wordPlaces(bytes: Uint8Array): Readonly<Record<'worded' | 'health', number[]>> {
  wordedSearch ??= createAnchorSearch([
    ...wordedHeads.map((head) => ['worded', head] as const),
    ...healthHeads.map((head) => ['health', head] as const),
  ]);
  const places = { worded: [] as number[], health: [] as number[] };
  wordedSearch.scan(bytes, 0, bytes.length, (kind, at) => {
    places[kind].push(at);
    return false;
  });
  return places;
}

/** Rules that match by a preceding word, without a format of the value itself. */
const wordedRules = new Set(['command-password', 'netrc-password']);

function soft(match: SensitiveMatch): SensitiveMatch {
  return { ...match, soft: true };
}

function secretsIn(
  matches: readonly SecretMatch[],
  text: string,
  weighs: boolean,
): readonly SensitiveMatch[] {
  return matches.map((match) => ({
    rule: match.rule,
    class: 'secrets',
    start: match.start,
    end: match.end,
    ...(match.kind === 'assigned' || wordedRules.has(match.rule) ? { soft: true } : {}),
    ...(weighs && weighSecret(match, text) !== 'secret' ? { reserved: true } : {}),
  }));
}

function ownWords(bytes: Uint8Array, words: readonly string[], dataClass: SensitiveClass): SensitiveMatch[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return words.flatMap((word) => {
    const found: SensitiveMatch[] = [];
    const sought = Buffer.from(word);
    for (let at = buffer.indexOf(sought); at >= 0; at = buffer.indexOf(sought, at + sought.length))
      found.push({ rule: 'word', class: dataClass, start: at, end: at + sought.length });
    return found;
  });
}

function byStart(a: SensitiveMatch, b: SensitiveMatch): number {
  return a.start - b.start || b.end - a.end;
}
