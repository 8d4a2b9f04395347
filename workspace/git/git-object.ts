/* git's object format: ids, commits and trees, without a process. */
import { createHash, type Hash, hash } from 'node:crypto';

const smallBytes = 16 * 1024;

/** A hash that has the object's header (`type SP size NUL`); add `size` bytes of content. */
export function objectHash(format: 'sha1' | 'sha256', type: string, size: number): Hash {
  return createHash(format).update(`${type} ${size}\0`);
}

/** The id that git gives an object. */
export function objectId(format: 'sha1' | 'sha256', type: string, bytes: Uint8Array): string {
  // One call is twice as fast, as long as the copy of the bytes is cheap.
  if (bytes.length < smallBytes)
    return hash(format, Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]));
  return objectHash(format, type, bytes.length).update(bytes).digest('hex');
}

/** Tree and parents of a commit object; `undefined` if the bytes are not a commit. */
export function parseCommit(
  bytes: Uint8Array,
): { readonly tree: string; readonly parents: readonly string[] } | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = head.indexOf('\n\n');
  const lines = head.toString('latin1', 0, end < 0 ? head.length : end).split('\n');
  const tree = /^tree ([0-9a-f]{40,64})$/.exec(lines[0] ?? '')?.[1];
  if (tree === undefined) return undefined;
  return { tree, parents: lines.flatMap((line) => /^parent ([0-9a-f]{40,64})$/.exec(line)?.[1] ?? []) };
}

/** `mode` is six octal digits. */
export interface RawEntry {
  readonly mode: string;
  readonly name: string;
  readonly object: string;
}

/** `latin1` keeps names as bytes. */
export type NameEncoding = 'utf8' | 'latin1';

/** The entries of a tree object; `undefined` if the bytes are not a valid tree. */
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

export function isTreeMode(mode: string): boolean {
  return canonicalMode(mode) === '040000';
}

/** The mode that git uses for an entry; old trees have other modes for the same types. */
export function canonicalMode(mode: string): string {
  const bits = Number.parseInt(mode, 8);
  const kind = bits & 0o170000;
  if (kind === 0o100000) return (bits & 0o100) === 0 ? '100644' : '100755';
  if (kind === 0o120000) return '120000';
  return kind === 0o040000 ? '040000' : '160000';
}
