import type { PatchFile, PatchSet } from '../../core/contract/patch-set.ts';
import type { AnchorTest } from '../../core/contract/rule.ts';
import { isSecretAt } from '../../readers/sensitive/secrets/find-secrets.ts';
import { lineMarks } from '../source/line-marks.ts';

const plus = 43;
const space = 32;
/** Read before an anchor, and behind it if removed lines are between it and its value. */
const maxBefore = 2048;
const maxBelow = 8 * 1024;
/** Behind the line of a name, removed lines that may stand before its value begin within so many characters. */
const maxGap = 256;

/**
 * Whether a secret may begin at an offset of the diff that holds one of `secretHeads`, on an added line or on a line of
 * context above one. Says yes too often, never too rarely.
 */
export function secretTest(diff: PatchSet['diff'], file: PatchFile): AnchorTest {
  const markAt = lineMarks(diff, file);
  let made: string | undefined;
  return (offset) => {
    made ??= Buffer.from(diff.buffer, diff.byteOffset + file.start, file.end - file.start).toString('latin1');
    const text = made;
    const at = offset - file.start;
    const mark = markAt(offset);
    if (mark !== plus && mark !== space) return false;
    if (isSecretAt(text, at)) return true;
    // Lines of the base between an anchor and what follows it in the candidate are left out.
    const feed = text.indexOf('\n', at);
    if (feed < 0 || !text.slice(feed, mark === plus ? feed + 2 : feed + maxGap).includes('\n-')) return false;
    const ahead = text.slice(at, feed + maxBelow);
    if (ahead.length > maxBelow && ahead.startsWith('\n-', ahead.lastIndexOf('\n'))) return true;
    const before = text.slice(Math.max(0, at - maxBefore), at);
    return isSecretAt(before + ahead.replace(/\n-[^\n]*/g, ''), before.length);
  };
}
