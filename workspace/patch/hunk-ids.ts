import { sha256Hex } from '../../core/base/digest.ts';

/** Names the hunks of one patch: by path and lines, and where two of a file are alike, by which of them it is. */
export function hunkIds(): (path: string, lines: Uint8Array) => string {
  const seen = new Map<string, number>();
  return (path, lines) => {
    const digest = sha256Hex(Buffer.concat([Buffer.from(`${path}\0`), lines]));
    const times = seen.get(digest) ?? 0;
    seen.set(digest, times + 1);
    return (times === 0 ? digest : sha256Hex(`${digest} ${times}`)).slice(0, 32);
  };
}
