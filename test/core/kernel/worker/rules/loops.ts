import type { RuleInput } from '../../../../../core/interfaces/rule.ts';

/** Never ends; what began is marked in shared memory. */
export function judge({ patch }: RuleInput): never {
  patch.diff[0] = 42;
  for (;;);
}
