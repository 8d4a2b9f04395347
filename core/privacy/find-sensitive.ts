import { findEmails } from './personal/find-emails.ts';
import { findNumbers } from './personal/find-numbers.ts';
import { findWorded } from './personal/find-worded.ts';
import { findHealthTerms } from './personal/health-terms.ts';
import { findIpAddresses } from './personal/ip-address.ts';
import { findSecrets } from './secrets/find-secrets.ts';
import { weighSecret } from './secrets/weigh-secret.ts';
import type { SensitiveClass, SensitiveMatch } from './sensitive-match.ts';

/** Words of a repository's own that mark content, from `[redaction]` of the config at base. */
export type ClassWords = Readonly<Partial<Record<SensitiveClass, readonly string[]>>>;

export interface Search {
  readonly classes: ReadonlySet<SensitiveClass>;
  readonly words: ClassWords;
  /** Whether `reserved` is wanted of secrets: judging each by its value takes time. */
  readonly weighs?: boolean;
}

/**
 * Everything in bytes that is of one of the classes, in order of start; matches may overlap. Names of persons and postal addresses have
 * no form that could be checked and are not found; nor is what is written in pictures. Linear in the number of bytes.
 */
export function findSensitive(
  bytes: Uint8Array,
  { classes, words, weighs = false }: Search,
): readonly SensitiveMatch[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const found: (readonly SensitiveMatch[])[] = [];
  if (classes.has('secrets')) found.push(secretsIn(bytes, text, weighs));
  const wantsHealth = classes.has('phi');
  if (classes.has('pii') || wantsHealth) {
    const identifiers = [...findEmails(text), ...findNumbers(text), ...findIpAddresses(text)].sort(byStart);
    if (classes.has('pii')) found.push(identifiers);
    if (wantsHealth) found.push(findHealthTerms(bytes, text, identifiers));
  }
  if (['pii', 'phi', 'internal', 'confidential'].some((one) => classes.has(one as SensitiveClass)))
    found.push(findWorded(bytes, text).filter((match) => classes.has(match.class)));
  for (const dataClass of classes) found.push(ownWords(bytes, words[dataClass] ?? [], dataClass));
  return found.flat().sort(byStart);
}

function secretsIn(bytes: Uint8Array, text: string, weighs: boolean): readonly SensitiveMatch[] {
  return findSecrets(bytes, text).map((match) => ({
    rule: match.rule,
    class: 'secrets',
    start: match.start,
    end: match.end,
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
