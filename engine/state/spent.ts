import { decimal, fields, wholeNumber } from '../../store/shape.ts';
import type { Steps } from './steps.ts';

/** Model usage outside of attempts: drafting a spec or a plan. Cost in units of 0.001 USD. */
export interface Spent {
  readonly turns: number;
  readonly tokensUsed: number;
  readonly costUnits: number;
}

export const nothingSpent: Spent = { turns: 0, tokensUsed: 0, costUnits: 0 };

export const spentShape = fields({ turns: wholeNumber, tokensUsed: wholeNumber, costUnits: decimal });

/** Both together. */
export function addSpent(one: Spent, { turns, tokensUsed, costUnits }: Spent): Spent {
  return {
    turns: one.turns + turns,
    tokensUsed: one.tokensUsed + tokensUsed,
    costUnits: one.costUnits + costUnits,
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
