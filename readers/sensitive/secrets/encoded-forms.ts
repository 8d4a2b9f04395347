export interface Decoded {
  readonly text: string;
  /** Where the sought text begins in it, about. */
  readonly at: number;
  /** The encoded run, in what was read. */
  readonly start: number;
  readonly end: number;
}

/** What stands before the sought words of a key's header. */
const maxBefore = 48;
/** Characters before an anchor that a format looks back at, most of all. */
const maxEscapesBefore = 80;
const base64Run =
  /[A-Za-z0-9+/_-]{1,4096}(?:(?:\\{1,2}[nr]|[\r\n][ \t]{0,40}){1,4}[A-Za-z0-9+/_-]{16,200}){0,200}/y;
const hexRun = /(?:[0-9A-Fa-f]{2}){1,6000}/y;
const escapedRun = /(?:%[0-9A-Fa-f]{2}|\\{1,2}u00[0-9A-Fa-f]{2}|\\{1,2}x[0-9A-Fa-f]{2}|[\w.~+/=:-]){1,6000}/y;
const escapesBefore = /(?:%[0-9A-Fa-f]{2}|\\{1,2}u00[0-9A-Fa-f]{2}|\\{1,2}x[0-9A-Fa-f]{2}){1,80}$/;
const oneEscape = /%([0-9A-Fa-f]{2})|\\{1,2}u00([0-9A-Fa-f]{2})|\\{1,2}x([0-9A-Fa-f]{2})/g;

/**
 * How encoded text is read: `0`, `1`, `2` base64 with so many bytes before the text in its group of three, `x`
 * hexadecimal digits, `e` escapes, `a` escapes and those right before them, `h` escapes from the header of a key on.
 */
export type CodedReader = '0' | '1' | '2' | 'x' | 'e' | 'a' | 'h';

/** Words of every header of a private key. */
export const keyWords = 'PRIVATE KEY';

/** Decodes what is around the encoded anchor at `at`, `most` characters of it. */
export function readCoded(reader: CodedReader, text: string, at: number, most: number): Decoded | undefined {
  switch (reader) {
    case '0':
      return readBase64(text, at, most, 0);
    case '1':
      return readBase64(text, at, most, 1);
    case '2':
      return readBase64(text, at, most, 2);
    case 'x':
      return readHex(text, at, most);
    case 'e':
      return readEscaped(text, at, most);
    case 'a':
      return readEscapedAround(text, at, most);
    case 'h':
      return readKeyHeader(text, at, most);
  }
}

/** Characters of base64 that depend on the `phase` bytes before a text. */
export function skippedCharacters(phase: 0 | 1 | 2): number {
  return Math.ceil((phase * 8) / 6);
}

/** Reads escapes from `at` on; what needs none stands as it is, and `+` for a blank. */
function readEscaped(text: string, at: number, most: number): Decoded | undefined {
  const end = runEnd(escapedRun, text, at, most);
  const decoded = text
    .slice(at, end)
    .replace(oneEscape, (_, one, two, three) =>
      String.fromCharCode(Number.parseInt(one ?? two ?? three, 16)),
    );
  return { text: decoded, at: 0, start: at, end };
}

/** The same, and the escapes that stand right before `at`; what stands there as it is is left alone. */
function readEscapedAround(text: string, at: number, most: number): Decoded | undefined {
  const [before = ''] = escapesBefore.exec(text.slice(Math.max(0, at - 8 * maxEscapesBefore), at)) ?? [];
  const start = at - before.length;
  const decoded = readEscaped(text, start, most + before.length);
  return decoded && { ...decoded, at: before.match(oneEscape)?.length ?? 0 };
}

/** Reads escapes from the header of a key on, whose words at `at` hold one. */
function readKeyHeader(text: string, at: number, most: number): Decoded | undefined {
  const least = Math.max(0, at - 64);
  const begin = text.slice(least, at).lastIndexOf('-----BEGIN');
  const read = begin < 0 ? undefined : readEscaped(text, least + begin, most);
  if (read === undefined) return undefined;
  const plain = read.text.replace(/(?<=-----BEGIN|[A-Z])\+(?=[A-Z])/g, ' ');
  return { ...read, text: plain, at: Math.max(0, plain.indexOf(keyWords)) };
}

function readBase64(text: string, at: number, most: number, phase: 0 | 1 | 2): Decoded | undefined {
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
