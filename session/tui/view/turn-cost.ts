import { type Line, span } from '../../screen/line.ts';
import { costWords, tokenWords } from '../../screen/usage-words.ts';
import { toSpan } from '../../screen/words/to-span.ts';
import { type TurnTime, workedSeconds } from '../../screen/words/turn-time.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** What a turn that has just ended came to; nothing of one that goes on, and of one in which no model was asked. */
export function turnCost(
  before: TurnTime | undefined,
  after: TurnTime | undefined,
  { usage }: Pick<Snapshot, 'usage'>,
  nowMs: number,
): readonly Line[] {
  if (before === undefined || after !== undefined || usage?.turn === undefined) return [];
  const { turn } = usage;
  const words = [
    `worked ${toSpan(1000 * workedSeconds(before, nowMs))}`,
    `${tokenWords(turn.inputTokens + turn.outputTokens)} tokens`,
    costWords(turn),
  ];
  return [[span(`· ${words.join(' · ')}`, 'dim')]];
}
