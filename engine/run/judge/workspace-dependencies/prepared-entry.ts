import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../../core/base/digest.ts';
import { readPlainFile } from '../../../plugin-trust/read-directory.ts';
import type { Voucher } from '../../../store/journal-witness.ts';
import { type DirectoryDigestOptions, digestDirectory } from '../../../vcs/directory-digest.ts';

export interface PreparedDirectory {
  readonly directory: string;
  readonly source: string;
  readonly sha256: string;
}

/** One result of a prepare step as the cache keeps it: `tree/<output>`, and beside it the word for each output. */
export interface PreparedEntry {
  readonly path: string;
  readonly key: string;
  readonly outputs: readonly string[];
  readonly voucher: Voucher;
}

const maxWordBytes = 256;

/**
 * Where an entry lies in its cache. The name is the voucher's own, so that users who cannot believe each other do not
 * take each other's away.
 */
export function entryName(key: string, voucher: Voucher): string {
  return `${key}-${voucher.vouch(key).slice(0, 32)}`;
}

/** Says of one output in an entry that is being filled what it is. */
export async function vouchForOutput(
  { path, key, voucher }: Omit<PreparedEntry, 'outputs'>,
  output: string,
  sha256: string,
): Promise<void> {
  await writeFile(wordFile(path, output), `${sha256} ${voucher.vouch(said(key, output, sha256))}\n`);
}

/**
 * The directories of an entry that all have the digest which the voucher says they were made with; else nothing.
 * Whoever can write to the cache can exchange a tree and what is written beside it, but not vouch for them.
 */
export async function openEntry(
  entry: PreparedEntry,
  limits: Omit<DirectoryDigestOptions, 'within'>,
): Promise<readonly PreparedDirectory[] | undefined> {
  const directories: PreparedDirectory[] = [];
  for (const directory of entry.outputs) {
    const source = join(entry.path, 'tree', directory);
    const recorded = await readWord(entry, directory);
    if (recorded === undefined || !(await isPlain(entry.path, source))) return undefined;
    // Its links were judged where it was made; beside `tree` they have nothing to lead to.
    const digest = await digestDirectory(source, { within: '/', ...limits });
    if ('fault' in digest || digest.sha256 !== recorded) return undefined;
    directories.push({ directory, source, sha256: digest.sha256 });
  }
  return directories;
}

async function readWord({ path, key, voucher }: PreparedEntry, output: string): Promise<string | undefined> {
  const bytes = await readPlainFile(wordFile(path, output), maxWordBytes).catch(() => undefined);
  const [, sha256 = '', mac = ''] = /^([0-9a-f]{64}) ([0-9a-f]{64})\n$/.exec(String(bytes)) ?? [];
  return voucher.vouched(said(key, output, sha256), mac) ? sha256 : undefined;
}

/** Reached through directories alone: what a link leads to may change after it was looked at. */
async function isPlain(entry: string, source: string): Promise<boolean> {
  const [above, real] = await Promise.all([realpath(join(entry, '..')), realpath(source)]).catch(() => []);
  return above !== undefined && real === join(above, source.slice(join(entry, '..').length));
}

function wordFile(entry: string, output: string): string {
  return join(entry, `${sha256Hex(output)}.sha256`);
}

function said(key: string, output: string, sha256: string): string {
  return [key, sha256, output].join(' ');
}
