import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import type { AnchorTest } from '../../core/contract/rule.ts';
import { isSecretAt, reachOf } from '../../readers/sensitive/secrets/find-secrets.ts';
import { mayBeginSecret } from '../../readers/sensitive/secrets/may-begin-secret.ts';
import { findSecretAnchors } from '../../readers/sensitive/secrets/secret-places.ts';
import { lineMarks } from '../source/line-marks.ts';

const plus = 43;
/** Text that is made of bytes at once, beyond what one anchor needs. */
const moreBytes = 1024;

/**
 * Asked where one of `secretAnchors` stands in the bytes of the diff: whether a secret may begin there, on an added
 * line.
 */
export function secretTest(diff: PatchSet['diff'], file: PatchFile): AnchorTest {
  const markAt = lineMarks(diff, file);
  const buffer = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  let text = '';
  let from = file.start;
  let to = -1;
  return (offset) => {
    if (!mayBeginSecret(diff, offset, file.end) || markAt(offset) !== plus) return false;
    const { before, behind } = reachOf(buffer.readInt32LE(offset));
    const first = Math.max(file.start, offset - before);
    const last = Math.min(file.end, offset + behind);
    if (first < from || last > to) {
      from = first;
      // Anchors stand near each other.
      to = Math.min(file.end, last + moreBytes);
      text = buffer.toString('latin1', from, to);
    }
    const at = offset - from;
    return isSecretAt(text, at) || isSecretAt(text, at - 1);
  };
}

/**
 * Whether added lines of a file may hold a secret: anchors are looked for in the bytes of the diff as it is, so that
 * most files are neither cut into lines nor decoded. Says yes too often, never too rarely.
 */
export function mayHoldSecret({ diff }: Pick<PatchSet, 'diff'>, file: PatchFile): boolean {
  const test = secretTest(diff, file);
  let holds = false;
  findSecretAnchors(diff, file.start, file.end, (offset) => {
    holds = test(offset);
    return holds;
  });
  return holds;
}
