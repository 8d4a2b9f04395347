import { type Line, span } from '../../screen/line.ts';
import { type Asked, wordOf } from '../../screen/question/asked.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Shape } from './shape.ts';

const most = 40;

/**
 * What the model last proposed for the file that an approval is about: nobody can judge a change that he does not see.
 * Nothing where it is about something else, or no change of that file is known.
 */
export function askedChange(
  { kind, metadata }: Pick<Asked, 'kind' | 'metadata'>,
  { patchsets }: Pick<Snapshot, 'patchsets'>,
  shape: Pick<Shape, 'diff'>,
  columns: number,
): readonly Line[] {
  if (kind !== 'approval' && kind !== 'sandbox_approval') return [];
  const subject = wordOf(metadata.subject);
  const changed = patchsets
    .filter(({ status }) => status === 'proposed')
    .toReversed()
    .flatMap(({ changes }) => changes)
    .find(
      ({ path }) => subject === `workspace.fs write ${path}` || subject === `workspace.fs delete ${path}`,
    );
  if (changed?.diff === undefined || changed.diff === '') return [];
  const lines = shape.diff(changed.diff, columns);
  const left = lines.length - most;
  return [
    [span('  what it would change:', 'dim')],
    ...lines.slice(0, most),
    ...(left > 0 ? [[span(`  and ${left} more lines: /diff has them`, 'dim')]] : []),
  ];
}
