/* The table of all forms of secrets, by their first characters. */
import { type AnchorSearch, createAnchorSearch } from '../../anchors/anchor-search.ts';
import { assignedAnchors, findAssigned } from './assigned-secret.ts';
import { maxSecretBytes, type SecretMatch, type SecretPattern, secretPatterns } from './secret-patterns.ts';
import { endOfWord } from './secret-value.ts';

/** Looks for one form of secret at an offset of a latin1 text. */
type Attempt = (text: string, at: number) => SecretMatch | undefined;

/** Of characters under an encoding: the longest token, and the longest key. */
const maxEncodedToken = 640;
const maxEncodedKey = 6 * 1024;
const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index));
/** What may follow an anchor of three characters. */
const tails = textsOf('[A-Za-z0-9_-]');

/** Is in the row of a head at which two literals may be joined. */
export const joint: Attempt = () => undefined;

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
  const patterns = secretPatterns.map((pattern) => [pattern, anchorsOf(pattern)] as const);
  for (const [pattern, anchors] of patterns) addPattern(pattern, anchors, add);
  add(keyAnchors, findPrivateKey);
  add(assignedAnchors, findAssigned);
  for (const [pattern, anchors] of patterns) addEncoded(pattern, anchors, add);
  for (const form of keyForms) add([form.anchor], encodedAttempt(form, keyAround, maxEncodedKey));
  add(jointHeads(), joint);
  return rows;
}

let table: ReadonlyMap<number, readonly Attempt[]> | undefined;
let search: AnchorSearch<undefined> | undefined;
const none: readonly Attempt[] = [];

/** What is tried at an offset of a latin1 text. */
export function attemptsAt(text: string, at: number): readonly Attempt[] {
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
export function secretPlaces(bytes: Uint8Array): readonly number[] {
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

/** Adds what a pattern looks like under an encoding: the first characters of a token, or the field of a log-in. */
function addEncoded(pattern: SecretPattern, anchors: readonly string[], add: AddAttempt): void {
  const isField = pattern.rule === 'registry-auth';
  if (pattern.kind !== 'token' && !isField) return;
  // Anchors that end with a dot are too many: under escapes the dot alone is rare enough.
  const isDotted = pattern.rule === 'zhipu-key';
  const ahead = isDotted ? -3 : offsetOf(pattern);
  const attempt: Attempt = (text, at) => tryPattern(text, at + ahead, pattern);
  const sought = isField ? ['"auth"'] : anchors;
  const looksBack = pattern.form.source.startsWith('(?<=');
  // Of many that begin alike, what they begin with.
  const [least, most] = sought.length > 64 ? [3, 4] : [undefined, undefined];
  const forms = isDotted
    ? dotForms
    : [
        ...sought.flatMap(base64Forms).map(({ anchor, read }) => ({ anchor: anchor.slice(0, most), read })),
        ...[...new Set(sought.map((anchor) => anchor.slice(0, least)))].flatMap((anchor) =>
          escapedForms(anchor, looksBack),
        ),
      ];
  for (const [read, same] of Map.groupBy(forms, (form) => form.read))
    for (const anchor of new Set(same.map((form) => form.anchor)))
      add([anchor], encodedAttempt({ anchor, read }, attempt, isField ? maxEncodedKey : maxEncodedToken));
}

/** Decodes what begins with the anchor of a form, and tries there. */
function encodedAttempt({ anchor, read }: EncodedForm, attempt: Attempt, most: number): Attempt {
  return (text, at) => {
    const decoded = text.startsWith(anchor, at) ? read(text, at, most) : undefined;
    const match = decoded && attempt(decoded.text, decoded.at);
    if (!match) return undefined;
    const { rule, kind } = match;
    const value = decoded.text.slice(match.start, match.end);
    return { rule, kind, start: decoded.start, end: decoded.end, value, wrapped: 'encoded' };
  };
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

/** Finds the private key with the words at `at` in its header. */
function keyAround(text: string, at: number): SecretMatch | undefined {
  const begin = text.lastIndexOf(keyAnchors[0] as string, at);
  return begin < 0 || at - begin > 48 ? undefined : findPrivateKey(text, begin);
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

interface Decoded {
  readonly text: string;
  /** Where the sought text begins in it, about. */
  readonly at: number;
  /** The encoded run, in what was read. */
  readonly start: number;
  readonly end: number;
}

/** Characters before the searched words of a key's header. */
const maxBefore = 48;
/** Characters before an anchor that a format looks back at, most of all. */
const maxEscapesBefore = 80;
const base64Run =
  /[A-Za-z0-9+/_-]{1,4096}(?:(?:\\{1,2}[nr]|[\r\n][ \t]{0,40}){1,4}[A-Za-z0-9+/_-]{16,200}){0,200}/y;
const hexRun = /(?:[0-9A-Fa-f]{2}){1,6000}/y;
const escapedRun = /(?:%[0-9A-Fa-f]{2}|\\{1,2}u00[0-9A-Fa-f]{2}|\\{1,2}x[0-9A-Fa-f]{2}|[\w.~+/=:-]){1,6000}/y;
const escapesBefore = /(?:%[0-9A-Fa-f]{2}|\\{1,2}u00[0-9A-Fa-f]{2}|\\{1,2}x[0-9A-Fa-f]{2}){1,80}$/;
const oneEscape = /%([0-9A-Fa-f]{2})|\\{1,2}u00([0-9A-Fa-f]{2})|\\{1,2}x([0-9A-Fa-f]{2})/g;

/** Decodes what is around an encoded anchor at `at`, `most` characters of it. */
type ReadEncoded = (text: string, at: number, most: number) => Decoded | undefined;

/** A text as it appears under an encoding, at least four characters, and the reader of that encoding. */
interface EncodedForm {
  readonly anchor: string;
  readonly read: ReadEncoded;
}

const base64Readers = ([0, 1, 2] as const).map(
  (phase): ReadEncoded =>
    (text, at, most) =>
      readBase64(text, at, most, phase),
);
/** Words of every header of a private key. */
const keyWords = 'PRIVATE KEY';
/** Under escapes, the words of a key's header may be written with a `+` or an escape for the blank alone. */
const keyForms: readonly EncodedForm[] = [
  ...base64Forms(keyWords),
  ...escapedForms(keyWords),
  ...['E%20KEY', 'E+KEY-', 'E\\u0020KEY', 'E\\x20KEY'].map((anchor) => ({ anchor, read: readKeyHeader })),
];
/** A dot, for formats without other searchable text: escapes directly before it are decoded too. */
const dotForms: readonly EncodedForm[] = ['%2E%', '%2e%', '\\u002E', '\\u002e', '\\x2E\\', '\\x2e\\'].map(
  (anchor) => ({ anchor, read: readEscapedAround }),
);

/** A text of at least three characters in base64 at its three alignments, as far as that has four characters. */
function base64Forms(sought: string): readonly EncodedForm[] {
  const forms = base64Readers.map((read, phase) => ({ anchor: base64Anchor(sought, phase), read }));
  return forms.filter(({ anchor }) => anchor.length >= 4);
}

/** The same in hexadecimal digits, in percent, `\u00` and `\x` escapes. `looksBack`: what is before it is read too. */
function escapedForms(sought: string, looksBack = false): readonly EncodedForm[] {
  const hex = Buffer.from(sought, 'latin1').toString('hex');
  const readEscapes = looksBack ? readEscapedAround : readEscaped;
  return [...new Set([hex, hex.toUpperCase()])].flatMap((digits) => [
    { anchor: digits, read: readHex },
    ...['%', '\\u00', '\\x'].map((mark) => ({
      anchor: digits.replace(/../g, (pair) => mark + pair),
      read: readEscapes,
    })),
  ]);
}

/** The characters of base64 that a text makes with `phase` bytes before it, whatever these and the next bytes are. */
function base64Anchor(sought: string, phase: number): string {
  const encoded = Buffer.from('\0'.repeat(phase) + sought, 'latin1').toString('base64');
  return encoded.slice(skippedCharacters(phase), Math.floor(((phase + sought.length) * 8) / 6));
}

/** Characters of base64 that depend on the `phase` bytes before a text. */
function skippedCharacters(phase: number): number {
  return Math.ceil((phase * 8) / 6);
}

/** Decodes escapes from `at` on; unescaped characters are kept, and so is `+` in place of a blank. */
function readEscaped(text: string, at: number, most: number): Decoded | undefined {
  const end = runEnd(escapedRun, text, at, most);
  const decoded = text
    .slice(at, end)
    .replace(oneEscape, (_, one, two, three) =>
      String.fromCharCode(Number.parseInt(one ?? two ?? three, 16)),
    );
  return { text: decoded, at: 0, start: at, end };
}

/** The same, with the escapes directly before `at`; unescaped text before it is left alone. */
function readEscapedAround(text: string, at: number, most: number): Decoded | undefined {
  const [before = ''] = escapesBefore.exec(text.slice(Math.max(0, at - 8 * maxEscapesBefore), at)) ?? [];
  const start = at - before.length;
  const decoded = readEscaped(text, start, most + before.length);
  return decoded && { ...decoded, at: before.match(oneEscape)?.length ?? 0 };
}

/** Decodes escapes from the start of the key header that contains the words at `at`. */
function readKeyHeader(text: string, at: number, most: number): Decoded | undefined {
  const least = Math.max(0, at - 64);
  const begin = text.slice(least, at).lastIndexOf('-----BEGIN');
  const read = begin < 0 ? undefined : readEscaped(text, least + begin, most);
  if (read === undefined) return undefined;
  const plain = read.text.replace(/(?<=-----BEGIN|[A-Z])\+(?=[A-Z])/g, ' ');
  return { ...read, text: plain, at: Math.max(0, plain.indexOf(keyWords)) };
}

function readBase64(text: string, at: number, most: number, phase: number): Decoded | undefined {
  const first = at - skippedCharacters(phase);
  let start = first;
  if (start < 0) return undefined;
  for (let steps = 0; steps < maxBefore && isBase64(text, start - 4); steps += 4) start -= 4;
  const end = runEnd(base64Run, text, start, most);
  if (end <= at) return undefined;
  const decoded = Buffer.from(text.slice(start, end).replace(/\\{1,2}[nr]/g, ''), 'base64').toString(
    'latin1',
  );
  return { text: decoded, at: ((first - start) / 4) * 3 + phase, start, end };
}

function readHex(text: string, at: number, most: number): Decoded | undefined {
  let start = at;
  const least = Math.max(0, at - 2 * maxBefore);
  while (start - 2 >= least && /^[0-9A-Fa-f]{2}$/.test(text.slice(start - 2, start))) start -= 2;
  const end = runEnd(hexRun, text, start, most);
  return {
    text: Buffer.from(text.slice(start, end), 'hex').toString('latin1'),
    at: (at - start) / 2,
    start,
    end,
  };
}

function isBase64(text: string, at: number): boolean {
  return at >= 0 && /^[A-Za-z0-9+/_-]{4}$/.test(text.slice(at, at + 4));
}

function runEnd(form: RegExp, text: string, at: number, most: number): number {
  form.lastIndex = 0;
  return form.test(text.slice(at, at + most)) ? at + form.lastIndex : at;
}
