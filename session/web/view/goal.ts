/* The goal of a session. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { isBusy } from '../../screen/status-line.ts';
import { tokenWords, toSpan, usdWords } from '../../screen/usage-words.ts';
import { mayWrite, type Page, refusalWords } from '../page/page.ts';
import type { Entry, Seen } from '../seen.ts';
import { fact, h, sentence, text } from './parts.ts';

export function Goal({
  page,
  goal,
}: {
  readonly page: Page;
  readonly goal: NonNullable<Seen['goal']>;
}): VNode {
  const { objective, status, criteria, loops, budget, blockReason } = goal;
  const { acts, state } = page;
  const [isAsking, ask] = useState(false);
  const cancel = async (): Promise<void> => {
    ask(false);
    const answer = await acts.write('goal/cancel', {});
    if (!answer.ok) acts.tell({ text: refusalWords(answer) });
  };
  const goOn = async (): Promise<void> => {
    const answer = await acts.say('/goal start');
    if (!answer.ok) acts.tell({ text: refusalWords(answer) });
  };
  const isOpen = status === 'active' || status === 'blocked';
  const isShut = !mayWrite(state.standing);
  const isWorking = state.seen !== undefined && isBusy(state.seen);
  const way = goalWayOn(goal);
  return h(
    'section',
    { 'aria-labelledby': 'goal-head' },
    h('h2', { id: 'goal-head' }, 'Goal'),
    h('p', text(objective)),
    h(
      'p.soft',
      h(`span.tag.tag-${status}`, status),
      ` after ${loops} ${loops === 1 ? 'run' : 'runs'}`,
      blockReason !== undefined && h('span.warn', ` · ${blockReason.replaceAll('_', ' ')}`),
    ),
    h(
      'ul.rows',
      criteria.map((one) =>
        h(
          'li',
          { key: one.id },
          h(`span.tag.tag-${one.status}`, one.status),
          h('span', text(one.text)),
          one.checks !== undefined && h('span.soft', text(`by ${one.checks.join(', ')}`)),
        ),
      ),
    ),
    h(
      'dl.table',
      fact('tokens', `${tokenWords(budget.tokens.used)} of ${tokenWords(budget.tokens.limit)}`),
      fact('cost', `${usdWords(budget.costUsd.used)} of ${usdWords(budget.costUsd.limit)}`),
      fact('time', `${toSpan(1000 * budget.seconds.used)} of ${toSpan(1000 * budget.seconds.limit)}`),
    ),
    way.words !== '' && h('p.way-on', way.words),
    isOpen &&
      h(
        'p.row',
        way.isStart &&
          h('button', { disabled: isShut || isWorking, onClick: () => void goOn() }, 'Go on with it'),
        !isAsking && h('button', { disabled: isShut, onClick: () => ask(true) }, 'Give the goal up'),
      ),
    isOpen &&
      isAsking &&
      h(
        'div.second-word',
        h(
          'p',
          { role: 'alert' },
          'Its turn is stopped, and it cannot be gone on with. What it has committed stays.',
        ),
        h(
          'p.row',
          h('button.bad', { disabled: isShut, onClick: () => void cancel() }, 'Yes, give it up'),
          h('button', { onClick: () => ask(false) }, 'Keep it'),
        ),
      ),
  );
}

type GoalState = NonNullable<Seen['goal']>;

/** How a goal that is blocked goes on (docs/goal.md), and whether `/goal start` is what does it. */
function goalWayOn({ status, blockReason }: Pick<GoalState, 'status' | 'blockReason'>): {
  readonly words: string;
  readonly isStart: boolean;
} {
  if (status !== 'blocked') return { words: '', isStart: false };
  return ways[blockReason ?? ''] ?? { words: '', isStart: true };
}

const byPlan = {
  words:
    'The plan that waits goes on with it: execute grants one more budget; or say what shall be different.',
  isStart: false,
};

const ways: Readonly<Record<string, { readonly words: string; readonly isStart: boolean }>> = {
  budget_tokens: byPlan,
  budget_cost: byPlan,
  budget_time: byPlan,
  no_progress: byPlan,
  criterion_unverifiable: {
    words:
      'No check says whether it holds. Drafting again may find one; better: give it up, and set one that a check can verify.',
    isStart: true,
  },
  expectation_changed: {
    words:
      'Tests that failed before pass only because they were rewritten. Review the commit; then execute the plan, or say that the tests are to be restored. If the new expectation is right, cancel the goal.',
    isStart: false,
  },
  session_budget: {
    words: 'The session has cost what it may: /budget with more, or off, and then',
    isStart: true,
  },
  awaiting_people: { words: 'A run waits for approvals: writ approve, and then', isStart: true },
};

/* The undo button of a run or task, and the parser of undo notes. */

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

/** Parses an undo note: the undone run or task, and the run that undid it. `undefined` for another note. */
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
