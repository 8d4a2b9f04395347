/** Characters that nobody sees: NUL, soft hyphen, zero-width space, joiners and word joiner, byte-order mark. */
const unseen: readonly (readonly number[])[] = [
  [0x00],
  [0xc2, 0xad],
  [0xe2, 0x80, 0x8b],
  [0xe2, 0x80, 0x8c],
  [0xe2, 0x80, 0x8d],
  [0xe2, 0x81, 0xa0],
  [0xef, 0xbb, 0xbf],
];

/** Bytes as they are seen, and where each of them stands in the whole. */
export interface SeenBytes {
  readonly bytes: Uint8Array;
  at(index: number): number;
}

/** Bytes of a text without the characters that nobody sees; `undefined` where it has none. */
export function withoutUnseen(bytes: Uint8Array): SeenBytes | undefined {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!unseen.some((one) => whole.includes(Buffer.from(one)))) return undefined;
  const kept = Buffer.alloc(whole.length);
  const places = new Uint32Array(whole.length);
  let length = 0;
  for (let at = 0; at < whole.length; ) {
    const skipped = unseenAt(whole, at);
    if (skipped > 0) {
      at += skipped;
      continue;
    }
    kept[length] = whole[at] as number;
    places[length] = at;
    length += 1;
    at += 1;
  }
  return { bytes: kept.subarray(0, length), at: (index) => places[index] ?? whole.length };
}

function unseenAt(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === 0) return 1;
  if (first !== 0xc2 && first !== 0xe2 && first !== 0xef) return 0;
  const found = unseen.find((one) => one.every((byte, index) => bytes[at + index] === byte));
  return found?.length ?? 0;
}
