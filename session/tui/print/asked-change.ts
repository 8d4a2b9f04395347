import { type Line, span } from '../../screen/line.ts';
import type { Asked } from '../../screen/question/asked.ts';
import { changeAsked } from '../../screen/question/change-asked.ts';
import { visible } from '../../screen/visible.ts';
import type { Shape } from './shape.ts';

const most = 40;

/** What a use that an approval is about would write: nobody can judge a change that he does not see. */
export function askedChange(
  asked: Pick<Asked, 'kind' | 'metadata'>,
  shape: Pick<Shape, 'diff'>,
  columns: number,
): readonly Line[] {
  const change = changeAsked(asked);
  if (change === undefined) return [];
  const { diff, note, unshown } = change;
  if (diff === '') return [[span(`  what it would change: ${visible(note)}`, 'dim')]];
  const lines = shape.diff(diff, columns);
  const left = Math.max(0, lines.length - most) + unshown;
  return [
    [span('  what it would change:', 'dim')],
    ...lines.slice(0, most),
    ...(left > 0 ? [[span(`  and ${left} more lines: /diff has them`, 'dim')]] : []),
  ];
}
