import { namePaths } from '../../core/base/printable.ts';
import type { Interaction } from './interaction.ts';

/** Begins the subject of the question whether a run is to be taken back. */
export const undoSubject = 'undo ';

/** Id of its one inner question. */
export const undoQuestionId = 'undo';

/** What taking back a run, or one Task of it, would touch. */
export interface ListedUndo {
  readonly runId: string;
  /** One of several of the run. */
  readonly task?: string;
  readonly commit: string;
  readonly summary: string;
  readonly files: readonly { readonly path: string; readonly changeType: string }[];
  /** Paths of local changes that the run included: they are part of its commit. */
  readonly included?: readonly string[];
}

const maxListed = 200;
const maxNamed = 5;

/** What a person is asked before anything is taken back. */
export function undoQuestion({
  runId,
  task,
  commit,
  summary,
  files,
  included = [],
}: ListedUndo): Pick<Interaction, 'subject' | 'kind' | 'title' | 'description' | 'prompt' | 'metadata'> {
  const listed = files.slice(0, maxListed).map(({ path, changeType }) => `- ${changeType} \`${path}\``);
  const more = files.length > maxListed ? [`- and ${files.length - maxListed} more`] : [];
  const of = task === undefined ? '' : `task ${task} of `;
  const local =
    included.length === 0
      ? []
      : [
          `The run included your local changes to ${namePaths(included, maxNamed)}. They are part of the commit, and are taken back with it.`,
        ];
  const options = [
    { id: 'undo', label: 'Undo' },
    { id: 'leave', label: 'Leave it' },
  ];
  return {
    subject: `${undoSubject}${runId}${task === undefined ? '' : `/${task}`}`,
    kind: 'request_user_input',
    title: task === undefined ? `Undo: ${summary}` : `Undo ${task}: ${summary}`,
    description: [
      `Taking back ${of}${commit} of run ${runId} touches:`,
      [...listed, ...more].join('\n'),
      ...local,
      'It is a change as any other: evaluated by its gates, then committed.',
    ].join('\n\n'),
    prompt: 'Take it back?',
    metadata: {
      questions: [{ id: undoQuestionId, prompt: 'Take it back?', kind: 'single', options }],
      runId,
      ...(task === undefined ? {} : { task }),
      commit,
      files: files.slice(0, maxListed),
    },
  };
}
