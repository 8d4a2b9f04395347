/* The task that evaluates a rule in a worker thread, or loads the modules of rules ahead of their evaluation. */
import type { Finding } from '../../interfaces/finding.ts';
import type { RuleInput } from '../../interfaces/rule.ts';
import { findingsOf, loadRuleModule } from './evaluate-here.ts';

export interface RuleTask {
  readonly id: string;
  /** File URL. */
  readonly module: string;
  readonly input: RuleInput;
}

/** A module that cannot be loaded ahead reports that when its rule is evaluated. */
export async function run(
  task: RuleTask | { readonly preload: readonly string[] },
): Promise<readonly Finding[]> {
  if (!('preload' in task)) return findingsOf(await loadRuleModule(task.module), task.id, task.input);
  for (const module of task.preload) await loadRuleModule(module).catch(() => undefined);
  return [];
}
