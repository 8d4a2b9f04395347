import { createAnchorScanner } from './anchor-scanner.ts';
import { assignedAnchors, findAssigned } from './assigned-secret.ts';
import { findPrivateKey, keyAnchors } from './private-key.ts';
import type { SecretMatch } from './secret-match.ts';
import { headsOf, type SecretPattern, secretPatterns } from './secret-patterns.ts';

/** Bytes that are no letter, digit or `_`. */
const boundaries = Array.from({ length: 256 }, (_, code) => code)
  .filter((code) => !isWordByte(code))
  .map((code) => String.fromCharCode(code));

const certainty = { assigned: 0, context: 1, token: 2 };

type Try = (text: string, at: number) => SecretMatch | undefined;

const tries = new Map<string, Try[]>();
/** Short anchors that need something before them are tried where a text begins, too. */
const triesAtStart: Try[] = [];
const headsOfLong = new Set<string>();
for (const pattern of secretPatterns) {
  for (const anchor of pattern.anchors) {
    if (anchor.length >= 4) {
      const offset = rarestWindow(anchor);
      headsOfLong.add(anchor.slice(offset, offset + 4));
      addTry(anchor.slice(offset, offset + 4), (text, at) => {
        const start = at - offset;
        return start >= 0 && text.startsWith(anchor, start) ? tryPattern(text, start, pattern) : undefined;
      });
      continue;
    }
    const leads = pattern.lead === undefined ? boundaries : headsOf(pattern.lead);
    const tails = anchor.length === 2 ? headsOf(pattern.next ?? '[!-~]') : [''];
    for (const lead of leads)
      for (const tail of tails) addTry(lead + anchor + tail, (text, at) => tryPattern(text, at + 1, pattern));
    triesAtStart.push((text) => (text.startsWith(anchor) ? tryPattern(text, 0, pattern) : undefined));
  }
}
for (const anchor of keyAnchors) addTry(anchor, findPrivateKey);
for (const anchor of assignedAnchors) addTry(anchor, findAssigned);

const scanner = createAnchorScanner(tries.keys());

/** Four latin1 characters each: a secret in the midst of a text holds one of them, at `isSecretAt`'s offset or one byte behind it. */
export const secretAnchors: readonly string[] = [
  ...headsOfLong,
  ...keyAnchors,
  ...assignedAnchors,
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
 * Every known token, private key and assigned secret in bytes, in order of start; matches may overlap. Linear: each form is tried only
 * where its anchor stands and reads at most `maxSecretBytes`.
 */
export function findSecrets(bytes: Uint8Array, text = latin1Of(bytes)): readonly SecretMatch[] {
  const found = triesAtStart.map((attempt) => attempt(text, 0)).filter((match) => match !== undefined);
  for (
    let at = scanner.next(bytes, 0, bytes.length);
    at >= 0;
    at = scanner.next(bytes, at + 1, bytes.length)
  ) {
    for (const attempt of tries.get(text.slice(at, at + 4)) ?? []) {
      const match = attempt(text, at);
      if (match) found.push(match);
    }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end || certainty[b.kind] - certainty[a.kind]);
}

/** Whether a secret may begin at an anchor; looks at a few kilobytes of text at most. */
export function isSecretAt(text: string, at: number): boolean {
  return (tries.get(text.slice(at, at + 4)) ?? []).some((attempt) => attempt(text, at) !== undefined);
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

function addTry(head: string, attempt: Try): void {
  const known = tries.get(head);
  if (known === undefined) tries.set(head, [attempt]);
  else known.push(attempt);
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

/** How far before its anchor a match starts: the digits of a bot id, the first half of a two-part key. */
function leadOf(text: string, at: number, { rule }: SecretPattern): number {
  if (rule !== 'telegram-token') return leads[rule] ?? 0;
  let lead = 0;
  while (lead < 10 && isDigit(text.charCodeAt(at - lead - 1))) lead += 1;
  return lead;
}

const leads: Readonly<Record<string, number>> = {
  'zhipu-key': 29,
  'terraform-token': 14,
  'azure-client-secret': 3,
  'mailchimp-key': 32,
  'azure-devops-token': 76,
};

function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWordByte(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
}
