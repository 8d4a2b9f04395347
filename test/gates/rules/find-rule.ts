import type { Rule } from '../../../core/interfaces/rule.ts';
import { rules } from '../../../gates/rules.ts';

/** A built-in rule as it is registered. */
export function findRule(id: string): Rule {
  const rule = rules.find((one) => one.id === id);
  if (!rule) throw new Error(`no rule is registered as ${id}`);
  return rule;
}
