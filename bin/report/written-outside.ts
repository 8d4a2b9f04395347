import type { CheckRecord, StageRecord } from '../../core/contract/stage.ts';
import { toCount } from './quantities.ts';

const mostNamed = 3;

/** What a check wrote outside the write scope, in a line; `undefined` where nothing. Names are untrusted. */
export function toWrittenOutside({ wroteOutside }: CheckRecord): string | undefined {
  if (wroteOutside === undefined) return undefined;
  const { count, atLeast, paths } = wroteOutside;
  const named = paths
    .slice(0, mostNamed)
    .map(({ path, was }) => (was === 'changed' ? `${path} (changed)` : path));
  const more = count > named.length ? ', …' : '';
  return `wrote ${atLeast ? 'at least ' : ''}${toCount(count, 'file')} outside the scope: ${named.join(', ')}${more}`;
}

/** Every check that did, in order. */
export function wroteOutside(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap((check) => {
      const words = toWrittenOutside(check);
      return words === undefined ? [] : [[check.id, words] as const];
    }),
  );
}
