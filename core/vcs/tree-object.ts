/** One entry of a tree object; `mode` is six octal digits. */
export interface RawEntry {
  readonly mode: string;
  readonly name: string;
  readonly object: string;
}

/** Takes a tree object apart; `undefined` where it is none. */
export function parseTree(bytes: Buffer, idBytes: number): readonly RawEntry[] | undefined {
  const entries: RawEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, at);
    if (blank < 0 || end < blank || end + 1 + idBytes > bytes.length) return undefined;
    entries.push({
      mode: bytes.toString('latin1', at, blank).padStart(6, '0'),
      name: bytes.toString('utf8', blank + 1, end),
      object: bytes.toString('hex', end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
  }
  return entries;
}
