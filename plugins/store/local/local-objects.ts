import { renameSync, writeFileSync } from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../core/base/digest.ts';
import { absent } from '../../../core/base/durable-file.ts';
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import { findDirectory, makeDirectories, readPlainFile } from '../../../core/base/plain-place.ts';

/** Bytes under their SHA-256, as `objects/ab/cdef…` below a root. */
export interface LocalObjects {
  /** Writes into `drafts` without making it part of the store. Answers the SHA-256. */
  draft(bytes: Uint8Array, drafts: string): string;
  /** Makes all drafts durable. */
  settle(drafts: string): Promise<void>;
  /** Makes every draft, settled before, part of the store. Only under the store's lock. */
  adopt(drafts: string): Promise<void>;
  /** OBJECT_CORRUPT, naming the object, where it is missing, has other content, or more than `maxBytes`. */
  read(sha256: string, maxBytes: number): Promise<Buffer>;
  /** Deletes every object that is not `live`. Only under the store's lock. */
  sweep(live: ReadonlySet<string>): Promise<void>;
}

/** The objects below `root`. */
export function openLocalObjects(root: string): LocalObjects {
  const fanOf = (sha256: string): string => sha256.slice(0, 2);
  return {
    draft(bytes, drafts) {
      const sha256 = sha256Hex(bytes);
      writeFileSync(join(drafts, sha256), bytes, { mode: 0o600 });
      return sha256;
    },
    async settle(drafts) {
      const names = (await readdir(drafts)).values();
      const settleNext = async (): Promise<void> => {
        for (const name of names) await syncPath(join(drafts, name));
      };
      // The file system settles many in one go when they are asked for at the same time.
      await Promise.all(Array.from({ length: 16 }, settleNext));
    },
    async adopt(drafts) {
      const fans = new Set<string>();
      for (const sha256 of await readdir(drafts)) {
        const fan = fanOf(sha256);
        const dir = fans.has(fan)
          ? join(root, 'objects', fan)
          : await makeDirectories({ root, parts: ['objects', fan] });
        fans.add(fan);
        // Over whatever is there: should that be damaged, it is whole again.
        renameSync(join(drafts, sha256), join(dir, sha256.slice(2)));
      }
      for (const dir of ['', ...fans]) await syncPath(join(root, 'objects', dir));
    },
    async read(sha256, maxBytes) {
      const corrupt = (message: string, found: string, cause?: unknown): WritError =>
        new WritError('OBJECT_CORRUPT', {
          message: `the stored object \`${sha256}\` ${message}`,
          detail: { object: sha256, expected: sha256, found },
          cause,
        });
      try {
        const place = { root, parts: ['objects', fanOf(sha256), sha256.slice(2)] };
        const bytes = readPlainFile(place, maxBytes);
        if (bytes === undefined) throw corrupt('is missing', 'nothing');
        const found = sha256Hex(bytes);
        if (found !== sha256) throw corrupt('has other content', found);
        return bytes;
      } catch (fault) {
        if (isWritError(fault)) throw fault;
        throw corrupt(`cannot be read: ${messageOf(fault)}`, 'unreadable', fault);
      }
    },
    async sweep(live) {
      const objects = findDirectory({ root, parts: ['objects'] });
      if (objects === undefined) return;
      for (const fan of await readdir(objects)) {
        if (!/^[0-9a-f]{2}$/.test(fan)) continue;
        const dir = findDirectory({ root: objects, parts: [fan] });
        for (const rest of dir === undefined ? [] : await readdir(dir))
          if (!live.has(fan + rest)) await rm(join(objects, fan, rest), { force: true });
      }
    },
  };
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(absent);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
