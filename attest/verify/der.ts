/** One value of DER: its tag octet, and its content. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
}

const maxChildren = 4096;

/**
 * The values that stand one after the other in `bytes`, to its very end: one-octet tags, definite lengths in their
 * shortest form. `undefined` for anything else.
 */
export function readDerValues(bytes: Buffer): readonly DerValue[] | undefined {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const first = bytes[at + 1];
    if (first === undefined || (tag & 0x1f) === 0x1f || values.length === maxChildren) return undefined;
    const octets = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || octets > 4 || at + 2 + octets > bytes.length) return undefined;
    const length = octets === 0 ? first : bytes.readUIntBE(at + 2, octets);
    if (octets > 0 && (length < 0x80 || length < 2 ** (8 * (octets - 1)))) return undefined;
    const start = at + 2 + octets;
    if (start + length > bytes.length) return undefined;
    values.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}

/** The one value that fills `bytes`, where it has this tag. */
export function readDerValue(bytes: Buffer, tag: number): Buffer | undefined {
  const [value, ...more] = readDerValues(bytes) ?? [];
  return value?.tag === tag && more.length === 0 ? value.content : undefined;
}

/** What stands in the one SEQUENCE that fills `bytes`. */
export function readDerSequence(bytes: Buffer): readonly DerValue[] | undefined {
  const content = readDerValue(bytes, 0x30);
  return content && readDerValues(content);
}
