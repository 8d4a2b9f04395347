import type { Interaction } from './interaction.ts';

/** Begins the subject of the question whether a run is to be taken back. */
export const undoSubject = 'undo ';

/** Id of its one inner question. */
export const undoQuestionId = 'undo';

/** What taking back a run would touch. */
export interface ListedUndo {
  readonly runId: string;
  readonly commit: string;
  readonly summary: string;
  readonly files: readonly { readonly path: string; readonly changeType: string }[];
}

const maxListed = 200;

/** What a person is asked before anything is taken back. */
export function undoQuestion({
  runId,
  commit,
  summary,
  files,
}: ListedUndo): Pick<Interaction, 'subject' | 'kind' | 'title' | 'description' | 'prompt' | 'metadata'> {
  const listed = files.slice(0, maxListed).map(({ path, changeType }) => `- ${changeType} \`${path}\``);
  const more = files.length > maxListed ? [`- and ${files.length - maxListed} more`] : [];
  const options = [
    { id: 'undo', label: 'Undo' },
    { id: 'leave', label: 'Leave it' },
  ];
  return {
    subject: `${undoSubject}${runId}`,
    kind: 'request_user_input',
    title: `Undo: ${summary}`,
    description: [
      `Taking back ${commit} of run ${runId} touches:`,
      [...listed, ...more].join('\n'),
      'It is a change as any other: judged by its gates, then committed.',
    ].join('\n\n'),
    prompt: 'Take it back?',
    metadata: {
      questions: [{ id: undoQuestionId, prompt: 'Take it back?', kind: 'single', options }],
      runId,
      commit,
      files: files.slice(0, maxListed),
    },
  };
}
