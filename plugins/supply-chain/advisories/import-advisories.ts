/* Imports OSV advisories into the user's database. */
import { constants, readSync } from 'node:fs';
import { appendFile, type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { makeDirectories, writeDurably } from '../../../core/base/files.ts';
import { randomOctets } from '../../../core/base/ids.ts';
import type { Advisory } from '../../../readers/advisories/advisory.ts';
import {
  maxRecordBytes,
  type OsvRecord,
  readOsvRecord,
  splitJson,
} from '../../../readers/advisories/osv-record.ts';
import { ArchiveRefusal } from '../../../readers/documents/archive/inflate.ts';
import { zipMembers } from '../../../readers/documents/archive/zip.ts';
import type { Ecosystem } from '../../../readers/packages/apply-manifests.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import {
  currentFile,
  type DatabaseIndex,
  digestOf,
  idsFile,
  indexFile,
  readIndex,
  readListed,
  readRows,
  shardOf,
} from './open-advisory-database.ts';

const chunkBytes = 1024 * 1024;

/**
 * Yields the records of a file one at a time, in order: OSV records as JSON (one, a list, or concatenated), or a zip
 * archive of such files, as OSV exports it. The first bytes decide the format. Throws INPUT_UNREADABLE,
 * ADVISORIES_INVALID.
 */
async function* readFeed(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw unreadable(
        path,
        cause.code === 'ENOENT' ? 'there is no such file' : (cause.code ?? 'it cannot be opened'),
      );
    },
  );
  try {
    if (!(await file.stat()).isFile()) throw unreadable(path, 'it is not a regular file');
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString('latin1').startsWith('PK')) {
      for await (const entry of zipEntries(file)) yield* splitJson(once(entry));
    } else yield* splitJson(chunksOf(file));
  } finally {
    await file.close();
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function unreadable(path: string, reason: string): WritError {
  return new WritError('INPUT_UNREADABLE', {
    message: `\`${path}\` cannot be read: ${reason}`,
    detail: { path, reason },
  });
}

const limits = {
  members: 4_000_000,
  bytes: 64 * 1024 ** 3,
  memberBytes: maxRecordBytes,
  isPlain: false,
  isWanted: (name: string) => name.toLowerCase().endsWith('.json'),
};

/**
 * Contents of the `.json` files in a zip archive (zip64 too), one at a time, in the order of its directory. What the
 * reader of archives refuses and anything beyond the bounds is ADVISORIES_INVALID. Names are never used as paths.
 */
async function* zipEntries(file: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  const read = (at: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file.fd, bytes, 0, length, at));
  };
  try {
    for (const { bytes } of zipMembers(size, read, limits)) yield bytes;
  } catch (fault) {
    if (!(fault instanceof ArchiveRefusal)) throw fault;
    const { bound, cause, fault: words } = fault.fault;
    const reason = bound === 'memberBytes' ? `a record has more than ${maxRecordBytes} bytes` : words;
    throw new WritError('ADVISORIES_INVALID', { message: `the archive cannot be read: ${reason}`, cause });
  }
}

/** What one import did. */
interface ImportSummary {
  /** In force afterwards, and about packages of a known ecosystem. */
  readonly advisories: number;
  /** Records in the file. */
  readonly records: number;
  /** Of them, records that are stored now: new ones, and those that replaced their predecessor. */
  readonly stored: number;
  /** Number of withdrawn records among them: they match no package, and removed the record stored under their id. */
  readonly withdrawn: number;
  /** Number of records among them that are older than the stored record of their id. They changed no data. */
  readonly older: number;
  /** Number of records among them without a known ecosystem. */
  readonly skipped: number;
  /** Ecosystems that are not looked up, with the number of records that name them. */
  readonly otherEcosystems: readonly { readonly name: string; readonly records: number }[];
  /** Advisories in force about packages of each ecosystem. */
  readonly ecosystems: Readonly<Partial<Record<Ecosystem, number>>>;
  readonly digest: string;
  readonly importedAt: string;
  readonly newest: string;
}

interface ImportOptions {
  readonly root: string;
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const maxRecords = 4_000_000;
const maxDraftBytes = 16 * 1024 * 1024;

/**
 * Imports the records of an OSV file into the database in `root`, in addition to existing ones. Of two records with
 * one id, the later modified one is kept; of equal ones, the last. Withdrawn records remove theirs.
 *
 * The import is atomic: a file with an invalid record changes no data. Memory holds one record, one shard and the
 * ids. Throws ADVISORIES_INVALID, ADVISORIES_BUSY, ADVISORIES_CORRUPT, INPUT_UNREADABLE.
 */
export async function importAdvisories({ root, path, clock, signal }: ImportOptions): Promise<ImportSummary> {
  await makeDirectories({ root, parts: [] });
  const lock = await acquireProcessLock(join(root, 'lock'), {
    clock,
    waitMs: 5000,
    busy: (holder) =>
      new WritError('ADVISORIES_BUSY', {
        message: 'another process is importing advisories',
        detail: { pid: holder?.pid ?? null },
      }),
  });
  try {
    const before = readIndex(root);
    const generation = `g-${randomOctets(8).toString('hex')}`;
    await sweep(root, before?.generation);
    const drafts = new Drafts(await makeDirectories({ root, parts: [generation] }));
    try {
      const ids = new Ids(before && readListed(root, before.generation, before.index, idsFile));
      const counts = await readRecords(path, ids, drafts, signal);
      const { files, ecosystems } = await settle(drafts, ids, (shard) =>
        before ? readListed(root, before.generation, before.index, shard) : Buffer.alloc(0),
      );
      const index: DatabaseIndex = {
        format: 1,
        digest: digestOf(files),
        importedAt: toRfc3339(clock.now()),
        newest: ids.newest(),
        advisories: ids.inForce(),
        ecosystems,
        files,
      };
      signal.throwIfAborted();
      await writeDurably(join(drafts.directory, indexFile), JSON.stringify(index));
      await writeDurably(join(root, currentFile), JSON.stringify({ generation }));
      const { digest, importedAt, newest, advisories } = index;
      return { advisories, ...counts, ecosystems, digest, importedAt, newest };
    } catch (fault) {
      await rm(drafts.directory, { recursive: true, force: true });
      throw fault;
    }
  } finally {
    await lock.release();
  }
}

/** Leaves the generation in force; a reader of the one before it has had the time of a whole import. */
async function sweep(root: string, current: string | undefined): Promise<void> {
  for (const name of await readdir(root))
    if (/^g-[0-9a-f]{16}$/.test(name) && name !== current)
      await rm(join(root, name), { recursive: true, force: true });
}

async function readRecords(path: string, ids: Ids, drafts: Drafts, signal: AbortSignal) {
  const counts = { records: 0, stored: 0, withdrawn: 0, older: 0, skipped: 0 };
  const others = new Map<string, number>();
  for await (const bytes of readFeed(path)) {
    signal.throwIfAborted();
    counts.records += 1;
    if (counts.records > maxRecords) throw invalid(counts.records, `more than ${maxRecords} records`);
    const record = parse(bytes, counts.records);
    for (const name of record.otherEcosystems) others.set(name, (others.get(name) ?? 0) + 1);
    if (!ids.take(record, counts.records)) {
      counts.older += 1;
      continue;
    }
    if (record.isWithdrawn) counts.withdrawn += 1;
    else if (record.advisories.length === 0) counts.skipped += 1;
    else {
      counts.stored += 1;
      for (const advisory of record.advisories) await drafts.add(advisory, counts.records);
    }
  }
  if (counts.records === 0) throw invalid(0, 'no record at all');
  await drafts.flush();
  const otherEcosystems = [...others]
    .map(([name, records]) => ({ name: name.replace(/[^\w .:/-]/g, '?').slice(0, 60), records }))
    .sort((a, b) => b.records - a.records || (a.name < b.name ? -1 : 1))
    .slice(0, 100);
  return { ...counts, otherEcosystems };
}

function parse(bytes: Buffer, number: number): OsvRecord {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid(number, 'no JSON in UTF-8');
  }
  const record = readOsvRecord(value);
  if ('fault' in record) throw invalid(number, record.fault);
  return record;
}

function invalid(record: number, found: string): WritError {
  return new WritError('ADVISORIES_INVALID', {
    message: `expected records of the OSV schema, found ${found}${record === 0 ? '' : ` (record ${record} of the file)`}`,
    detail: { record, found },
  });
}

/** Every id ever imported: an older file must not restore a withdrawn record. */
class Ids {
  readonly #known = new Map<
    string,
    { readonly ms: number; readonly holds: 0 | 1; readonly sequence?: number }
  >();

  constructor(stored: Buffer = Buffer.alloc(0)) {
    for (const line of stored.toString('latin1').split('\n')) {
      const [id = '', ms, holds] = line.split('\t');
      if (id !== '') this.#known.set(id, { ms: Number(ms), holds: holds === '1' ? 1 : 0 });
    }
  }

  /** False where a later record is known. */
  take({ id, modifiedMs, isWithdrawn, advisories }: OsvRecord, sequence: number): boolean {
    const known = this.#known.get(id);
    if (known && known.ms > modifiedMs) return false;
    this.#known.set(id, { ms: modifiedMs, holds: isWithdrawn || advisories.length === 0 ? 0 : 1, sequence });
    return true;
  }

  /** Whether a draft line is the one that counts, and whether a stored one still does. */
  isTaken(id: string, sequence: string): boolean {
    const known = this.#known.get(id);
    return known?.holds === 1 && String(known.sequence) === sequence;
  }

  isUntouched(id: string): boolean {
    const known = this.#known.get(id);
    return known?.holds === 1 && known.sequence === undefined;
  }

  newest(): string {
    let newest = -1;
    for (const { ms } of this.#known.values()) newest = Math.max(newest, ms);
    return newest < 0 ? '' : toRfc3339(newest);
  }

  inForce(): number {
    let count = 0;
    for (const { holds } of this.#known.values()) count += holds;
    return count;
  }

  toString(): string {
    return [...this.#known]
      .map(([id, { ms, holds }]) => `${id}\t${ms}\t${holds}\n`)
      .sort()
      .join('');
  }
}

/** Lines by shard, on disk as soon as they are many. */
class Drafts {
  readonly directory: string;
  readonly shards = new Set<string>();
  readonly #held = new Map<string, string[]>();
  #bytes = 0;

  constructor(directory: string) {
    this.directory = directory;
  }

  async add(advisory: Advisory, sequence: number): Promise<void> {
    const { ecosystem, name, id } = advisory;
    const shard = shardOf(ecosystem, name);
    const line = `${name}\t${id}\t${sequence}\t${JSON.stringify(advisory)}\n`;
    const lines = this.#held.get(shard) ?? [];
    this.#held.set(shard, lines);
    lines.push(line);
    this.shards.add(shard);
    this.#bytes += line.length;
    if (this.#bytes > maxDraftBytes) await this.flush();
  }

  async flush(): Promise<void> {
    for (const [shard, lines] of this.#held)
      await appendFile(join(this.directory, `draft-${shard}`), lines.join(''), { mode: 0o600 });
    this.#held.clear();
    this.#bytes = 0;
  }

  async read(shard: string): Promise<Buffer> {
    return this.shards.has(shard) ? readFile(join(this.directory, `draft-${shard}`)) : Buffer.alloc(0);
  }

  drop(shard: string): Promise<void> {
    return rm(join(this.directory, `draft-${shard}`), { force: true });
  }
}

/** Writes every shard of the new generation: what counts of the old one, and what counts of the drafts, sorted. */
async function settle(
  drafts: Drafts,
  ids: Ids,
  readOld: (shard: string) => Buffer,
): Promise<Pick<DatabaseIndex, 'files' | 'ecosystems'>> {
  const files: Record<string, string> = {};
  const ecosystems: Partial<Record<Ecosystem, number>> = {};
  for (const { ecosystem, shard } of allShards()) {
    const lines: string[] = [];
    for (const { name, id, json } of readRows(readOld(shard)))
      if (ids.isUntouched(id)) lines.push(`${name}\t${id}\t0\t${json()}\n`);
    for (const { name, id, sequence, json } of readRows(await drafts.read(shard)))
      if (ids.isTaken(id, sequence)) lines.push(`${name}\t${id}\t0\t${json()}\n`);
    await drafts.drop(shard);
    if (lines.length === 0) continue;
    ecosystems[ecosystem] = (ecosystems[ecosystem] ?? 0) + lines.length;
    files[shard] = await writeWhole(join(drafts.directory, shard), lines.sort().join(''));
  }
  files[idsFile] = await writeWhole(join(drafts.directory, idsFile), ids.toString());
  return { files, ecosystems };
}

function allShards(): readonly { readonly ecosystem: Ecosystem; readonly shard: string }[] {
  const ecosystems = ['npm', 'pypi', 'cargo', 'go', 'maven', 'rubygems', 'packagist'] as const;
  return ecosystems.flatMap((ecosystem) =>
    Array.from({ length: 256 }, (_, at) => ({
      ecosystem,
      shard: `${ecosystem}-${at.toString(16).padStart(2, '0')}.tsv`,
    })),
  );
}

async function writeWhole(path: string, content: string): Promise<string> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return sha256Hex(content);
}
