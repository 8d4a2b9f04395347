import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import type { DraftEdit } from './edited-draft.ts';
import type { KeptDraft } from './kept-draft.ts';

/**
 * Why a draft waits for a person, a line each; nothing where it goes on without one (resolutions, `writ run
 * --request`).
 */
export function whyItWaits(
  risk: IntentSpec['risk']['level'],
  { questions }: Pick<KeptDraft, 'questions'>,
  edits: readonly DraftEdit[] = [],
): readonly string[] {
  return [
    ...(risk === 'low' ? [] : [`its risk is ${risk}`]),
    ...(edits.length === 0 ? [] : ['it was edited by hand']),
    ...questions.map((question) => `to be decided: ${question}`),
  ];
}
