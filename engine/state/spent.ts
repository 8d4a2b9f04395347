/* Model usage outside of attempts, and the wall clock of a run. */
import type { Clock } from '../../core/base/clock.ts';
import { joinModelWork } from '../../readers/sensitive/model-work.ts';
import type { JournalRecord } from '../../store/parse-journal.ts';
import { modelWorkShape } from '../../store/record/model-work.ts';
import { decimal, fields, listOf, type TypeOf, wholeNumber } from '../../store/shape.ts';
import type { Steps } from './record-collector.ts';

export const spentShape = fields(
  { turns: wholeNumber, tokensUsed: wholeNumber, costUnits: decimal },
  { models: listOf(modelWorkShape) },
);

/** Model usage outside of attempts: drafting a spec or a plan, with its calls. Cost in units of 0.001 USD. */
export type Spent = TypeOf<typeof spentShape>;

export const nothingSpent: Spent = { turns: 0, tokensUsed: 0, costUnits: 0 };

/** Both together. */
export function addSpent(one: Spent, { turns, tokensUsed, costUnits, models = [] }: Spent): Spent {
  const all = joinModelWork([...(one.models ?? []), ...models]);
  return {
    turns: one.turns + turns,
    tokensUsed: one.tokensUsed + tokensUsed,
    costUnits: one.costUnits + costUnits,
    ...(all.length === 0 ? {} : { models: all }),
  };
}

const adviceStep = (asked: number): string => `plan/advice/${asked}`;

/** Records the usage of drafting a plan. A draft repeated after a kill adds another entry. */
export async function keepAdviceSpent(steps: Steps, { turns, tokensUsed, costUnits }: Spent): Promise<void> {
  let asked = 1;
  while (steps.ended(adviceStep(asked))) asked += 1;
  await steps.once(adviceStep(asked), () => ({ turns, tokensUsed, costUnits }));
}

/** Total usage of a run's drafts: the spec's, as given at the start, and the plan's. */
export function draftingSpent(steps: Steps, ofContract: Spent = nothingSpent): Spent {
  let spent = ofContract;
  for (let asked = 1; ; asked += 1) {
    const known = steps.ended(adviceStep(asked));
    if (!known) return spent;
    spent = addSpent(spent, known.answer as Spent);
  }
}

/** Journal marks: the wall clock pauses from `waitingType` until the next `resumedType`. */
export const waitingType = 'waiting-for-people';
export const resumedType = 'resumed';

/** The one budget of a whole spec, replans and time between processes included. */
interface WallClock {
  /** Aborts when the budget is used up. */
  readonly signal: AbortSignal;
  exceeded(): boolean;
  end(): void;
}

/** Continues counting from the time used according to the journal. A system clock that is set back returns no time. */
export function startWallClock(
  limitSeconds: number,
  startedAtMs: number,
  records: readonly JournalRecord[],
  clock: Clock,
): WallClock {
  const usedMs = Math.max(0, latestMs(startedAtMs, records, clock) - startedAtMs - waitedMs(records));
  const leftMs = limitSeconds * 1000 - usedMs;
  const ending = new AbortController();
  const stop = new AbortController();
  let over = leftMs <= 0;
  const end = (): void => {
    over = true;
    ending.abort(new DOMException('the wall clock of the spec ran out', 'TimeoutError'));
  };
  if (over) end();
  else clock.sleep(leftMs, stop.signal).then(end, () => undefined);
  return { signal: ending.signal, exceeded: () => over, end: () => stop.abort() };
}

function latestMs(startedAtMs: number, records: readonly JournalRecord[], clock: Clock): number {
  const last = records.at(-1);
  return Math.max(startedAtMs, last === undefined ? 0 : Date.parse(last.at), clock.now());
}

/** Total time spent waiting for people: from each waiting mark to the next resume. */
function waitedMs(records: readonly JournalRecord[]): number {
  let waited = 0;
  let since: number | undefined;
  for (const { type, at } of records) {
    if (type === waitingType) since ??= Date.parse(at);
    if (type === resumedType && since !== undefined) {
      waited += Math.max(0, Date.parse(at) - since);
      since = undefined;
    }
  }
  return waited;
}
