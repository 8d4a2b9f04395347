import type { Interaction } from '../interaction.ts';
import type { HeldReview } from './held-review.ts';

/** Begins the subject of the question what becomes of a change that is held. */
export const heldSubject = 'held ';

/** Id of its one inner question. */
export const heldQuestionId = 'review';

export type HeldChoice = 'keep' | 'take-out' | 'discard';

function optionsFor(
  meant: string,
): readonly { readonly id: HeldChoice; readonly label: string; readonly description: string }[] {
  return [
    { id: 'keep', label: 'Keep', description: `\`${meant}\` goes on to this commit` },
    {
      id: 'take-out',
      label: 'Take out what is rejected',
      description: `what is left is evaluated and sealed again, and goes on to \`${meant}\``,
    },
    { id: 'discard', label: 'Discard', description: 'nothing of it is committed' },
  ];
}

/** What a person is asked about a change before its branch moves. */
export function heldQuestion({
  runId,
  commit,
  branch,
  target,
  patchset,
  summary,
}: HeldReview): Pick<Interaction, 'subject' | 'kind' | 'title' | 'description' | 'prompt' | 'metadata'> {
  const [held = '', meant = ''] = [branch, target.ref].map((ref) => ref.replace(/^refs\/heads\//, ''));
  return {
    subject: `${heldSubject}${runId}`,
    kind: 'request_user_input',
    title: summary,
    description: [
      `The change passed its gates and is held on \`${held}\`; \`${meant}\` has not moved.`,
      'Reject single hunks, each with its reason, and take them out: what is left is evaluated and sealed again.',
    ].join('\n\n'),
    prompt: 'Keep this change?',
    metadata: {
      questions: [
        {
          id: heldQuestionId,
          prompt: `What goes on to ${meant}?`,
          kind: 'single',
          options: optionsFor(meant),
        },
      ],
      runId,
      commit,
      branch,
      target: target.ref,
      patchset,
    },
  };
}
