import { borderAtOrAfter, borderAtOrBefore } from './borders.ts';

/** A word, and what is between words, ends here at the latest: no key looks through megabytes. In UTF-16 units. */
const longest = 65_536;

/** What a move or a kill takes as one: letters and digits, or everything between white space. */
type WordKind = 'letters' | 'solid';

/** Where the word before `at` begins. */
export function wordBefore(text: string, at: number, kind: WordKind): number {
  const least = Math.max(0, at - longest);
  let to = at;
  while (to > least && !isOf(text, to - 1, kind)) to -= 1;
  while (to > least && isOf(text, to - 1, kind)) to -= 1;
  return borderAtOrBefore(text, to);
}

/** Where the word at or behind `at` ends. */
export function wordAfter(text: string, at: number, kind: WordKind): number {
  const most = Math.min(text.length, at + longest);
  let to = at;
  while (to < most && !isOf(text, to, kind)) to += 1;
  while (to < most && isOf(text, to, kind)) to += 1;
  return borderAtOrAfter(text, to);
}

function isOf(text: string, at: number, kind: WordKind): boolean {
  const unit = text.charCodeAt(at);
  if (kind === 'solid') return unit > 0x20 && (unit < 0x80 || !/\s/.test(text.charAt(at)));
  if (unit < 0x80)
    return (
      (unit >= 0x61 && unit <= 0x7a) ||
      (unit >= 0x41 && unit <= 0x5a) ||
      (unit >= 0x30 && unit <= 0x39) ||
      unit === 0x5f
    );
  // Halves of pairs and folded pastes count as letters: a move stops on neither.
  return (unit >= 0xd800 && unit <= 0xdfff) || /[\p{L}\p{N}\p{M}]/u.test(text.charAt(at));
}
