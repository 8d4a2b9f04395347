import './judge-rule-in-thread.ts';
import { loadRuleModule } from './load-rule-module.ts';

/**
 * The thread has started, and what it will be asked is loaded into it. A rule that cannot be loaded says so when it is
 * asked.
 */
export async function run(modules: readonly string[]): Promise<void> {
  for (const module of modules) await loadRuleModule(module).catch(() => undefined);
}
