/**
 * Paths as git stores them: one character per byte (latin1), because a file name need not be UTF-8. Two such names can
 * be the same text, and text cannot always be turned back into the name.
 */

/** Path of a file below `root`, for `node:fs`. */
export function fileAt(root: string, bytePath: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytePath, 'latin1')]);
}

export function toBytePath(path: string): string {
  return Buffer.from(path).toString('latin1');
}

/** For messages and records; bytes that are not UTF-8 become U+FFFD. */
export function toTextPath(bytePath: string): string {
  return Buffer.from(bytePath, 'latin1').toString('utf8');
}

/** True if a text may stand for a name that is not UTF-8. */
export function mayBeLossy(path: string): boolean {
  return path.includes('\uFFFD');
}
