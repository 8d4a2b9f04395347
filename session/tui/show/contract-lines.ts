import { type Line, span } from '../../screen/line.ts';
import { documentOf } from '../../screen/question/document-of.ts';
import { visible } from '../../screen/visible.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Shape } from '../print/shape.ts';

/** All of the contract that was drafted last, as its review document says it. */
export function contractLines(
  { interactions }: Pick<Snapshot, 'interactions'>,
  shape: Shape,
  columns: number,
): readonly Line[] {
  const asked = interactions.findLast(({ kind }) => kind === 'intent_review_choice');
  if (asked === undefined) return [[span('  no contract was drafted yet', 'dim')]];
  const { title = '' } = asked;
  return [
    [],
    [span('All of the contract: ', 'heading'), span(visible(title), 'strong')],
    ...shape.markdown(documentOf(asked), columns),
  ];
}
