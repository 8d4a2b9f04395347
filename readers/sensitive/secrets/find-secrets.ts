import { type AnchorSearch, createAnchorSearch } from '../../anchors/anchor-search.ts';
import { assignedAnchors, findAssigned } from './assigned-secret.ts';
import { isCutAt, joinedRows, jointAnchors } from './cut-literals.ts';
import { type EncodedForm, encodedForms, readEscaped, readEscapedAround } from './encoded-forms.ts';
import { leadOf } from './lead-of.ts';
import { findPrivateKey, keyAnchors } from './private-key.ts';
import type { SecretMatch } from './secret-match.ts';
import { headsOf, maxSecretBytes, type SecretPattern, secretPatterns } from './secret-patterns.ts';

/** Bytes that are no letter, digit or `_`. */
const boundaries = Array.from({ length: 256 }, (_, code) => code)
  .filter((code) => !isWordByte(code))
  .map((code) => String.fromCharCode(code));

const certainty = { assigned: 0, context: 1, token: 2 };

/** Of characters under an encoding: the longest token, and the longest key. */
const maxEncodedToken = 640;
const maxEncodedKey = 6 * 1024;

type Try = (text: string, at: number) => SecretMatch | undefined;

const tries = new Map<string, readonly Try[]>();
/** The list of a try that is alone at many heads. */
const single = new Map<Try, readonly Try[]>();
/** Short anchors that need something before them are tried where a text begins, too. */
const triesAtStart: Try[] = [];
/** Long anchors by their first four characters: whoever looks for whole anchors is told where they begin. */
const triesOfLong = new Map<string, readonly Try[]>();
for (const pattern of secretPatterns) {
  // Thousands of heads share them.
  const here: Try = (text, at) => tryPattern(text, at, pattern);
  const behindLead: Try = (text, at) => tryPattern(text, at + 1, pattern);
  for (const anchor of pattern.anchors) {
    if (anchor.length === 4) {
      addTry(tries, anchor, here);
      addTry(triesOfLong, anchor, here);
      continue;
    }
    if (anchor.length > 4) {
      const offset = rarestWindow(anchor);
      const attempt: Try = (text, at) =>
        text.startsWith(anchor, at) ? tryPattern(text, at, pattern) : undefined;
      addTry(tries, anchor.slice(offset, offset + 4), (text, at) =>
        at >= offset ? attempt(text, at - offset) : undefined,
      );
      addTry(triesOfLong, anchor.slice(0, 4), attempt);
      continue;
    }
    const leads = pattern.lead === undefined ? boundaries : headsOf(pattern.lead);
    const tails = anchor.length === 2 ? headsOf(pattern.next ?? '[!-~]') : [''];
    for (const lead of leads) for (const tail of tails) addTry(tries, lead + anchor + tail, behindLead);
    triesAtStart.push((text) => (text.startsWith(anchor) ? tryPattern(text, 0, pattern) : undefined));
  }
}
for (const anchor of keyAnchors) addTry(tries, anchor, findPrivateKey);
for (const anchor of assignedAnchors) addTry(tries, anchor, findAssigned);

/** What a token or a key is known by under an encoding: its first characters, or words of its header. */
const encodedAnchors: string[] = [];
for (const pattern of secretPatterns) {
  if (pattern.kind !== 'token') continue;
  const attempt: Try = (text, at) => tryPattern(text, at, pattern);
  if (pattern.rule === 'zhipu-key') {
    // Its anchors are too many: under escapes the dot is rare enough, behind three of its digits.
    for (const anchor of ['%2E%', '%2e%', '\\u002E', '\\u002e', '\\x2E\\', '\\x2e\\'])
      addEncoded({ anchor, read: readEscapedAround }, (text, at) => attempt(text, at - 3));
    continue;
  }
  const looksBack = pattern.form.source.startsWith('(?<=');
  const forms = pattern.anchors
    .filter(({ length }) => length >= 3)
    .flatMap((anchor) => encodedForms(anchor, { looksBack, isOfMany: pattern.anchors.length > 64 }));
  const each = new Map(forms.map((form) => [`${form.read.name} ${form.phase} ${form.anchor}`, form]));
  for (const form of each.values()) addEncoded(form, attempt);
}
const keyWords = 'PRIVATE KEY';
for (const form of encodedForms(keyWords)) addEncoded(form, keyAround, maxEncodedKey);
for (const pattern of secretPatterns)
  if (pattern.rule === 'registry-auth')
    for (const form of encodedForms('"auth"'))
      addEncoded(form, (text, at) => tryPattern(text, at, pattern), maxEncodedKey);
for (const anchor of ['E%20KEY', 'E+KEY-', 'E\\u0020KEY', 'E\\x20KEY'])
  addEncoded({ anchor, read: fromHeader }, keyAround, maxEncodedKey);

const longAnchors = secretPatterns.flatMap(({ anchors }) => anchors.filter(({ length }) => length >= 4));
const isJoint = new Set(jointAnchors);

/** Heads of four characters at which `secretsAt` has something to try. */
export const secretHeads: readonly string[] = [...new Set([...tries.keys(), ...jointAnchors])];
/** Preparing a search takes as long as looking at each place of so many bytes. */
const plainBytes = 16 * 1024;
let looked = 0;
let search: AnchorSearch<string> | undefined;

/**
 * Four latin1 characters at least: a secret in the midst of a text holds one of them, at `isSecretAt`'s offset or one
 * byte behind it.
 */
export const secretAnchors: readonly string[] = [
  ...longAnchors,
  ...keyAnchors,
  ...assignedAnchors,
  ...encodedAnchors,
  ...jointAnchors,
  ...secretPatterns.flatMap(({ anchors, lead, next = '[A-Za-z0-9_-]' }) =>
    anchors
      .filter(({ length }) => length < 4)
      .flatMap((anchor) =>
        lead === undefined
          ? headsOf(next.repeat(4 - anchor.length)).map((tail) => anchor + tail)
          : headsOf(lead).map((head) => head + anchor),
      ),
  ),
];

/**
 * Every known token, private key and assigned secret in bytes, in order of start; matches may overlap. Linear: each
 * form is tried only where its anchor stands and reads at most `maxSecretBytes`. Tokens and keys are found behind one
 * layer of an encoding, and tokens that are cut over literals that stand next to each other.
 */
export function findSecrets(bytes: Uint8Array, text = latin1Of(bytes)): readonly SecretMatch[] {
  const places: number[] = [];
  looked += bytes.length;
  if (search === undefined && looked <= plainBytes) {
    for (let at = 0; at + 4 <= text.length; at += 1) if (isHead(text.slice(at, at + 4))) places.push(at);
    return secretsAt(text, places);
  }
  search ??= createAnchorSearch(secretHeads.map((head) => [head, head]));
  search.scan(bytes, 0, bytes.length, (_, at) => {
    places.push(at);
    return false;
  });
  return secretsAt(text, places);
}

function isHead(four: string): boolean {
  return tries.has(four) || isJoint.has(four);
}

/** The same where it is known at which places one of `secretHeads` stands. */
export function secretsAt(text: string, places: readonly number[]): readonly SecretMatch[] {
  const found = triesAtStart.map((attempt) => attempt(text, 0)).filter((match) => match !== undefined);
  let hasJoint = false;
  for (const at of places) {
    const head = text.slice(at, at + 4);
    hasJoint ||= isJoint.has(head);
    for (const attempt of tries.get(head) ?? []) {
      const match = attempt(text, at);
      if (match) found.push(match);
    }
  }
  if (hasJoint) found.push(...cutSecrets(text));
  return found.sort((a, b) => a.start - b.start || b.end - a.end || certainty[b.kind] - certainty[a.kind]);
}

/** Whether a secret may begin at an anchor; looks at a few kilobytes of text at most. */
export function isSecretAt(text: string, at: number): boolean {
  const head = text.slice(at, at + 4);
  if (succeeds(triesOfLong.get(head), text, at) || succeeds(tries.get(head), text, at)) return true;
  return isJoint.has(head) && isCutAt(text, at);
}

function succeeds(attempts: readonly Try[] | undefined, text: string, at: number): boolean {
  if (attempts !== undefined)
    for (const attempt of attempts) if (attempt(text, at) !== undefined) return true;
  return false;
}

/** How far around an anchor `isSecretAt` reads, at most; characters. */
export interface Reach {
  readonly before: number;
  readonly behind: number;
}

/** A name with its value, and the pieces that meet at a joint. */
const near: Reach = { before: 128, behind: 1024 };
const far: Reach = { before: 2048, behind: 8 * 1024 };
/** Keys, and a command's password behind any number of blanks. */
const farthest: Reach = { before: 2048, behind: maxSecretBytes };
const farthestHeads = [...keyAnchors, 'sshp', 'redi', 'ldap'];
const nearHeads = [...assignedAnchors, ...jointAnchors].filter(
  (head) => !triesOfLong.has(head) && (tries.get(head) ?? []).every((attempt) => attempt === findAssigned),
);
const reaches = new Map([
  ...nearHeads.map((head) => [keyOf(head), near] as const),
  ...farthestHeads.map((head) => [keyOf(head), farthest] as const),
]);

/** The reach of an anchor whose first four bytes make that number, little end first. */
export function reachOf(head: number): Reach {
  return reaches.get(head) ?? far;
}

function keyOf(head: string): number {
  return Buffer.from(head, 'latin1').readInt32LE();
}

/** Tokens that reach over a joint of literals. */
function cutSecrets(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const row of joinedRows(text)) {
    if (row.text.length < 20) continue;
    const { text: joined, joints } = row;
    for (let at = 0; at + 4 <= joined.length; at += 1) {
      for (const attempt of tries.get(joined.slice(at, at + 4)) ?? []) {
        const match = attempt(joined, at);
        if (match?.kind !== 'token' || match.wrapped) continue;
        if (!joints.some((joint) => joint > match.start && joint < match.end)) continue;
        const value = joined.slice(match.start, match.end);
        found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
      }
    }
    for (const attempt of triesAtStart) {
      const match = attempt(joined, 0);
      if (match?.kind !== 'token' || !joints.some((joint) => joint < match.end)) continue;
      const value = joined.slice(match.start, match.end);
      found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
    }
  }
  return found;
}

function addEncoded({ anchor, read }: EncodedForm, attempt: Try, most = maxEncodedToken): void {
  encodedAnchors.push(anchor);
  addTry(tries, anchor.slice(0, 4), (text, at) => {
    if (!text.startsWith(anchor, at)) return undefined;
    const decoded = read(text, at, most);
    const match = decoded && attempt(decoded.text, decoded.at);
    if (!match) return undefined;
    const value = decoded.text.slice(match.start, match.end);
    const { start, end } = decoded;
    return { rule: match.rule, kind: match.kind, start, end, value, wrapped: 'encoded' };
  });
}

/** The key in whose header the words at `at` stand. */
function keyAround(text: string, at: number): SecretMatch | undefined {
  const begin = text.lastIndexOf(keyAnchors[0] as string, at);
  return begin < 0 || at - begin > 48 ? undefined : findPrivateKey(text, begin);
}

/** Escapes read from the header of a key on, whose words at `at` hold one. */
function fromHeader(text: string, at: number, most: number): ReturnType<EncodedForm['read']> {
  const least = Math.max(0, at - 64);
  const begin = text.slice(least, at).lastIndexOf('-----BEGIN');
  const read = begin < 0 ? undefined : readEscaped(text, least + begin, most);
  if (read === undefined) return undefined;
  const plain = read.text.replace(/(?<=-----BEGIN|[A-Z])\+(?=[A-Z])/g, ' ');
  return { ...read, text: plain, at: Math.max(0, plain.indexOf(keyWords)) };
}

/** Where in an anchor four bytes stand whose last two are rare in text: with a mark, a digit, a capital. */
function rarestWindow(anchor: string): number {
  let best = 0;
  let most = -1;
  for (let offset = 0; offset + 4 <= anchor.length; offset += 1) {
    const last = anchor.slice(offset + 2, offset + 4);
    const rarity = last.replace(/[a-z]/g, '').length;
    if (rarity > most) [best, most] = [offset, rarity];
  }
  return best;
}

function addTry(to: Map<string, readonly Try[]>, head: string, attempt: Try): void {
  const known = to.get(head);
  const alone = single.get(attempt) ?? [attempt];
  single.set(attempt, alone);
  to.set(head, known === undefined ? alone : [...known, attempt]);
}

function tryPattern(text: string, at: number, pattern: SecretPattern): SecretMatch | undefined {
  if (pattern.bounded && at > 0 && isWordByte(text.charCodeAt(at - 1))) return undefined;
  pattern.form.lastIndex = at;
  const match = pattern.form.exec(text);
  if (!match) return undefined;
  const end = at + match[0].length;
  const start = match[1] === undefined ? at - leadOf(text, at, pattern) : end - match[1].length;
  return { rule: pattern.rule, kind: pattern.kind, start, end };
}

function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWordByte(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
}
