import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

/** A human loop needs somebody in it: `required` wants at least one approver. */
export function humanLoopApprovers(spec: Partly<IntentSpec>): readonly Issue[] {
  const { required, minApprovers } = spec.risk?.humanInLoop ?? {};
  if (required !== true || minApprovers !== 0) return [];
  return [
    error(
      'SEMANTIC_HUMAN_LOOP_APPROVERS',
      '/risk/humanInLoop/minApprovers',
      'expected at least 1 where a human loop is required, found 0',
    ),
  ];
}
