import { canonicalize } from '../../../core/base/canonical.ts';
import { sha256Hex } from '../../../core/base/digest.ts';
import type { TreeEntry } from '../../../workspace/git/tree.ts';
import type { VouchedCache } from '../vouched-cache.ts';
import { type CheckFootprint, judgesSeen } from './check-footprint.ts';

type Entry = Pick<TreeEntry, 'path' | 'mode' | 'object'>;

/** Footprints of this repository, each under the digest of what it depends on. */
export interface KeptFootprints {
  /**
   * Returns the footprint under a key. Returns `undefined` if none exists, if another user wrote it, or if it does
   * not fit the tree. It does not fit if a path that was missing exists there, or a verification input differs.
   */
  find(key: string, entries: readonly Entry[]): Promise<CheckFootprint | undefined>;
  keep(key: string, entries: readonly Entry[], footprint: CheckFootprint): Promise<void>;
  /** Whether there is none since what is under the key fails under the tracer. */
  hasFailed(key: string): Promise<boolean>;
  keepFailed(key: string): Promise<void>;
}

/** Footprints in a cache. */
export function openKeptFootprints(cache: VouchedCache): KeptFootprints {
  return {
    async find(key, entries) {
      const said = await cache.find(key);
      if (said === undefined) return undefined;
      const { judges, ...footprint } = JSON.parse(said) as CheckFootprint & { readonly judges: string };
      const isThere = existingPaths(entries);
      const fits = judges === digestOf(judgesSeen(footprint, entries)) && !footprint.missing.some(isThere);
      return fits ? footprint : undefined;
    },
    keep: (key, entries, footprint) =>
      cache.keep(key, canonicalize({ ...footprint, judges: digestOf(judgesSeen(footprint, entries)) })),
    hasFailed: async (key) => (await cache.find(failedKey(key))) !== undefined,
    keepFailed: (key) => cache.keep(failedKey(key), 'failed'),
  };
}

function failedKey(key: string): string {
  return sha256Hex(`failed ${key}`);
}

/** Digest of what files hold, for keys. */
export function digestOf(entries: readonly Entry[]): string {
  return sha256Hex(canonicalize(entries.map(({ path, mode, object }) => [path, mode, object])));
}

/** Whether a tree has a file or directory at a path. */
export function existingPaths(entries: readonly Entry[]): (path: string) => boolean {
  const paths = new Set<string>();
  for (const { path } of entries)
    for (let at = path.length; at > 0 && !paths.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      paths.add(path.slice(0, at));
  return (path) => paths.has(path);
}
