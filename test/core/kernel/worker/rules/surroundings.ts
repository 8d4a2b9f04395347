import type { Finding } from '../../../../../core/interfaces/finding.ts';
import type { RuleInput } from '../../../../../core/interfaces/rule.ts';

/** Says what a rule can see of its surroundings, and leaves a mark in shared memory. */
export function judge({ patch }: RuleInput): readonly Finding[] {
  const { buffer } = patch.diff;
  if (buffer instanceof SharedArrayBuffer) patch.diff[0] = 42;
  const environment = Object.keys(process.env).filter((name) => name !== 'NODE_V8_COVERAGE');
  return [
    {
      rule: 'surroundings',
      severity: 'note',
      message: 'm',
      detail: { environment, shared: buffer instanceof SharedArrayBuffer },
    },
  ];
}
