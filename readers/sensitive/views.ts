/** Bytes as another reader sees them, with the offset of each in the original. */
export interface View {
  readonly bytes: Uint8Array;
  /** Offset in the original where the byte begins, and where it ends. */
  start(index: number): number;
  end(index: number): number;
}

/** Invisible characters: NUL, soft hyphen, zero-width space, joiners and word joiner, byte-order mark. */
const unseen: readonly (readonly number[])[] = [
  [0x00],
  [0xc2, 0xad],
  [0xe2, 0x80, 0x8b],
  [0xe2, 0x80, 0x8c],
  [0xe2, 0x80, 0x8d],
  [0xe2, 0x81, 0xa0],
  [0xef, 0xbb, 0xbf],
];
const unseenTexts = unseen.map((one) => Buffer.from(one));
const unseenFirsts = bytesOf(0x1b, ...unseen.map(([first = 0]) => first));
const maxControl = 256;

/**
 * Returns the bytes of a text without invisible characters and terminal controls (colours, ECMA-48); `undefined` if
 * it has none.
 */
export function withoutUnseen(bytes: Uint8Array): View | undefined {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!whole.includes(0x1b) && !unseenTexts.some((one) => whole.includes(one))) return undefined;
  return read(whole, unseenFirsts, (at) => {
    const skipped = unseenAt(whole, at);
    return skipped > 0 ? [skipped, -1] : undefined;
  });
}

function unseenAt(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === 0) return 1;
  if (first === 0x1b) return controlLength(bytes, at);
  if (first !== 0xc2 && first !== 0xe2 && first !== 0xef) return 0;
  const found = unseen.find((one) => one.every((byte, index) => bytes[at + index] === byte));
  return found?.length ?? 0;
}

/** Of a control sequence (`ESC [ … m`) or a string of an operating system command (`ESC ] … BEL`); 0 of another. */
function controlLength(bytes: Buffer, at: number): number {
  const kind = bytes[at + 1];
  if (kind !== 0x5b && kind !== 0x5d) return 0;
  for (let end = at + 2; end < bytes.length && end < at + maxControl; end += 1) {
    const byte = bytes[end] as number;
    if (kind === 0x5b && byte >= 0x40 && byte < 0x7f) return end + 1 - at;
    if (kind === 0x5b && (byte < 0x20 || byte > 0x3f)) return 0;
    if (kind === 0x5d && byte === 7) return end + 1 - at;
    if (kind === 0x5d && byte === 0x1b && bytes[end + 1] === 0x5c) return end + 2 - at;
  }
  return 0;
}

const backslash = 0x5c;
const letters: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 32, f: 32 };

/**
 * Bytes of a text as they are once every escape with backslashes is resolved, however many there are of them: what was
 * put into a string that was put into another. `undefined` where it has none.
 */
export function withoutEscapes(bytes: Uint8Array): View | undefined {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!whole.includes(backslash)) return undefined;
  return read(whole, bytesOf(backslash), (at) => {
    let next = at + 1;
    while (whole[next] === backslash) next += 1;
    const [used, byte] = escaped(whole, next);
    return [next + used - at, byte];
  });
}

/** Returns the number of bytes of an escape after its backslashes, and the decoded byte; -1 if it decodes to none. */
function escaped(bytes: Buffer, at: number): readonly [used: number, byte: number] {
  const char = String.fromCharCode(bytes[at] ?? 0);
  const digits = (from: number, form: RegExp): string =>
    form.exec(bytes.toString('latin1', from, from + 8))?.[0] ?? '';
  if (char === 'u' || char === 'x') {
    const found = digits(
      at + 1,
      char === 'u' ? /^(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\})/ : /^[0-9A-Fa-f]{2}/,
    );
    // The search is ASCII only: any single byte that is not a letter will do.
    const code = Number.parseInt(found.replace('{', ''), 16);
    if (found !== '') return [1 + found.length, code < 128 ? code : 0xff];
  }
  const octal = char === '0' || char === '1' ? digits(at, /^[01][0-7]{2}/) : '';
  if (octal !== '') return [3, Number.parseInt(octal, 8)];
  const control = letters[char];
  if (control !== undefined) return [1, control];
  if (char === '\n' || char === '\r') return [1, -1];
  return at >= bytes.length || /[A-Za-z0-9]/.test(char) ? [0, backslash] : [1, bytes[at] as number];
}

/**
 * Reads a whole by steps at marked bytes: how many bytes are used for which one, or for none (-1); `undefined` uses one
 * as it is.
 */
function read(
  whole: Buffer,
  marked: Uint8Array,
  step: (at: number) => readonly [used: number, byte: number] | undefined,
): View {
  const kept = Buffer.allocUnsafe(whole.length);
  const starts = new Uint32Array(whole.length);
  const ends = new Uint32Array(whole.length);
  let length = 0;
  for (let at = 0; at < whole.length; ) {
    const plain = whole[at] as number;
    const found = marked[plain] === 0 ? undefined : step(at);
    const used = found ? found[0] : 1;
    const byte = found ? found[1] : plain;
    if (byte >= 0) {
      kept[length] = byte;
      starts[length] = at;
      ends[length] = at + used;
      length += 1;
    }
    at += used;
  }
  return {
    bytes: kept.subarray(0, length),
    start: (index) => starts[index] ?? whole.length,
    end: (index) => ends[index] ?? whole.length,
  };
}

function bytesOf(...codes: readonly number[]): Uint8Array {
  const set = new Uint8Array(256);
  for (const code of codes) set[code] = 1;
  return set;
}
