/** A text as it stands under an encoding, and how to read what goes on there. */
export interface EncodedForm {
  /** At least four characters, the same wherever the text is encoded. */
  readonly anchor: string;
  /** Bytes before the text in its group of three, of base64. */
  readonly phase?: number;
  /** What stands encoded around the anchor at `at`, `most` characters of it. */
  read(text: string, at: number, most: number): Decoded | undefined;
}

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

export interface FormChoice {
  /** Whether what stands escaped before the text is read, too, by a format that looks back. */
  readonly looksBack?: boolean;
  /**
   * It is one of many texts that have their beginning alone in common: their forms are cut so that most of them are the
   * same.
   */
  readonly isOfMany?: boolean;
}

/**
 * Base64 at its three alignments, hexadecimal digits, percent, `\u00` and `\x` escapes of all of a text that has at
 * least three characters.
 */
export function encodedForms(
  sought: string,
  { looksBack = false, isOfMany = false }: FormChoice = {},
): readonly EncodedForm[] {
  const hex = Buffer.from(sought, 'latin1').toString('hex');
  const cut = (anchor: string, most: number): string => (isOfMany ? anchor.slice(0, most) : anchor);
  const forms: EncodedForm[] = [];
  const add = (form: EncodedForm): void => {
    const { anchor } = form;
    if (anchor.length >= 4 && !forms.some((one) => one.anchor === anchor)) forms.push(form);
  };
  for (const phase of [0, 1, 2]) {
    const form = base64Form(sought, phase);
    add({ ...form, anchor: cut(form.anchor, 4) });
  }
  for (const digits of [hex, hex.toUpperCase()]) add({ anchor: cut(digits, 6), read: readHex });
  for (const mark of ['%', '\\u00', '\\x'])
    for (const digits of [hex, hex.toUpperCase()])
      add({
        anchor: digits.replace(/../g, (pair) => mark + pair),
        read: looksBack ? readEscapedAround : readEscaped,
      });
  return forms;
}

/** Reads escapes from `at` on; what needs none stands as it is, and `+` for a blank. */
export function readEscaped(text: string, at: number, most: number): Decoded | undefined {
  const end = runEnd(escapedRun, text, at, most);
  const decoded = text
    .slice(at, end)
    .replace(oneEscape, (_, one, two, three) =>
      String.fromCharCode(Number.parseInt(one ?? two ?? three, 16)),
    );
  return { text: decoded, at: 0, start: at, end };
}

/** The same, and the escapes that stand right before `at`; what stands there as it is is left alone. */
export function readEscapedAround(text: string, at: number, most: number): Decoded | undefined {
  const [before = ''] = escapesBefore.exec(text.slice(Math.max(0, at - 8 * maxEscapesBefore), at)) ?? [];
  const start = at - before.length;
  const decoded = readEscaped(text, start, most + before.length);
  return decoded && { ...decoded, at: before.match(oneEscape)?.length ?? 0 };
}

/**
 * The characters of base64 that a text makes with `phase` bytes before it in its group of three, whatever they and the
 * next ones are.
 */
function base64Form(sought: string, phase: number): EncodedForm {
  const encoded = Buffer.from('\0'.repeat(phase) + sought, 'latin1').toString('base64');
  const first = Math.ceil((phase * 8) / 6);
  const last = Math.floor(((phase + sought.length) * 8) / 6);
  return {
    anchor: encoded.slice(first, last),
    phase,
    read(text, at, most) {
      let start = at - first;
      if (start < 0) return undefined;
      for (let steps = 0; steps < maxBefore && isBase64(text, start - 4); steps += 4) start -= 4;
      const end = runEnd(base64Run, text, start, most);
      if (end <= at) return undefined;
      const decoded = Buffer.from(text.slice(start, end).replace(/\\{1,2}[nr]/g, ''), 'base64').toString(
        'latin1',
      );
      return { text: decoded, at: ((at - first - start) / 4) * 3 + phase, start, end };
    },
  };
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
