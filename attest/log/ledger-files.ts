/* The files of a ledger in a repository: durable writes, the writer's lock, and replaced ledgers. */
import { closeSync, constants, fsync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { syncPath } from '../../core/base/files.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { acquireProcessLock, type ProcessLock } from '../../workspace/process/process-lock.ts';
import { checkpointIn } from './checkpoint.ts';
import { type LogVersion, readFrom } from './tiles.ts';

/** Below a repository's common directory: the ledger that all its work trees share. */
export const ledgerPath = join('writ', 'ledger');

/** Puts files in place below `directory`, by their path there; how a ledger is written. */
export type FileWriter = (
  directory: string,
  files: ReadonlyMap<string, Uint8Array | string>,
  temporary: string,
) => Promise<void>;

/** Disks merge parallel flushes, so more open files than this do not help. */
const atOnce = 32;

/**
 * Puts every file in place whole or not at all, in any order, all of them durable when it resolves: drafts in
 * `temporary` (same file system), each flushed and renamed, then every directory that changed flushed once. After a
 * fault some may be in place.
 */
export const writeDurably: FileWriter = async (directory, files, temporary) => {
  const changed = new Set<string>();
  const waiting = files.entries();
  async function writeSome(): Promise<void> {
    for (const [path, bytes] of waiting) {
      const target = join(directory, path);
      const draft = await writeDraft(bytes, temporary);
      const parent = dirname(target);
      const created = changed.has(parent) ? undefined : await mkdir(parent, { recursive: true });
      await rename(draft, target);
      changed.add(parent);
      if (created === undefined) continue;
      for (let above = parent; above.length >= created.length; above = dirname(above))
        changed.add(dirname(above));
    }
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: Math.min(atOnce, files.size) }, () => writeSome()),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  await Promise.all([...changed].map(syncPath));
};

const flush = promisify(fsync);

/**
 * Writes files that nothing refers to yet, straight into their places, and flushes them with their directories, all at
 * a time. After a fault they may be there in part. Writing is synchronous: the thread pool is for the flushes.
 */
export const writeInPlace: FileWriter = async (directory, files) => {
  const opened: number[] = [];
  const changed = new Set<string>();
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  try {
    for (const [path, bytes] of files) {
      const target = join(directory, path);
      const parent = dirname(target);
      const created = changed.has(parent) ? undefined : mkdirSync(parent, { recursive: true });
      changed.add(parent);
      for (
        let above = parent;
        created !== undefined && above.length >= created.length;
        above = dirname(above)
      )
        changed.add(dirname(above));
      const file = openSync(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644);
      opened.push(file);
      writeFileSync(file, bytes);
    }
    for (const folder of changed) opened.push(openSync(folder, 'r'));
    const outcomes = await Promise.allSettled(opened.map((file) => flush(file)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  } finally {
    for (const file of opened) closeSync(file);
  }
};

/** Puts a file that is flushed already into its place in `directory`, durably. */
export async function placeDurably(directory: string, draft: string, path: string): Promise<void> {
  renameSync(join(directory, draft), join(directory, path));
  await syncPath(directory);
}

async function writeDraft(bytes: Uint8Array | string, temporary: string): Promise<string> {
  const draft = join(temporary, randomOctets(8).toString('hex'));
  const file = await open(draft, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

/**
 * Becomes the only writer of the ledger in `directory`, waiting at most `waitMs`, else LEDGER_BUSY. The lock is beside
 * the directory, which may be replaced as a whole.
 */
export async function takeLock(directory: string, clock: Clock, waitMs = 15_000): Promise<ProcessLock> {
  const path = join(`${directory}-lock`, 'writer');
  return acquireProcessLock(path, {
    clock,
    waitMs,
    busy: (holder) =>
      new WritError('LEDGER_BUSY', {
        message:
          holder === undefined
            ? `the lock \`${path}\` of the internal ledger is held`
            : `process ${holder.pid} on \`${holder.host}\` holds the internal ledger`,
        detail: holder === undefined ? { path } : { path, pid: holder.pid, host: holder.host },
        hints: [
          'wait for the other `writ` to end and try again',
          `if no such process exists on any machine, remove \`${path}\``,
        ],
      }),
  });
}

/** A ledger with an unpublished end that another history of its log replaced. */
export interface KeptLedger extends LogVersion {
  readonly directory: string;
}

/** Written into a kept ledger once the runs in its end have an entry in the published log. */
const settledMark = 'settled';

/** Where a ledger is kept that a published one replaces: beside it, named by size and root. */
export function keptLedgerPath(
  ledger: string,
  { size, root }: { readonly size: number; readonly root: Buffer },
): string {
  const name = `${basename(ledger)}-unpublished-${size}-${root.toString('hex').slice(0, 8)}`;
  return join(dirname(ledger), name);
}

/** The kept ledgers with runs that may have no entry in the published log. */
export async function listUnsettledLedgers(ledger: string): Promise<readonly KeptLedger[]> {
  const place = dirname(ledger);
  const names = await readdir(place).catch(() => []);
  const kept: KeptLedger[] = [];
  for (const name of names.filter((one) => one.startsWith(`${basename(ledger)}-unpublished-`)).sort()) {
    const directory = join(place, name);
    const read = readFrom(directory);
    if ((await read(settledMark)) !== undefined) continue;
    const head = checkpointIn(await read('checkpoint'));
    if (head !== undefined) kept.push({ directory, read, head });
  }
  return kept;
}

export async function markSettled({ directory }: KeptLedger): Promise<void> {
  await writeFile(join(directory, settledMark), '');
}
