import { WritError } from '../../../core/base/errors.ts';
import type { EffectiveIntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { Worker } from '../../../core/contract/worker.ts';

/** CITATIONS_UNSUPPORTED where the contract asks for what the worker has no way to give: nobody is asked in vain. */
export function requireCiting(
  worker: Pick<Worker, 'name' | 'cites'> | undefined,
  { evidence }: Pick<EffectiveIntentSpec, 'evidence'>,
): void {
  const { minCitationsPerDecision: needed } = evidence;
  if (worker?.cites !== false || needed === 0) return;
  throw new WritError('CITATIONS_UNSUPPORTED', {
    message: `\`evidence.minCitationsPerDecision\` is ${needed}, and \`${worker.name}\` works by itself: it has no tool that records a decision with its sources`,
    detail: { field: '/evidence/minCitationsPerDecision', expected: 0, found: needed, worker: worker.name },
    hints: ['choose a provider that writ asks itself, `--provider openai` say, or ask for no citations: 0'],
  });
}
