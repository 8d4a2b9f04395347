import type { DecisionInput } from '../record/decision-input.ts';

/** Under the signers at the policy commit, whoever else must approve (resolutions, Config). */
const forGoverning = 2;

/**
 * How many distinct people must approve a candidate: at least one where the contract asks for anybody, two for what
 * governs writ.
 */
export function approversNeeded(
  { required, needed }: Pick<DecisionInput['human'], 'required' | 'needed'>,
  touchesGoverning: boolean,
): number {
  return Math.max(required ? Math.max(1, needed) : 0, touchesGoverning ? forGoverning : 0);
}
