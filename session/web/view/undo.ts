/* The button that undoes a run or a task, and what notes say about undone ones. */

import type { VNode } from 'preact';
import { isBusy } from '../../screen/turn-time.ts';
import type { Page } from '../page/page.ts';
import { mayWrite } from '../page/standing.ts';
import type { Entry } from '../seen.ts';
import { h, sentence } from './parts.ts';

/** Requests an undo, which a question lists before anything is done, and shows why it was refused. */
export function UndoButton({
  page: { state, acts },
  message,
  what,
}: {
  readonly page: Page;
  readonly message: string;
  readonly what: string;
}): VNode {
  const { seen, standing } = state;
  const isWorking = seen !== undefined && isBusy(seen);
  const refused = isWorking ? '' : undoRefused(seen?.transcript ?? [], message);
  return h(
    'span.undo',
    h(
      'button',
      {
        'aria-label': `Undo ${what}`,
        disabled: isWorking || !mayWrite(standing),
        onClick: () => void acts.say(message),
      },
      'Undo',
    ),
    h('span.bad', { role: 'status' }, sentence(refused)),
  );
}

/** What an undo note says was undone, and by which run; undefined for another note. */
export function readTakenBack({
  kind,
  title,
  content = '',
}: Entry): { readonly by: string; readonly what: string } | undefined {
  if (kind !== 'info_note' || title !== 'Undo') return undefined;
  const [, by, task, run] = /^run (\S+) takes back (?:task (\S+) of )?run (\S+)/.exec(content) ?? [];
  if (by === undefined || run === undefined) return undefined;
  return { by, what: task === undefined ? run : `${run}/${task}` };
}

/** Runs and `RUN/TASK` ids that were undone and not restored. */
export function takenBack(entries: readonly Entry[]): ReadonlySet<string> {
  const gone = new Set<string>();
  const undone = new Map<string, string>();
  for (const entry of entries) {
    const { by, what } = readTakenBack(entry) ?? {};
    if (by === undefined || what === undefined) continue;
    undone.set(by, what);
    gone.add(what);
    gone.delete(undone.get(what) ?? '');
  }
  return gone;
}

/** Why the last undo request was refused; empty if it was not. */
function undoRefused(transcript: readonly Entry[], message: string): string {
  const at = transcript.findLastIndex(({ kind }) => kind === 'user_message');
  if (transcript[at]?.content !== message) return '';
  const note = transcript
    .slice(at)
    .findLast(({ kind, title }) => kind === 'info_note' && (title === 'Undo' || title === 'Failed'));
  return note === undefined || readTakenBack(note) !== undefined ? '' : (note.content ?? '');
}
