import { findEncoded } from './find-encoded.ts';
import { findSensitive, latin1Of, type Search } from './find-sensitive.ts';
import type { SensitiveMatch } from './sensitive-match.ts';
import { withoutUnseen } from './unseen.ts';

/** What is removed in one piece: matches that overlap are one, under the first that is the graver. */
export type Region = Pick<SensitiveMatch, 'rule' | 'class' | 'start' | 'end'>;

const gravity: Readonly<Record<SensitiveMatch['class'], number>> = {
  secrets: 4,
  phi: 3,
  pii: 2,
  confidential: 1,
  internal: 0,
};

/** Everything to be removed from bytes, in order and apart from each other. */
export function findRegions(bytes: Uint8Array, search: Search): readonly Region[] {
  const text = latin1Of(bytes);
  const matches = [...findSensitive(bytes, search, text), ...findEncoded(bytes, search, text)];
  const seen = withoutUnseen(bytes);
  if (seen)
    for (const match of findSensitive(seen.bytes, search))
      matches.push({ ...match, start: seen.at(match.start), end: seen.at(match.end - 1) + 1 });
  matches.sort((a, b) => a.start - b.start || b.end - a.end);
  const regions: { rule: string; class: SensitiveMatch['class']; start: number; end: number }[] = [];
  for (const { rule, class: dataClass, start, end } of matches) {
    const last = regions.at(-1);
    if (!last || start >= last.end) {
      regions.push({ rule, class: dataClass, start, end });
      continue;
    }
    last.end = Math.max(last.end, end);
    if (gravity[dataClass] > gravity[last.class]) Object.assign(last, { rule, class: dataClass });
  }
  return regions;
}
