import type { OpenRun } from '../state/attempt.ts';
import type { DecisionInput } from './decision-input.ts';

/** People are asked about candidates alone. */
export function nobodyYet({ identity: { contract } }: Pick<OpenRun, 'identity'>): DecisionInput['human'] {
  const { required, minApprovers } = contract.effective.risk.humanInLoop;
  return { required, needed: minApprovers, approved: 0, rejected: 0 };
}
