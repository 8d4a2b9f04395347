/* Stores the content of carried paths between checks. */
import { lstat, mkdir, mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { CarriedPath } from '../../../core/interfaces/stage.ts';
import { digestDirectory } from '../../../workspace/git/directory-digest.ts';
import { removeTree } from '../../../workspace/git/torn-paths.ts';
import { copyTree } from '../workspace-dependencies/shared-directory.ts';
import { applyCarried, carryLimits } from './apply-carried.ts';

/** Copies of carried paths, each stored under the digest of its listing. No check can see this directory. */
export interface CarryStore {
  /** Copies a check's output at these paths; paths that cannot be carried are listed in `refused`. */
  take(workspace: string, paths: readonly string[]): Promise<HandedOn>;
  /** Copies the carried paths into a fresh export that tracks no files there. */
  lay(carried: readonly CarriedPath[], workspace: string): Promise<void>;
  /**
   * Returns whether all carried content is present, byte for byte. Called for content that an earlier process stored.
   */
  holds(carried: readonly CarriedPath[]): Promise<boolean>;
}

export interface HandedOn {
  readonly carried: readonly CarriedPath[];
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Parents of a carried path are listed too. */
const digestLimits = { within: '/', maxEntries: 2 * carryLimits.entries, maxBytes: carryLimits.bytes };

/** The store of one epoch at `root`, which is made when it is first written to. */
export function openCarryStore(root: string): CarryStore {
  const verified = new Set<string>();
  return {
    async take(workspace, paths) {
      await mkdir(root, { recursive: true, mode: 0o700 });
      const carried: CarriedPath[] = [];
      const refused: { path: string; reason: string }[] = [];
      for (const path of paths) {
        const draft = await mkdtemp(join(root, 'draft-'));
        try {
          const taken = await applyCarried(workspace, path, draft);
          if (taken === 'absent') continue;
          const found = taken === 'copied' ? await digestDirectory(draft, digestLimits) : taken;
          if ('fault' in found) {
            refused.push({ path, reason: found.fault });
            continue;
          }
          const { sha256, entries, bytes } = found;
          const place = join(root, sha256);
          if (!(await exists(place))) await rename(draft, place);
          verified.add(sha256);
          carried.push({ path, sha256, entries, bytes });
        } finally {
          await removeTree(draft);
        }
      }
      return { carried, refused };
    },
    async lay(carried, workspace) {
      for (const { path, sha256 } of carried) await copyTree(join(root, sha256), workspace, path);
    },
    async holds(carried) {
      for (const { sha256 } of carried) {
        if (verified.has(sha256)) continue;
        const place = join(root, sha256);
        if (!(await exists(place))) return false;
        const found = await digestDirectory(place, digestLimits);
        if ('fault' in found || found.sha256 !== sha256) return false;
        verified.add(sha256);
      }
      return true;
    },
  };
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
