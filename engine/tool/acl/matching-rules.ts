import type { EffectiveToolRule } from '../../../core/contract/intentspec.gen.ts';
import { type Constraints, readConstraints } from './constraints.ts';

/** A rule that names an invocation, with its constraints; `undefined` where they cannot be used. */
export interface MatchingRule {
  readonly index: number;
  readonly constraints: Constraints | undefined;
}

/** Allow rules name a tool and its actions exactly. */
export function allowRules(
  rules: readonly EffectiveToolRule[],
  tool: string,
  action: string,
): readonly MatchingRule[] {
  return select(rules, (rule) => rule.tool === tool && rule.actions.includes(action));
}

/**
 * Deny rules may name more: `*` and `prefix.*` are taken at their word, since a rule that denies nothing protects
 * nobody.
 */
export function denyRules(
  rules: readonly EffectiveToolRule[],
  tool: string,
  action: string,
): readonly MatchingRule[] {
  return select(
    rules,
    (rule) => covers(rule.tool, tool) && rule.actions.some((given) => covers(given, action)),
  );
}

function select(
  rules: readonly EffectiveToolRule[],
  matches: (rule: EffectiveToolRule) => boolean,
): readonly MatchingRule[] {
  return rules.flatMap((rule, index) =>
    matches(rule) ? [{ index, constraints: readConstraints(rule.constraints) }] : [],
  );
}

function covers(pattern: string, name: string): boolean {
  if (pattern === '*' || pattern === name) return true;
  return pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1));
}
