import type { DecisionInput } from '../record/decision-input.ts';

/**
 * A change to the files that govern writ needs two approvers among the signers at the policy commit, whatever the
 * spec requires.
 */
const forGoverning = 2;

/**
 * Returns how many distinct people must approve a candidate: at least one if the spec requires approval. A change to
 * the files that govern writ needs two.
 */
export function approversNeeded(
  { required, needed }: Pick<DecisionInput['human'], 'required' | 'needed'>,
  touchesGoverning: boolean,
): number {
  return Math.max(required ? Math.max(1, needed) : 0, touchesGoverning ? forGoverning : 0);
}
