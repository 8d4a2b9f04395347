import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue, warning } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';
import { templateWords as template } from '../profile.ts';

/**
 * The words of `writ spec new` stand where only a person knows what to say. In a draft they are a warning; nobody can
 * have agreed to them, so nothing else may hold them.
 */
export function templateWords(spec: Partly<IntentSpec>): readonly Issue[] {
  const { intent, acceptance, risk, lifecycle } = spec;
  const places: readonly (readonly [path: string, said: unknown, words: string])[] = [
    ['/intent/summary', intent?.summary, template.summary],
    ['/intent/problemStatement', intent?.problemStatement, template.problemStatement],
    ...each('/intent/objectives', intent?.objectives, template.objective),
    ...each('/intent/inScope', intent?.inScope, template.inScope),
    ...each('/acceptance/successCriteria', acceptance?.successCriteria, template.successCriterion),
    ['/risk/rationale', risk?.rationale, template.rationale],
  ];
  const toIssue = lifecycle?.status === 'draft' ? warning : error;
  return places
    .filter(([, said, words]) => said === words)
    .map(([path]) =>
      toIssue('SEMANTIC_TEMPLATE_WORDS', path, 'expected words of your own, found those of the template'),
    );
}

function each(
  path: string,
  said: readonly unknown[] | undefined,
  words: string,
): readonly (readonly [path: string, said: unknown, words: string])[] {
  return (said ?? []).map((one, index) => [`${path}/${index}`, one, words] as const);
}
