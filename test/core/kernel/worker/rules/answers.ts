import type { RuleFunction } from '../../../../../core/interfaces/rule.ts';

/** One note per argument, so that a test sees who was asked what. */
export const judge: RuleFunction = ({ args }) => [
  { rule: args[0] ?? '', severity: 'note', message: `asked with ${args.length} arguments` },
];
