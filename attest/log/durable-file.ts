import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomOctets } from '../../core/base/ids.ts';

/** Puts files in place below `directory`, by their path there; how a ledger is written. */
export type FileWriter = (
  directory: string,
  files: ReadonlyMap<string, Uint8Array | string>,
  temporary: string,
) => Promise<void>;

/** Disks take several flushes for one; more open files than this would gain nothing. */
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
  await Promise.all([...changed].map(syncDirectory));
};

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

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
