import type { RuleInput } from '../../../../../core/interfaces/rule.ts';

/** Answers, and leaves something behind. */
export function judge({ args }: RuleInput): readonly never[] {
  const fail = (): never => {
    throw new Error('left behind');
  };
  if (args[0] === 'timer') setTimeout(() => {}, 3_600_000);
  else setImmediate(fail);
  return [];
}
