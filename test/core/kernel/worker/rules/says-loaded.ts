import type { RuleFunction } from '../../../../../core/interfaces/rule.ts';

/** Says whether `loaded-ahead.ts` was loaded into its thread. */
export const judge: RuleFunction = ({ args }) => [
  { rule: args[0] ?? '', severity: 'note', message: String('wasLoadedAhead' in globalThis) },
];
