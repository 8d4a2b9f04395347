import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitDirectory } from './git.ts';
import type { SmallEntry, SmallTree } from './small-tree.ts';

/** Bytes of an index entry before its object id (gitformat-index, version 2). */
const statBytes = 40;
const maxNameLength = 0xfff;

/**
 * Writes a tree into `dir` (expected empty but for `.git`) as `git read-tree -u` does: bytes and modes, links as links,
 * and `.git/index` that says what is there. Every file is a new one; where something stands in its place, it throws.
 * For trees so small that waiting for each call would cost more than the calls.
 */
export function writeSmallTree(
  { entries, directories }: SmallTree,
  dir: string,
  gitDir: string,
  objectFormat: GitDirectory['objectFormat'],
): void {
  for (const directory of directories) mkdirSync(join(dir, directory));
  const rows = entries.map((entry) => {
    const path = join(dir, entry.path);
    if (entry.mode === '120000') symlinkSync(entry.bytes, path);
    else writeFileSync(path, entry.bytes, { flag: 'wx', mode: entry.mode === '100755' ? 0o777 : 0o666 });
    return indexEntry(entry, lstatSync(path, { bigint: true }));
  });
  const header = Buffer.alloc(12);
  header.write('DIRC', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(rows.length, 8);
  const body = Buffer.concat([header, ...rows]);
  const digest = createHash(objectFormat).update(body).digest();
  writeFileSync(join(gitDir, 'index'), Buffer.concat([body, digest]), { flag: 'wx' });
}

function indexEntry({ path, mode, object }: SmallEntry, stat: BigIntStats): Buffer {
  const name = Buffer.from(path);
  const id = Buffer.from(object, 'hex');
  const length = statBytes + id.length + 2 + name.length;
  // Between one and eight NULs behind the name, up to a multiple of eight.
  const entry = Buffer.alloc((length + 8) & ~7);
  const words = [
    ...[stat.ctimeNs / 1_000_000_000n, stat.ctimeNs % 1_000_000_000n],
    ...[stat.mtimeNs / 1_000_000_000n, stat.mtimeNs % 1_000_000_000n],
    ...[stat.dev, stat.ino, BigInt(Number.parseInt(mode, 8)), stat.uid, stat.gid, stat.size],
  ];
  for (const [at, word] of words.entries()) entry.writeUInt32BE(Number(BigInt.asUintN(32, word)), 4 * at);
  id.copy(entry, statBytes);
  entry.writeUInt16BE(Math.min(name.length, maxNameLength), statBytes + id.length);
  name.copy(entry, statBytes + id.length + 2);
  return entry;
}
