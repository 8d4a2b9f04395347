/* Opens the database of advisories. */
import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { messageOf, WritError } from '../../../core/base/errors.ts';
import { readPlainFile } from '../../../core/base/files.ts';
import {
  type Advisory,
  type AdvisoryDatabase,
  advisoryKey,
  type PackageName,
} from '../../../readers/advisories/advisory.ts';
import type { Ecosystem } from '../../../readers/packages/apply-manifests.ts';

/** Opens the database in `root`; `undefined` if there was never an import. Throws ADVISORIES_CORRUPT. */
export function openAdvisoryDatabase(root: string): AdvisoryDatabase | undefined {
  const found = readIndex(root);
  if (!found) return undefined;
  const { generation, index } = found;
  const { digest, importedAt, newest, advisories, ecosystems } = index;
  return {
    digest,
    importedAt,
    newest,
    advisories,
    ecosystems,
    find(packages) {
      const wanted = new Map<string, Map<string, PackageName>>();
      for (const one of packages) {
        const shard = shardOf(one.ecosystem, one.name);
        const names = wanted.get(shard) ?? new Map<string, PackageName>();
        wanted.set(shard, names.set(one.name, one));
      }
      const answers = new Map<string, Advisory[]>();
      for (const [shard, names] of wanted) {
        for (const { name, json } of readRows(readListed(root, generation, index, shard))) {
          const one = names.get(name);
          if (one === undefined) continue;
          const key = advisoryKey(one);
          const list = answers.get(key) ?? [];
          answers.set(key, list);
          list.push(JSON.parse(json()) as Advisory);
        }
      }
      return answers;
    },
  };
}

/** A line of a shard: name, id, import number and the advisory, between tabs. */
interface Row {
  readonly name: string;
  readonly id: string;
  readonly sequence: string;
  json(): string;
}

export function* readRows(bytes: Buffer): Generator<Row> {
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(10, at);
    const end = feed === -1 ? bytes.length : feed;
    const afterName = bytes.indexOf(9, at);
    const afterId = bytes.indexOf(9, afterName + 1);
    const afterSequence = bytes.indexOf(9, afterId + 1);
    yield {
      name: bytes.toString('utf8', at, afterName),
      id: bytes.toString('latin1', afterName + 1, afterId),
      sequence: bytes.toString('latin1', afterId + 1, afterSequence),
      json: () => bytes.toString('utf8', afterSequence + 1, end),
    };
    at = end + 1;
  }
}

/** What an import leaves behind: which files it made, and what is in them. */
export interface DatabaseIndex {
  readonly format: 1;
  /** SHA-256 over the names and digests of `files`: equal for equal content, whenever it was imported. */
  readonly digest: string;
  /** RFC 3339, when the last import ended. */
  readonly importedAt: string;
  /** RFC 3339, the latest `modified` of all records; empty where there are none. */
  readonly newest: string;
  /** Records in force that are about packages of a known ecosystem. */
  readonly advisories: number;
  /** How many of them are about packages of each ecosystem; what has none is absent. */
  readonly ecosystems: Readonly<Partial<Record<Ecosystem, number>>>;
  /** SHA-256 by file name. */
  readonly files: Readonly<Record<string, string>>;
}

export const currentFile = 'current.json';
export const indexFile = 'index.json';
export const idsFile = 'ids.tsv';
const maxIndexBytes = 4 * 1024 * 1024;
const maxFileBytes = 1024 ** 3;

/** The file of a generation that holds a package's advisories: one of 256 for each ecosystem. */
export function shardOf(ecosystem: Ecosystem, name: string): string {
  return `${ecosystem}-${sha256Hex(name).slice(0, 2)}.tsv`;
}

/** Digest of a whole database. */
export function digestOf(files: Readonly<Record<string, string>>): string {
  return sha256Hex(
    Object.keys(files)
      .sort()
      .map((name) => `${name} ${files[name]}\n`)
      .join(''),
  );
}

/** The current generation and its index; `undefined` if there was never an import. Throws ADVISORIES_CORRUPT. */
export function readIndex(
  root: string,
): { readonly generation: string; readonly index: DatabaseIndex } | undefined {
  const current = readJsonFile(root, [currentFile]) as { readonly generation?: unknown } | undefined;
  if (current === undefined) return undefined;
  refuseForeign(root);
  const { generation } = current;
  if (typeof generation !== 'string' || !/^g-[0-9a-f]{16}$/.test(generation))
    throw corrupt(root, `\`${currentFile}\` names no generation`);
  const index = readJsonFile(root, [generation, indexFile]) as DatabaseIndex | undefined;
  if (index?.format !== 1 || !isTable(index.files) || !isTable(index.ecosystems))
    throw corrupt(root, 'its index is of another form');
  if (digestOf(index.files) !== index.digest)
    throw corrupt(root, 'its index has another digest than it says');
  return { generation, index };
}

/**
 * Reads a file of a generation and checks its digest against the index; empty if the index does not list it. Throws
 * ADVISORIES_CORRUPT.
 */
export function readListed(root: string, generation: string, index: DatabaseIndex, name: string): Buffer {
  if (!Object.hasOwn(index.files, name)) return Buffer.alloc(0);
  const bytes = readFile(root, [generation, name], maxFileBytes);
  if (bytes === undefined) throw corrupt(root, `\`${name}\` is missing`);
  if (sha256Hex(bytes) !== index.files[name])
    throw corrupt(root, `\`${name}\` has another digest than its index says`);
  return bytes;
}

function isTable(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Refuses a database that other users can write to: they could remove an advisory. */
function refuseForeign(root: string): void {
  const found = lstatSync(root);
  const isOwn = process.geteuid === undefined || found.uid === process.geteuid();
  if (!isOwn || (found.mode & 0o022) !== 0) throw corrupt(root, 'others may write to its directory');
}

function readJsonFile(root: string, parts: readonly string[]): unknown {
  const bytes = readFile(root, parts, maxIndexBytes);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw corrupt(root, `\`${parts.at(-1)}\` is not JSON`);
}

function readFile(root: string, parts: readonly string[], maxBytes: number): Buffer | undefined {
  try {
    return readPlainFile({ root, parts }, maxBytes);
  } catch (cause) {
    throw corrupt(root, messageOf(cause), cause);
  }
}

function corrupt(root: string, reason: string, cause?: unknown): WritError {
  return new WritError('ADVISORIES_CORRUPT', {
    message: `the advisory database in \`${root}\` cannot be used: ${reason}`,
    detail: { root, reason },
    cause,
  });
}

/**
 * `writ` below XDG_DATA_HOME (where that is absolute), else `~/.local/share/writ`: what a user keeps for all
 * repositories.
 */
function userDataDir(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.XDG_DATA_HOME ?? '';
  if (isAbsolute(given)) return join(given, 'writ');
  const home = env.HOME ?? '';
  return join(isAbsolute(home) ? home : homedir(), '.local', 'share', 'writ');
}

/** Where this user's advisory database is. */
export function advisoryDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(userDataDir(env), 'advisories');
}
