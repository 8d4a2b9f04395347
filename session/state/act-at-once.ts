import { changeBudget } from './change-budget.ts';
import { decideCut } from './decide-cut.ts';
import type { Decided, Moment } from './decided.ts';
import type { Speaker } from './fact.ts';
import { changeSettings } from './settings/change-settings.ts';
import type { AtOnce, Spoken } from './slash/spoken.ts';
import type { SessionState } from './state.ts';

const kinds = { set: true, budget: true, cut: true } as const satisfies Readonly<
  Record<AtOnce['kind'], true>
>;

export function isAtOnce(spoken: Spoken): spoken is AtOnce {
  return Object.hasOwn(kinds, spoken.kind);
}

/**
 * Does what was said there and then: no model is asked, and whatever turn runs goes on. Each command refuses for itself
 * what does not go while one runs.
 */
export function actAtOnce(state: SessionState, said: AtOnce, by: Speaker, moment: Moment): Decided {
  switch (said.kind) {
    case 'set':
      return changeSettings(state, said.change, by, moment);
    case 'cut':
      return decideCut(state, said.how, moment);
    case 'budget':
      return changeBudget(state, said.limitUsd, by, moment);
  }
}
