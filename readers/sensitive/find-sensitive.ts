import type { ClassWords, SensitiveClass } from '../../core/contract/privacy-policy.ts';
import { type AnchorSearch, createAnchorSearch } from '../anchors/anchor-search.ts';
import { findEmails } from './personal/find-emails.ts';
import { findNumbers } from './personal/find-numbers.ts';
import { findWorded, wordedHeads } from './personal/find-worded.ts';
import { findHealthTerms, healthHeads } from './personal/health-terms.ts';
import { findIpAddresses } from './personal/ip-address.ts';
import { secretsAt } from './secrets/find-secrets.ts';
import type { SecretMatch } from './secrets/secret-match.ts';
import { findSecretHeads, plainBytes, secretHeads } from './secrets/secret-places.ts';
import { weighSecret } from './secrets/weigh-secret.ts';
import type { SensitiveMatch } from './sensitive-match.ts';

export interface Search {
  readonly classes: ReadonlySet<SensitiveClass>;
  readonly words: ClassWords;
  /** Whether `reserved` is wanted of secrets: judging each by its value takes time. */
  readonly weighs?: boolean;
  /** Of the file that the bytes are from: a name such as `.netrc` says that there are passwords in it. */
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
  const places = placesOf(bytes, { secrets: classes.has('secrets'), worded: isWorded, health: wantsHealth });
  if (classes.has('secrets')) found.push(secretsIn(secretsAt(text, places.secrets, path), text, weighs));
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

/** Bytes as text in which an offset is one of the bytes. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

const wordedClasses: readonly SensitiveClass[] = ['pii', 'phi', 'internal', 'confidential'];
const heads = { secrets: secretHeads, worded: () => wordedHeads, health: () => healthHeads };
type Kind = keyof typeof heads;
const kinds: readonly Kind[] = ['secrets', 'worded', 'health'];
const searches = new Map<string, AnchorSearch<Kind>>();

let looked = 0;

/**
 * Where heads of the wanted kinds are, in order: bytes are read once for all of them. The first bytes are read twice:
 * preparing a search for the thousands of heads of secrets would take longer.
 */
function placesOf(
  bytes: Uint8Array,
  wanted: Readonly<Record<Kind, boolean>>,
): Readonly<Record<Kind, readonly number[]>> {
  const places: Record<Kind, number[]> = { secrets: [], worded: [], health: [] };
  looked += bytes.length;
  const isFirst = looked <= plainBytes;
  if (isFirst && wanted.secrets)
    findSecretHeads(bytes, 0, bytes.length, (at) => {
      places.secrets.push(at);
      return false;
    });
  const asked = kinds.filter((kind) => wanted[kind] && !(isFirst && kind === 'secrets'));
  if (asked.length === 0) return places;
  const key = asked.join();
  const search =
    searches.get(key) ??
    createAnchorSearch(asked.flatMap((kind) => heads[kind]().map((head) => [kind, head] as const)));
  searches.set(key, search);
  search.scan(bytes, 0, bytes.length, (kind, at) => {
    places[kind].push(at);
    return false;
  });
  for (const kind of asked) places[kind].sort((a, b) => a - b);
  return places;
}

/** A word before it, and no form of its own. */
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
