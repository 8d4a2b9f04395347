import type { OpenRun } from './attempt.ts';
import type { DecisionInput } from './decision-input.ts';

/** People are asked about candidates alone. */
export function nobodyYet({ contract }: OpenRun): DecisionInput['human'] {
  const { required, minApprovers } = contract.effective.risk.humanInLoop;
  return { required, needed: minApprovers, approved: 0, rejected: 0 };
}
