/** One entry of a tree object; `mode` is six octal digits. */
export interface RawEntry {
  readonly mode: string;
  readonly name: string;
  readonly object: string;
}

/** How names are read: as text, or (`latin1`) as the bytes that they are. */
export type NameEncoding = 'utf8' | 'latin1';

/** Takes a tree object apart; `undefined` where it is none. */
export function parseTree(
  bytes: Buffer,
  idBytes: number,
  names: NameEncoding = 'utf8',
): readonly RawEntry[] | undefined {
  const entries: RawEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(32, at);
    const end = bytes.indexOf(0, at);
    if (blank < 0 || end < blank || end + 1 + idBytes > bytes.length) return undefined;
    entries.push({
      mode: bytes.toString('latin1', at, blank).padStart(6, '0'),
      name: bytes.toString(names, blank + 1, end),
      object: bytes.toString('hex', end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
  }
  return entries;
}

/** True for the mode of a directory. */
export function isTreeMode(mode: string): boolean {
  return canonicalMode(mode) === '040000';
}

/** The mode that git takes an entry to have: old trees hold others for the same things. */
export function canonicalMode(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  const kind = bits & 0o170000;
  if (kind === 0o100000) return (bits & 0o100) === 0 ? '100644' : '100755';
  if (kind === 0o120000) return '120000';
  return kind === 0o040000 ? '040000' : '160000';
}
