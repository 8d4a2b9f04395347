import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import { isSecretAt, nextAnchor } from '../../core/privacy/secrets/find-secrets.ts';

const feed = 10;
const plus = 43;

/**
 * Whether added lines of a file may hold a secret: anchors are looked for in the bytes of the diff as it is, so that most files are
 * neither cut into lines nor decoded. Says yes too often, never too rarely.
 */
export function mayHoldSecret({ diff }: Pick<PatchSet, 'diff'>, file: PatchFile): boolean {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  let text: string | undefined;
  let lineEnd = -1;
  let isAdded = false;
  for (let at = nextAnchor(diff, file.start, file.end); at >= 0; ) {
    if (at > lineEnd) {
      isAdded = bytes[bytes.lastIndexOf(feed, at) + 1] === plus;
      const end = bytes.indexOf(feed, at);
      lineEnd = end < 0 ? file.end : end;
    }
    if (isAdded) {
      text ??= bytes.toString('latin1', file.start, file.end);
      if (isSecretAt(text, at - file.start)) return true;
    }
    // An anchor may begin with the line feed before an added line: what is behind it is looked at there.
    at = nextAnchor(diff, isAdded ? at + 1 : Math.max(at + 1, Math.min(lineEnd, file.end)), file.end);
  }
  return false;
}
