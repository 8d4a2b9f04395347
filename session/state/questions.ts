/* The questions about held changes, undo and local changes, and the rules for changes that are held for review. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import { namePaths, printable } from '../../core/base/printable.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import type { GivenAnswer, Interaction, InteractionAnswer, NewQuestion } from './interaction.ts';
import type { SessionState } from './state.ts';
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
      'You can reject single hunks with a reason and remove them; writ then checks and seals the rest again.',
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
      'The undo is a change like any other: writ checks it, then commits it.',
    ].join('\n\n'),
    prompt: 'Undo it?',
    metadata: {
      questions: [{ id: undoQuestionId, prompt: 'Undo it?', kind: 'single', options }],
      runId,
      ...(task === undefined ? {} : { task }),
      commit,
      files: files.slice(0, maxListed),
    },
  };
}

/** Begins the subject of the question about an interrupted run. */
export const stoppedSubject = 'stopped ';

const stoppedQuestionId = 'stopped';

type StoppedChoice = 'go-on' | 'drop' | 'later';

/** How far an interrupted run had come. */
export type StoppedAt = 'start' | 'work' | 'seal';

const stoppedAt: Readonly<Record<StoppedAt, string>> = {
  start: 'The run was interrupted before it began; nothing has changed.',
  work: 'The run was interrupted; nothing is committed, and your files are as they were.',
  seal: 'The run was interrupted while it was sealed. Its commit may exist already, so the run can only be finished.',
};

/** The question about an interrupted run. A run that is being sealed cannot be dropped. */
export function stoppedQuestion(runId: string, summary: string, at: StoppedAt): NewQuestion {
  const isSealing = at === 'seal';
  const prompt = isSealing ? 'Finish the run?' : 'Go on with the run, or drop it?';
  const goOn = {
    id: 'go-on',
    label: 'Go on',
    description: 'the run continues where it stopped, up to the commit',
  } as const;
  const drop = {
    id: 'drop',
    label: 'Drop it',
    description: 'the run ends; nothing of it is committed',
  } as const;
  const later = { id: 'later', label: 'Not now', description: '`/plan continue` finishes it later' } as const;
  const options: readonly {
    readonly id: StoppedChoice;
    readonly label: string;
    readonly description: string;
  }[] = isSealing ? [goOn, later] : [goOn, drop];
  return {
    subject: `${stoppedSubject}${runId}`,
    kind: 'request_user_input',
    title: summary,
    description: stoppedAt[at],
    prompt,
    metadata: { questions: [{ id: stoppedQuestionId, prompt, kind: 'single', options }], runId },
  };
}

/** The choice in an answer. */
export function stoppedAnswer({ answers }: Pick<GivenAnswer, 'answers'>): StoppedChoice {
  const [given] = answers?.[stoppedQuestionId] ?? [];
  return given === 'go-on' || given === 'drop' ? given : 'later';
}

/** The pending question about an interrupted run. */
export function stoppedAsked({ interactions }: Pick<SessionState, 'interactions'>): Interaction | undefined {
  return interactions.find(
    ({ status, subject }) => status === 'pending' && subject.startsWith(stoppedSubject),
  );
}

/** The interrupted run that a question is about. */
export function stoppedRunOf({ subject }: Pick<Interaction, 'subject'>): string | undefined {
  return subject.startsWith(stoppedSubject) ? subject.slice(stoppedSubject.length) : undefined;
}

/** Begins the subject of a question that a model asks. */
export const modelSubject = 'question ';

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
    description: 'they become part of the change, and are checked and committed with it',
  },
  {
    id: 'set-aside',
    label: 'Set them aside',
    description: 'the run starts without them; they are merged back after the change is sealed',
  },
  { id: 'stop', label: 'Stop', description: 'nothing runs, so that you can commit or stash them first' },
];

/** The question about local changes at paths that a run changes. `runId`: of the draft. */
export function localChangesQuestion(runId: string, dirty: readonly DirtyPath[]): NewQuestion {
  const shown = dirty.slice(0, mostPaths);
  const listed = shown.map(({ path, reason }) => `- \`${printable(path)}\` (${reason})`);
  const more = dirty.length > mostPaths ? [`- and ${dirty.length - mostPaths} more`] : [];
  const prompt = 'What shall happen to your uncommitted changes?';
  return {
    subject: `${localChangesSubject}${runId}`,
    kind: 'request_user_input',
    title: 'Local changes',
    description: `The change touches files with uncommitted changes:\n\n${[...listed, ...more].join('\n')}`,
    prompt,
    metadata: { questions: [{ id: questionId, prompt, kind: 'single', options }], runId, paths: shown },
  };
}

/** The choice in an answer. Any text that is not a choice counts as `stop`. */
export function localChangesAnswer({ answers }: Pick<GivenAnswer, 'answers'>): LocalChanges {
  const [given] = answers?.[questionId] ?? [];
  return options.find(({ id }) => id === given)?.id ?? 'stop';
}

/** UNSUPPORTED_OPERATION if no change is held. */
export function requireSomethingHeld({ heldRun }: Pick<SessionState, 'heldRun'>): void {
  if (heldRun !== undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'no change waits for a review',
    hints: ['turn reviews on with `/review on`: changes then wait for your review'],
  });
}

/** UNSUPPORTED_OPERATION if a change is held: later work would not build on it. */
export function requireNothingHeld({ held, settings }: Pick<SessionState, 'held' | 'settings'>): void {
  if (held === undefined || settings.context !== 'dev') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'a change waits for your review',
    detail: { run_id: held.runId, branch: held.branch },
    hints: ['decide with `/review`', 'you can ask questions meanwhile: `/ask TEXT`'],
  });
}

/** UNSUPPORTED_OPERATION: runs of a goal build on one another without a person, so that none of them can be held. */
export function requireUnreviewed(state: Pick<SessionState, 'held' | 'settings'>): void {
  requireNothingHeld(state);
  if (state.settings.review === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'a goal cannot run while changes wait for your review',
    hints: ['turn reviews off first: `/review off`'],
  });
}

/** UNSUPPORTED_OPERATION in a session that only reads, and for another change than the one that is held. */
export function requireMayUndo(state: Pick<SessionState, 'held' | 'settings'>, wanted: string): void {
  const { held, settings } = state;
  if (settings.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${settings.context} only reads, so it cannot undo a change`,
      hints: ['switch to `/context dev` first'],
    });
  const [named = ''] = wanted.split('/');
  if (held?.runId.startsWith(named) !== true) requireNothingHeld(state);
}

/** Ids of the hunks of a patchset that a person rejects. */
export function rejectedHunks(
  { reviews }: Pick<SessionState, 'reviews'>,
  patchset: string,
): readonly string[] {
  return reviews.flatMap((one) => (one.patchset === patchset && one.verdict === 'reject' ? [one.hunk] : []));
}

/**
 * Validates an answer about a held change against the verdicts on its hunks. INVALID_INTERACTION_RESPONSE;
 * UNSUPPORTED_OPERATION if the context only reads.
 */
export function validateHeldAnswer(
  state: Pick<SessionState, 'reviews' | 'held' | 'settings'>,
  { subject }: Pick<Interaction, 'subject'>,
  { answers }: Pick<InteractionAnswer, 'answers'>,
): void {
  const { held, settings } = state;
  if (subject.startsWith(undoSubject) && answers?.[undoQuestionId]?.[0] === 'undo') requireWrites(settings);
  if (subject.startsWith(stoppedSubject) && stoppedAnswer({ ...compact({ answers }) }) === 'go-on')
    requireWrites(settings);
  if (!subject.startsWith(heldSubject) || held === undefined) return;
  const [choice] = (answers?.[heldQuestionId] ?? []) as readonly HeldChoice[];
  if (choice === 'discard') return;
  requireWrites(settings);
  const rejected = rejectedHunks(state, held.patchset).length;
  const hunks = rejected === 1 ? 'hunk is' : 'hunks are';
  if (choice === 'keep' && rejected > 0)
    throw refused(`${rejected} ${hunks} rejected: take them out, or keep them before you keep the change`);
  if (choice === 'take-out' && rejected === 0)
    throw refused('no hunk is rejected: say which ones, each with its reason, before you take them out');
}

export function requireWrites({ context }: SessionState['settings']): void {
  if (context === 'dev') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `a session for ${context} only reads, so it cannot move a branch`,
    hints: ['cancel the question, switch to `/context dev`, then ask again'],
  });
}

function refused(message: string): WritError {
  return new WritError('INVALID_INTERACTION_RESPONSE', { message, detail: { question: heldQuestionId } });
}
