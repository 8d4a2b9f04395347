import { sha256Hex } from '../../core/base/digest.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Base } from '../git/resolve-commit.ts';

/**
 * The patchset of an attempt that changed nothing: no candidate of ours is ever empty, but a record needs to say so.
 */
export function emptyPatch(base: Base): PatchSet {
  return {
    digest: sha256Hex(new Uint8Array()),
    baseCommit: base.commit,
    baseTree: base.tree,
    candidateTree: base.tree,
    format: 'GitDiff',
    files: [],
    diff: new Uint8Array(new SharedArrayBuffer(0)),
  };
}
