/** The questions about held changes, undo and local changes. */
import { namePaths, printable } from '../../core/base/printable.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import type { GivenAnswer, NewQuestion } from './interaction.ts';
import type { HeldReview } from './work.ts';

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

/** The question about a change before its branch moves. */
export function heldQuestion({ runId, commit, branch, target, patchset, summary }: HeldReview): NewQuestion {
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

/** Prefix of the subject of an undo question. */
export const undoSubject = 'undo ';

/** Id of its one inner question. */
export const undoQuestionId = 'undo';

/** What an undo would change. */
interface ListedUndo {
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

/** The question before an undo. */
export function undoQuestion({
  runId,
  task,
  commit,
  summary,
  files,
  included = [],
}: ListedUndo): NewQuestion {
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

/** Begins the subject of the question about local changes in the way of a run. */
export const localChangesSubject = 'local-changes ';

const questionId = 'localChanges';
const mostPaths = 200;

const options: readonly {
  readonly id: LocalChanges;
  readonly label: string;
  readonly description: string;
}[] = [
  {
    id: 'include',
    label: 'Include them',
    description: 'they become part of the change: evaluated, sealed and committed with it',
  },
  {
    id: 'set-aside',
    label: 'Set them aside',
    description: 'the work starts from the commit; they are merged back after the change is sealed',
  },
  { id: 'stop', label: 'Stop', description: 'nothing runs; commit or stash them first' },
];

/** The question about local changes at paths that a run changes. `runId`: of the draft. */
export function localChangesQuestion(runId: string, dirty: readonly DirtyPath[]): NewQuestion {
  const shown = dirty.slice(0, mostPaths);
  const listed = shown.map(({ path, reason }) => `- \`${printable(path)}\` (${reason})`);
  const more = dirty.length > mostPaths ? [`- and ${dirty.length - mostPaths} more`] : [];
  const prompt = 'What happens to these local changes?';
  return {
    subject: `${localChangesSubject}${runId}`,
    kind: 'request_user_input',
    title: 'Local changes',
    description: `The change would write where you have uncommitted changes:\n\n${[...listed, ...more].join('\n')}`,
    prompt,
    metadata: { questions: [{ id: questionId, prompt, kind: 'single', options }], runId, paths: shown },
  };
}

/** The choice in an answer. Any text that is not a choice counts as `stop`. */
export function localChangesAnswer({ answers }: Pick<GivenAnswer, 'answers'>): LocalChanges {
  const [given] = answers?.[questionId] ?? [];
  return options.find(({ id }) => id === given)?.id ?? 'stop';
}
