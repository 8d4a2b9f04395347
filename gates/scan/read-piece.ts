import type { PatchFile } from '../../core/contract/patch-set.ts';
import { countAdded } from './count-added.ts';
import type { Unscanned } from './diff-piece.ts';
import { findUnread } from './find-unread.ts';
import { markLines } from './mark-lines.ts';
import { measureFiles } from './marked-hunks.ts';
import { readFiles } from './read-files.ts';

/** What a piece of a diff says of itself. */
export interface ReadPiece {
  readonly files: readonly PatchFile[];
  readonly addedLines: number;
  /** Parts of a diff of somebody else's that no reader of hunks sees. */
  readonly unread: readonly Unscanned[];
}

/**
 * Reads every line of a piece once. Files that are not `known` are read from its headers, and then what no reader of
 * hunks sees is told of; `isCut`: the last file goes on elsewhere.
 */
export function readPiece(
  diff: Uint8Array,
  known: readonly PatchFile[] | undefined,
  isCut: boolean,
): ReadPiece {
  const marks = markLines(diff);
  const files = known ?? readFiles(diff, marks);
  const measured = measureFiles(diff, files, marks);
  return {
    files,
    addedLines: countAdded(diff, files, measured),
    unread: known ? [] : findUnread(diff, files, measured, isCut),
  };
}
