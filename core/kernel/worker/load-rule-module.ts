import type { CandidateSearch, RuleFunction } from '../../contract/rule.ts';
import { toRunnable } from './to-runnable.ts';

/** What a rule's module may export. */
export interface RuleModule {
  readonly judge?: RuleFunction;
  readonly candidates?: CandidateSearch;
}

/** Loads a rule's module by file URL. */
export async function loadRuleModule(module: string): Promise<RuleModule> {
  return import(toRunnable(module));
}
