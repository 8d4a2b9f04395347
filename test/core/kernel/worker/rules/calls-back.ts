import type { RuleModule } from '../../../../../core/interfaces/rule.ts';

/** What the rule does, set by a test of the thread in which it is evaluated. */
export const behaviour: { current: RuleModule } = { current: {} };

/** Does what the test says; fails in any other thread. */
export const judge: RuleModule['judge'] = (input) => behaviour.current.judge?.(input) ?? [];

export const isLinear: RuleModule['isLinear'] = (input) => behaviour.current.isLinear?.(input) ?? true;
