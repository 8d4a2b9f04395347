import type { ChangedSource } from '../source/changed-source.ts';
import type { Hit } from './hit.ts';

/** Where a hit was added: its start, else any of its lines, else what else makes it one. */
export function firstAdded(
  source: ChangedSource,
  { start, end = start, also = [] }: Hit,
): number | undefined {
  if (source.isAdded(start)) return start;
  const stop = Math.min(end, source.text.length);
  for (
    let next = source.text.indexOf('\n', start);
    next !== -1 && next + 1 < stop;
    next = source.text.indexOf('\n', next + 1)
  ) {
    if (!source.isAdded(next + 1)) continue;
    const line = source.text.slice(next + 1, stop);
    return next + 1 + Math.max(0, line.search(/[^\s]/));
  }
  return also.find((offset) => source.isAdded(offset));
}
