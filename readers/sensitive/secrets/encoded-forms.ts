/* How a text appears under common encodings. */
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
export interface EncodedForm {
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
export const keyForms: readonly EncodedForm[] = [
  ...base64Forms(keyWords),
  ...escapedForms(keyWords),
  ...['E%20KEY', 'E+KEY-', 'E\\u0020KEY', 'E\\x20KEY'].map((anchor) => ({ anchor, read: readKeyHeader })),
];
/** A dot, for formats without other searchable text: escapes directly before it are decoded too. */
export const dotForms: readonly EncodedForm[] = [
  '%2E%',
  '%2e%',
  '\\u002E',
  '\\u002e',
  '\\x2E\\',
  '\\x2e\\',
].map((anchor) => ({ anchor, read: readEscapedAround }));

/** A text of at least three characters in base64 at its three alignments, as far as that has four characters. */
export function base64Forms(sought: string): readonly EncodedForm[] {
  const forms = base64Readers.map((read, phase) => ({ anchor: base64Anchor(sought, phase), read }));
  return forms.filter(({ anchor }) => anchor.length >= 4);
}

/** The same in hexadecimal digits, in percent, `\u00` and `\x` escapes. `looksBack`: what is before it is read too. */
export function escapedForms(sought: string, looksBack = false): readonly EncodedForm[] {
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
