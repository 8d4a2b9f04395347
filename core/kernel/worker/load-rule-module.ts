import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CandidateSearch, RuleFunction } from '../../contract/rule.ts';

/** What a rule's module may export. */
export interface RuleModule {
  readonly judge?: RuleFunction;
  readonly candidates?: CandidateSearch;
}

/** Loads a rule's module by file URL. */
export async function loadRuleModule(module: string): Promise<RuleModule> {
  return import(toRunnable(module));
}

/** Rules name their module as written (`./rule.ts`); in the compiled package it stands beside as `.js`. */
function toRunnable(module: string): string {
  if (!module.endsWith('.ts') || existsSync(fileURLToPath(module))) return module;
  return `${module.slice(0, -'.ts'.length)}.js`;
}
