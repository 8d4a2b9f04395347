import './evaluate-rule-in-thread.ts';
import { loadRuleModule } from './load-rule-module.ts';

/** Starts the thread and preloads its rule modules. A rule that cannot be loaded reports that when it is evaluated. */
export async function run(modules: readonly string[]): Promise<void> {
  for (const module of modules) await loadRuleModule(module).catch(() => undefined);
}
