import { decimal, fields, wholeNumber } from '../../store/shape.ts';
import type { Steps } from './steps.ts';

/** What asking a model came to outside of attempts: for a contract, for a plan. Units of 0.001 USD. */
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

/** Writes down what asking for a plan came to; asked again after a kill, it is one more. */
export async function keepAdviceSpent(steps: Steps, { turns, tokensUsed, costUnits }: Spent): Promise<void> {
  let asked = 1;
  while (steps.ended(adviceStep(asked))) asked += 1;
  await steps.once(adviceStep(asked), () => ({ turns, tokensUsed, costUnits }));
}

/** What a run has spent on drafts: on its contract, as it was told at its start, and on its plan. */
export function draftingSpent(steps: Steps, ofContract: Spent = nothingSpent): Spent {
  let spent = ofContract;
  for (let asked = 1; ; asked += 1) {
    const known = steps.ended(adviceStep(asked));
    if (!known) return spent;
    spent = addSpent(spent, known.answer as Spent);
  }
}
