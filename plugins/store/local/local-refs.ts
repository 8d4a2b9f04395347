import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../../core/base/durable-file.ts';
import { isWritError, messageOf, WritError } from '../../../core/base/errors.ts';
import { findDirectory, makeDirectories, type Place, readPlainFile } from '../../../core/base/plain-place.ts';
import { isRefName, requireRefName } from '../../../engine/vcs/ref-name.ts';
import { compareBytes } from './version-manifest.ts';

/** Names of versions, one small file each. */
export interface LocalRefs {
  /** `undefined` where the ref does not exist; OBJECT_CORRUPT where its file holds something else. */
  read(ref: string): Promise<string | undefined>;
  /** Durable. Only under the store's lock. */
  write(ref: string, version: string): Promise<void>;
  remove(ref: string): Promise<void>;
  /** Refs under a prefix, sorted by name; all without one. */
  list(prefix?: string): Promise<readonly { readonly ref: string; readonly version: string }[]>;
}

/** No ref has `~` in its name, so `a~` and `a/b~` can stand beside each other where files `a` and `a/b` could not. */
const mark = '~';
const maxRefBytes = 200;

/** The refs below `root`, in its directory `refs`. */
export function openLocalRefs(root: string): LocalRefs {
  const placeOf = (ref: string): Place => ({ root, parts: `${requireRefName(ref)}${mark}`.split('/') });
  const read = async (ref: string): Promise<string | undefined> => {
    const corrupt = (why: string, cause?: unknown): WritError =>
      new WritError('OBJECT_CORRUPT', {
        message: `the stored ref \`${ref}\` cannot be read: ${why}`,
        detail: { ref },
        cause,
      });
    try {
      const bytes = readPlainFile(placeOf(ref), maxRefBytes);
      if (bytes === undefined) return undefined;
      const version = /^([0-9a-f]{64})\n$/.exec(bytes.toString('latin1'))?.[1];
      if (version === undefined) throw corrupt('it names no version');
      return version;
    } catch (fault) {
      throw isWritError(fault) ? fault : corrupt(messageOf(fault), fault);
    }
  };
  return {
    read,
    async write(ref, version) {
      const { parts } = placeOf(ref);
      const dir = await makeDirectories({ root, parts: parts.slice(0, -1) });
      await writeDurably(join(dir, parts.at(-1) ?? ''), `${version}\n`);
    },
    async remove(ref) {
      const { parts } = placeOf(ref);
      const dir = findDirectory({ root, parts: parts.slice(0, -1) });
      if (dir !== undefined) await rm(join(dir, parts.at(-1) ?? ''), { force: true });
    },
    async list(prefix) {
      const found: { ref: string; version: string }[] = [];
      const pending = [prefix === undefined ? 'refs' : requireRefName(prefix.replace(/\/$/, ''))];
      for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
        const dir = findDirectory({ root, parts: at.split('/') });
        if (dir === undefined) continue;
        for (const entry of await readdir(dir, { withFileTypes: true })) {
          const name = `${at}/${entry.name}`;
          if (entry.isDirectory()) pending.push(name);
          const ref = name.slice(0, -mark.length);
          if (!name.endsWith(mark) || !isRefName(ref)) continue;
          const version = await read(ref);
          // Removed while we looked.
          if (version !== undefined) found.push({ ref, version });
        }
      }
      return found.sort((a, b) => compareBytes(a.ref, b.ref));
    },
  };
}
