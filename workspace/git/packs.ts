/* Writes packs: of new objects without a process, and of kept blobs for the object directories of a repository. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { absent, writeDurably } from '../../core/base/files.ts';
import { runGit } from './git.ts';
import { restartObjectReaders } from './object-reader.ts';
import type { Scratch } from './scratch.ts';
import { type NewObject, type ObjectPlace, writeLooseObject } from './write-tree.ts';

/** A pack needs two syncs, a loose object one; but git repacks a repository at 50 packs. */
const fewObjects = 16;
const typeCodes = { commit: 1, tree: 2, blob: 3 } as const;

/** Writes objects by their id, so that they survive a power cut. */
export async function writeObjects(
  place: ObjectPlace,
  objects: ReadonlyMap<string, NewObject>,
): Promise<void> {
  if (objects.size < fewObjects) {
    // All writes end before a fault is thrown, because the place may then be deleted.
    const written = [...objects.values()].map((one) => writeLooseObject(place, one, true));
    for (const one of await Promise.allSettled(written)) if (one.status === 'rejected') throw one.reason;
    return;
  }
  const { pack, index, name } = await buildPack(place.objectFormat, objects);
  const base = join(place.objectsDir, 'pack', `pack-${name}`);
  await writeDurably(`${base}.pack`, pack, 0o444);
  // git uses a pack as soon as its index exists.
  await writeDurably(`${base}.idx`, index, 0o444);
}

/** A pack and its index, both version 2, without deltas (gitformat-pack). */
async function buildPack(
  format: 'sha1' | 'sha256',
  objects: ReadonlyMap<string, NewObject>,
): Promise<{ readonly pack: Buffer; readonly index: Buffer; readonly name: string }> {
  const digest = (bytes: Buffer): Buffer => createHash(format).update(bytes).digest();
  const ids = [...objects.keys()].sort();
  const packed = await Promise.all(ids.map((id) => packObject(objects.get(id) as NewObject)));
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  head.writeUInt32BE(ids.length, 8);
  const body = Buffer.concat([head, ...packed]);
  const checksum = digest(body);

  const counts = Buffer.alloc(256 * 4);
  const sums = Buffer.alloc(ids.length * 4);
  const offsets = Buffer.alloc(ids.length * 4);
  let offset = head.length;
  for (const [at, bytes] of packed.entries()) {
    sums.writeUInt32BE(crc32(bytes), at * 4);
    offsets.writeUInt32BE(offset, at * 4);
    offset += bytes.length;
  }
  const firstBytes = ids.map((id) => Number.parseInt(id.slice(0, 2), 16));
  for (let first = 0, count = 0; first < 256; first += 1) {
    while (count < ids.length && (firstBytes[count] ?? 0) <= first) count += 1;
    counts.writeUInt32BE(count, first * 4);
  }
  const magic = Buffer.from('\xfftOc\0\0\0\x02', 'latin1');
  const listed = ids.map((id) => Buffer.from(id, 'hex'));
  const entries = Buffer.concat([magic, counts, ...listed, sums, offsets, checksum]);
  return {
    pack: Buffer.concat([body, checksum]),
    index: Buffer.concat([entries, digest(entries)]),
    name: checksum.toString('hex'),
  };
}

/** Type and size, seven bits at a time behind the first four, then the compressed bytes. */
async function packObject({ type, bytes }: NewObject): Promise<Buffer> {
  const head = [(typeCodes[type] << 4) | (bytes.length & 15)];
  for (let rest = Math.floor(bytes.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
    head.push((head.pop() ?? 0) | 128, rest & 127);
  }
  return Buffer.concat([Buffer.from(head), await promisify(deflate)(bytes, { level: 1 })]);
}

/**
 * Packs a tree and everything below it, borrowed objects included, into `dir`; returns the name of the pack
 * (`pack-…`).
 */
export async function packTree(scratch: Scratch, tree: string, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ids = await runGit(scratch, ['rev-list', '--objects', '--no-object-names', tree]);
  // One thread and no deltas: the same objects make the same pack.
  const place: Scratch = {
    ...scratch,
    settings: [...scratch.settings, ['pack.threads', '1'], ['pack.window', '0']],
  };
  const digest = await runGit(place, ['pack-objects', '--quiet', join(dir, 'pack')], { input: ids });
  return `pack-${digest.toString('latin1').trim()}`;
}

/**
 * Copies the files of a pack into another pack directory, unless it is there. git uses a pack as soon as its index
 * exists, so the index comes last.
 */
export async function placePack(name: string, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  if ((await readdir(to)).includes(`${name}.idx`)) return;
  const isIndex = (file: string): boolean => file.endsWith('.idx');
  const files = (await readdir(from)).filter((file) => file.startsWith(`${name}.`));
  for (const file of [...files.filter((one) => !isIndex(one)), ...files.filter(isIndex)])
    await writeDurably(join(to, file), { copyOf: join(from, file) }, 0o444);
}

/** Deletes the files of a pack, the index first, so that no git uses the rest. */
export async function deletePack(name: string, dir: string): Promise<void> {
  await rm(join(dir, `${name}.idx`), { force: true });
  for (const file of await readdir(dir))
    if (file.startsWith(`${name}.`)) await rm(join(dir, file), { force: true });
}

/**
 * Adds an object directory to the alternates of a repository, or removes it; others stay. The path is relative, so
 * that both can be moved.
 */
export async function setAlternate(objectsDir: string, dir: string, present: boolean): Promise<void> {
  const path = join(objectsDir, 'info', 'alternates');
  const line = relative(await realpath(objectsDir), await realpath(dir));
  const before = ((await readFile(path, 'utf8').catch(absent)) ?? '').split('\n').filter((one) => one !== '');
  if (before.includes(line) === present) return;
  const after = present ? [...before, line] : before.filter((one) => one !== line);
  if (after.length === 0) await rm(path, { force: true });
  else {
    await mkdir(join(objectsDir, 'info'), { recursive: true });
    await writeDurably(path, `${after.join('\n')}\n`, 0o644);
  }
  await restartObjectReaders();
}
