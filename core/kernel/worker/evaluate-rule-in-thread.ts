/* The task that evaluates a rule in a worker thread. */
import type { Finding } from '../../interfaces/finding.ts';
import type { RuleInput } from '../../interfaces/rule.ts';
import { findingsOf, loadRuleModule } from './load-rule-module.ts';

export interface RuleTask {
  readonly id: string;
  /** File URL. */
  readonly module: string;
  readonly input: RuleInput;
}

export async function run({ id, module, input }: RuleTask): Promise<readonly Finding[]> {
  return findingsOf(await loadRuleModule(module), id, input);
}
