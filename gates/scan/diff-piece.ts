import type { PatchFile } from '../../core/contract/patch-set.ts';

/** A part of a diff that one worker scans: whole file sections, or one part of a section too long for that. */
export interface DiffPiece {
  readonly diff: Uint8Array<SharedArrayBuffer>;
  /**
   * Every file with a part in `diff`, by the byte range that it takes there; absent where its headers are still to be
   * read (`readFiles`).
   */
  readonly files?: readonly PatchFile[];
  /** It begins with the rest of the file that the piece before ended with. */
  readonly isRest?: boolean;
  /** The file that it ends with goes on in the next piece. */
  readonly isCut?: boolean;
  /** Says that nobody reads `diff` any more. */
  readonly release?: () => void;
}

/** What could not be scanned, and where. */
export interface Unscanned {
  readonly path: string;
  readonly line?: number;
  readonly reason: string;
}
