import { printable } from '../../core/base/printable.ts';
import type { DirtyPath } from '../../workspace/git/dirty-paths.ts';
import type { LocalChanges } from '../../workspace/git/set-aside.ts';
import type { GivenAnswer, Interaction } from './interaction.ts';

/** Begins the subject of the question about local changes in the way of a run. */
export const localChangesSubject = 'local-changes ';

const questionId = 'localChanges';
const maxListed = 200;

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

/** Asks what happens to local changes at paths that a run touches. `runId`: of the draft. */
export function localChangesQuestion(
  runId: string,
  dirty: readonly DirtyPath[],
): Pick<Interaction, 'subject' | 'kind' | 'title' | 'description' | 'prompt' | 'metadata'> {
  const shown = dirty.slice(0, maxListed);
  const listed = shown.map(({ path, reason }) => `- \`${printable(path)}\` (${reason})`);
  const more = dirty.length > maxListed ? [`- and ${dirty.length - maxListed} more`] : [];
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

/** The choice in an answer; anything that is no choice is `stop`. */
export function localChangesAnswer({ answers }: Pick<GivenAnswer, 'answers'>): LocalChanges {
  const [given] = answers?.[questionId] ?? [];
  return options.find(({ id }) => id === given)?.id ?? 'stop';
}
