import type { DraftedIntent } from '../../engine/run/draft/draft-intent.ts';
import { type DraftEdit, editSentence } from '../../engine/run/draft/edited-draft.ts';
import { reviewDocument } from '../../engine/spec/review.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import { scopeSentences } from './scope-sentences.ts';

/** What of a draft a person reads. */
export type ReviewedDraft = Pick<DraftedIntent, 'contract' | 'scope' | 'repairs' | 'questions'> &
  Partial<Pick<DraftedIntent, 'lacks'>> & {
    /** What the change is held to beside the contract's own words, and the ids of the checks that verify it. */
    readonly criteria?: readonly { readonly text: string; readonly checks: readonly string[] }[];
  };

/** A drafted contract for a person to read before confirming: Markdown, with what was repaired, edited and is asked. */
export function draftReview(
  { contract, scope, repairs, questions, lacks = [], criteria = [] }: ReviewedDraft,
  edits: readonly DraftEdit[] = [],
): string {
  const { document, effective, digest, warnings } = contract;
  const review = reviewDocument({
    document,
    effective,
    digest,
    issues: warnings,
    scope: scopeSentences(scope),
  });
  return [
    review.trimEnd(),
    ...listed(
      '## What the goal is held to',
      criteria.map(({ text, checks }) => `${text} (verified by ${checks.join(', ')})`),
    ),
    ...listed('## Made stricter than drafted', repairs),
    ...listed('## Edited by hand since it was drafted', edits.map(editSentence)),
    ...listed('## To be decided by confirming', questions),
    ...listed('## Missing here, and needed before it can be committed', lacks),
    '',
  ].join('\n');
}

function listed(title: string, entries: readonly string[]): readonly string[] {
  if (entries.length === 0) return [];
  return ['', title, '', ...entries.map((entry) => `- ${markdownText(entry)}`)];
}
