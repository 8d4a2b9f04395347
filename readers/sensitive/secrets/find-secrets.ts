/* Finds secrets in bytes. */

import { type AnchorSearch, createAnchorSearch } from '../../anchors/anchor-search.ts';
import { decodedRuns } from '../encoded-text.ts';
import { assignedAnchors, findAssigned } from './assigned-secret.ts';
import { maxSecretBytes, type SecretMatch, type SecretPattern, secretPatterns } from './secret-patterns.ts';
import { endOfWord } from './secret-value.ts';

/**
 * The text between two joined string literals: a quote, an operator of some language or none, a quote. A line may end
 * between them.
 */
const literalJoint =
  /\\{0,2}["'`][ \t]{0,40}(?:\+\+?|\.\.?|&|<>|\\)?\s{0,60}(?:(?:\+\+?|\.\.?|&|<>)[ \t]{0,8})?(?:[bfru]{1,2}(?=["']))?\\{0,2}["'`]/g;
const piece = /[\w.+/=~%-]{1,400}/y;
const maxPieces = 4096;

/** Text of one row of joined literals, with the offset of each of its characters. */
interface JoinedRow {
  readonly text: string;
  /** Offset in the whole text of a character of `text`. */
  at(index: number): number;
  /** Where pieces meet in `text`. */
  readonly joints: readonly number[];
}

/** Every row of pieces of a token that text joins. Linear: a piece is read once. */
function* joinedRows(text: string): Generator<JoinedRow> {
  let pieces: { readonly from: number; readonly to: number }[] = [];
  literalJoint.lastIndex = 0;
  for (let found = literalJoint.exec(text); found; found = literalJoint.exec(text)) {
    const before = pieces.at(-1);
    const from = literalJoint.lastIndex;
    piece.lastIndex = from;
    const to = piece.test(text) ? piece.lastIndex : from;
    if (before === undefined || before.to !== found.index || pieces.length >= maxPieces) {
      if (pieces.length > 1) yield toRow(text, pieces);
      pieces = [{ from: pieceStart(text, found.index), to: found.index }];
    }
    if (to > from) pieces.push({ from, to });
    // The quote that ends one piece may begin the next literalJoint.
    literalJoint.lastIndex = to;
  }
  if (pieces.length > 1) yield toRow(text, pieces);
}

function pieceStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < 400 && isTokenCode(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function isTokenCode(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code < 127 && '_.+/=~%-'.includes(String.fromCharCode(code)))
  );
}

function toRow(text: string, pieces: readonly { readonly from: number; readonly to: number }[]): JoinedRow {
  const joints: number[] = [];
  let joined = '';
  for (const { from, to } of pieces) {
    if (joined !== '') joints.push(joined.length);
    joined += text.slice(from, to);
  }
  return {
    text: joined,
    joints,
    at(index) {
      let left = index;
      for (const { from, to } of pieces) {
        if (left <= to - from) return from + left;
        left -= to - from;
      }
      return pieces.at(-1)?.to ?? 0;
    },
  };
}

const certainty = { assigned: 0, context: 1, token: 2 };

/**
 * Finds every known token, private key and assigned secret in bytes, in order of start; matches may overlap. Linear:
 * each form is tried only at its anchors and reads at most `maxSecretBytes`. Also finds tokens and keys under one
 * layer of encoding, and tokens split over adjacent literals. The path of a file may mark it as a password file
 * (`.netrc`).
 */
export function findSecrets(bytes: Uint8Array, text = latin1Of(bytes), path = ''): readonly SecretMatch[] {
  const found = [...passwordsByName(path, text)];
  let hasJoint = false;
  for (const at of secretPlaces(bytes)) {
    for (const attempt of attemptsAt(text, at)) {
      hasJoint ||= attempt === joint;
      const match = attempt(text, at);
      if (match) found.push(match);
    }
  }
  if (hasJoint) found.push(...cutSecrets(text));
  found.push(...encodedSecrets(bytes, text));
  return found.sort((a, b) => a.start - b.start || b.end - a.end || certainty[b.kind] - certainty[a.kind]);
}

/** Tokens, keys and registry log-ins under one layer of encoding; the match is the whole encoded run. */
function* encodedSecrets(bytes: Uint8Array, text: string): Generator<SecretMatch> {
  const runs = decodedRuns(bytes, text, true);
  if (runs === undefined) return;
  const decoded = latin1Of(runs.bytes);
  for (const at of secretPlaces(runs.bytes))
    for (const attempt of attemptsAt(decoded, at)) {
      const match = attempt(decoded, at);
      if (match === undefined || (match.kind !== 'token' && match.rule !== 'registry-auth')) continue;
      const { rule, kind } = match;
      const value = decoded.slice(match.start, match.end);
      for (const { start, end } of runs.runsOf({ start: at, end: at + 1 }))
        yield { rule, kind, start, end, value, wrapped: 'encoded' };
    }
}

/** Tokens that reach over a joint of literals. */
function cutSecrets(text: string): readonly SecretMatch[] {
  const found: SecretMatch[] = [];
  for (const row of joinedRows(text)) {
    if (row.text.length < 20) continue;
    const { text: joined, joints } = row;
    for (let at = 0; at + 4 <= joined.length; at += 1) {
      for (const attempt of attemptsAt(joined, at)) {
        const match = attempt(joined, at);
        if (match?.kind !== 'token' || match.wrapped) continue;
        if (!joints.some((joint) => joint > match.start && joint < match.end)) continue;
        const value = joined.slice(match.start, match.end);
        found.push({ ...match, start: row.at(match.start), end: row.at(match.end), value, wrapped: 'cut' });
      }
    }
  }
  return found;
}

/** Bytes as text in which an offset is one of the bytes. */
export function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** `host:port:database:user:password` (PostgreSQL); a line has no other mark. */
const passwordFile = /(?:^|\/)(?:\.pgpass|pgpass\.conf)$/i;
const passwordLine = /^(?!#)(?:(?:[^:\\\n]|\\.){1,200}:){4}([^\n]{1,256})$/gm;

/** Fields of a `.netrc` come in any order, for a host or for every other one. */
const loginFile = /(?:^|\/)[._]?netrc$/i;
const loginField = /(?:^|[ \t])password[ \t]{1,40}"?([^\s"'`]{1,256})/gm;

/**
 * Returns the passwords of a file with a name that implies them; none for any other file. Offsets are those of
 * `text`.
 */
function passwordsByName(path: string, text: string): readonly SecretMatch[] {
  if (passwordFile.test(path)) return valuesOf('pgpass-password', passwordLine, text);
  return loginFile.test(path) ? valuesOf('netrc-password', loginField, text) : [];
}

/** Each value ends its match. */
function valuesOf(rule: string, form: RegExp, text: string): readonly SecretMatch[] {
  return [...text.matchAll(form)].map(({ 0: { length }, 1: value = '', index }) => ({
    rule,
    kind: 'context',
    start: index + length - value.length,
    end: index + length,
  }));
}

/** Looks for one form of secret at an offset of a latin1 text. */
type Attempt = (text: string, at: number) => SecretMatch | undefined;

const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
/** What may follow an anchor of three characters. */
const tails = textsOf('[A-Za-z0-9_-]');

/** Is in the row of a head at which two literals may be joined. */
const joint: Attempt = () => undefined;

type AddAttempt = (heads: readonly string[], attempt: Attempt) => void;

/** By the four bytes at which something is tried: what. */
function makeTable(): ReadonlyMap<number, readonly Attempt[]> {
  const rows = new Map<number, Attempt[]>();
  const add: AddAttempt = (heads, attempt) => {
    const alone = [attempt];
    for (const head of heads) {
      const key = headAt(head, 0);
      const known = rows.get(key);
      // Rows of one attempt are shared.
      if (known === undefined) rows.set(key, alone);
      else if (known.length > 1) known.push(attempt);
      else rows.set(key, [...known, attempt]);
    }
  };
  for (const pattern of secretPatterns) addPattern(pattern, anchorsOf(pattern), add);
  add(keyAnchors, findPrivateKey);
  add(assignedAnchors, findAssigned);
  add(jointHeads(), joint);
  return rows;
}

let table: ReadonlyMap<number, readonly Attempt[]> | undefined;
let search: AnchorSearch<undefined> | undefined;
const none: readonly Attempt[] = [];

/** What is tried at an offset of a latin1 text. */
function attemptsAt(text: string, at: number): readonly Attempt[] {
  table ??= makeTable();
  return (at + 4 <= text.length && table.get(headAt(text, at))) || none;
}

/** Heads of four latin1 characters: at each place of one of them, `attemptsAt` has something to try. */
function secretHeads(): readonly string[] {
  table ??= makeTable();
  return [...table.keys()].map((key) =>
    String.fromCharCode(key & 255, (key >> 8) & 255, (key >> 16) & 255, key >>> 24),
  );
}

/** Places of heads in bytes, in order. */
function secretPlaces(bytes: Uint8Array): readonly number[] {
  search ??= createAnchorSearch(secretHeads().map((head) => [undefined, head]));
  const places: number[] = [];
  search.scan(bytes, 0, bytes.length, (_, at) => {
    places.push(at);
    return false;
  });
  return places;
}

/** Four characters as a signed number, the first one lowest. */
function headAt(text: string, at: number): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

function addPattern(pattern: SecretPattern, anchors: readonly string[], add: AddAttempt): void {
  const offset = offsetOf(pattern);
  const attempt: Attempt = (text, at) => tryPattern(text, at + offset, pattern);
  add(
    anchors.flatMap((anchor) => (anchor.length === 3 ? tails.map((tail) => anchor + tail) : anchor)),
    attempt,
  );
}

function tryPattern(text: string, at: number, pattern: SecretPattern): SecretMatch | undefined {
  pattern.form.lastIndex = at;
  const match = pattern.form.exec(text);
  if (!match) return undefined;
  const end = at + match[0].length;
  const { lead, quote } = match.groups ?? {};
  if (pattern.isWord) {
    const wordEnd = endOfWord(text, end, quote);
    return wordEnd === undefined
      ? undefined
      : { rule: pattern.rule, kind: pattern.kind, start: end, end: wordEnd };
  }
  const start =
    lead === undefined && match[1] !== undefined ? end - match[1].length : at - (lead ?? '').length;
  return { rule: pattern.rule, kind: pattern.kind, start, end };
}

/** One of these is at every joint between pieces of a token: at its second quote, or at its first. */
function jointHeads(): readonly string[] {
  return ['"', "'", '`'].flatMap((quote) =>
    tails.flatMap((letter) => [
      ...['+', '.', '&', '>'].map((sign) => `${sign} ${quote}${letter}`),
      ...['+', '.', '&', ' '].map((sign) => `${letter}${quote}${sign}${quote}`),
      ...[' \\', '\\\n', ' +', ' .'].map((end) => `${letter}${quote}${end}`),
    ]),
  );
}

function offsetOf({ anchors }: SecretPattern): number {
  return anchors && 'classes' in anchors ? (anchors.offset ?? 0) : 0;
}

/** Every text at which a pattern is tried. */
function anchorsOf({ anchors, form }: SecretPattern): readonly string[] {
  if (!anchors) return beginningsOf(form);
  return 'classes' in anchors ? textsOf(anchors.classes) : anchors;
}

/** Texts with which what a form matches begins, as far as the form writes them down. */
function beginningsOf({ source }: RegExp): readonly string[] {
  const choice = /^((?:[^\\()[\]{}?*+.|]|\\\W)*)(?:\(\?:([^()]*)\)|\[(\w+)\])(?![?*+{])(.*)$/s;
  let texts = [source.replace(/^\(\?<[=!](?:[^()]|\([^()]*\))*\)/, '')];
  for (let before = 0; before < texts.length; ) {
    before = texts.length;
    texts = texts.flatMap((text) => {
      const [, first = '', group, letters, rest = ''] = choice.exec(text) ?? [];
      return (group?.split('|') ?? letters?.split(''))?.map((one) => first + one + rest) ?? [text];
    });
  }
  const written = /^(?:(?:[^\\()[\]{}?*+.|]|\\\W)(?![?*+{]))*/;
  return [...new Set(texts.map((text) => (written.exec(text)?.[0] ?? '').replace(/\\(.)/gs, '$1')))];
}

/** Every text of printable ASCII of a class per place: `[0-9]Q` gives ten. */
function textsOf(classes: string): readonly string[] {
  let texts = [''];
  for (const place of classes.match(/\[[^\]]+\]|\\?./g) ?? []) {
    const chars = place.length === 1 ? [place] : (printable.match(new RegExp(place, 'g')) ?? []);
    texts = texts.flatMap((text) => chars.map((char) => text + char));
  }
  return texts;
}

/** Where a private key may be found: the words of a PEM header, and of a PuTTY file. */
const keyAnchors: readonly string[] = ['BEGI', 'PuTT'];

const pemAnchor = '-----BEGIN ';
/**
 * Every label of RFC 7468 and its neighbours: PKCS#8, RSA, EC, DSA, ENCRYPTED, ANY, OPENSSH, SSH2 ENCRYPTED, PGP …
 * BLOCK.
 */
const pemHead = /-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----/y;
const sshComHead = /---- BEGIN (SSH2 ENCRYPTED PRIVATE KEY) ----/y;
/** Key material that no `END` line closes: lines of base64, however they are broken. */
const keyBody = /(?:(?:\\{1,2}[nr]|[\s"',|>:#*-]){0,12}[A-Za-z0-9+/=]{16,200}){1,400}/y;
const keyHeaders =
  /(?:(?:\\{1,2}[nr]|\s){1,4}(?:Proc-Type|DEK-Info|Comment|Version|Subject): ?[^\n\\]{1,80}){0,4}/y;
const puttyForm = /PuTTY-User-Key-File-\d: [\s\S]{1,12000}?Private-MAC: [0-9a-f]{40,64}/y;
const material = /[A-Za-z0-9+/=]{16}/;

/** Finds the private key with the anchor at `at` in its header; a header without a body only mentions keys. */
function findPrivateKey(text: string, at: number): SecretMatch | undefined {
  if (text.startsWith('PuTTY-User-Key-File-', at)) {
    puttyForm.lastIndex = at;
    const match = puttyForm.exec(text);
    return match ? toMatch(at, at + match[0].length) : undefined;
  }
  const start = at - 5;
  return fromHead(text, start, pemHead, '-----') ?? fromHead(text, start, sshComHead, '----');
}

function fromHead(text: string, start: number, form: RegExp, dashes: string): SecretMatch | undefined {
  if (start < 0) return undefined;
  form.lastIndex = start;
  const head = form.exec(text);
  if (!head) return undefined;
  const bodyStart = start + head[0].length;
  const closer = dashes === '----' ? `---- END ${head[1]} ----` : `-----END ${head[1]}-----`;
  const region = text.slice(bodyStart, start + maxSecretBytes - closer.length);
  const nextHead = region.indexOf(pemAnchor);
  const close = (nextHead === -1 ? region : region.slice(0, nextHead)).indexOf(closer);
  const end = close === -1 ? openEnd(text, bodyStart) : bodyStart + close + closer.length;
  if (!material.test(text.slice(bodyStart, end))) return undefined;
  return toMatch(start, Math.min(end, start + maxSecretBytes));
}

function openEnd(text: string, from: number): number {
  keyHeaders.lastIndex = from;
  const headers = keyHeaders.exec(text)?.[0].length ?? 0;
  keyBody.lastIndex = from + headers;
  const body = keyBody.exec(text);
  return body ? from + headers + body[0].length : from;
}

function toMatch(start: number, end: number): SecretMatch {
  return { rule: 'private-key', kind: 'token', start, end };
}
