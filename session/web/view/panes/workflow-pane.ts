/* The pane Workflow: goal, spec, plans, tasks and gates. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { isBusy } from '../../../screen/status-line.ts';
import {
  gatesIn,
  stepCosts,
  toDoneTask,
  tokenWords,
  toSpan,
  undoMessage,
  usdWords,
} from '../../../screen/words.ts';
import { mayWrite, type Page, refusalWords } from '../../page/page.ts';
import type { Entry, Plan, Seen } from '../../seen.ts';
import { FailedList, fact, h, sentence, text } from '../parts.ts';

/** The session's workflow: the spec, the plan with its steps, and the progress of its Tasks and gates. */
export function WorkflowPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined) return h('p');
  const intent = seen.interactions.findLast((one) => one.kind === 'intent_review_choice');
  const isEmpty = intent === undefined && seen.plans.length === 0;
  const gates = gatesIn(seen);
  return h(
    'div.workflow',
    seen.goal !== undefined && h(Goal, { page, goal: seen.goal }),
    isEmpty &&
      seen.goal === undefined &&
      h(
        'p.empty',
        page.state.standing === 'closed'
          ? 'Nothing is planned yet. The spec and the plan appear here once they exist.'
          : 'Say what shall change: a spec is drafted first, then a plan. Nothing is done before you say so.',
      ),
    intent !== undefined &&
      h(
        'section',
        { 'aria-labelledby': 'intent-head' },
        h('h2', { id: 'intent-head' }, 'Intent'),
        h('p', text(intent.title ?? '')),
        h(
          'p.soft',
          { pending: 'waits for your word', resolved: 'answered', cancelled: 'withdrawn' }[intent.status],
          ` · risk ${intent.metadata.riskLevel ?? 'unknown'}`,
          ` · draft ${intent.metadata.revision ?? 1}`,
        ),
      ),
    seen.plans
      .toReversed()
      .map((plan, at) => h(PlanView, { key: plan.id, plan, status: planWord(plan, seen), isOpen: at === 0 })),
    seen.tasks.length > 0 && h(Tasks, { page, seen }),
    gates.length > 0 &&
      h(
        'section',
        { 'aria-labelledby': 'gates-head' },
        h('h2', { id: 'gates-head' }, 'Gates'),
        h(
          'ul.rows',
          gates.map(({ stage, status, words, failed }) =>
            h(
              'li',
              { key: stage },
              h(`span.tag.tag-${status}`, status),
              h('span', text(stage)),
              h('span.soft', text(words)),
              failed.length > 0 && h(FailedList, { failed }),
            ),
          ),
        ),
      ),
  );
}

const stepWords = { pending: 'to do', in_progress: 'doing', completed: 'done' } as const;

/** A plan that runs without a busy session waits for people. */
function planWord({ status }: Plan, seen: Seen): string {
  return status === 'running' && !isBusy(seen) ? 'waits' : status;
}

function over(plan: string, step: Plan['steps'][number]['status']): string | undefined {
  return step !== 'completed' && /^(?:failed|cancelled)$/.test(plan) ? 'not done' : undefined;
}

interface PlanGiven {
  readonly plan: Plan;
  readonly status: string;
  readonly isOpen: boolean;
}

function PlanView({ plan, status, isOpen }: PlanGiven): VNode {
  const costs = stepCosts(plan);
  const done = plan.steps.filter(({ status }) => status === 'completed').length;
  return h(
    'details.plan-view',
    { open: isOpen },
    h(
      'summary',
      h('h2', 'Plan'),
      h(`span.tag.tag-${status}`, status),
      h('span.title', text(plan.title ?? '')),
      h('span.soft', `${done} of ${plan.steps.length}`),
    ),
    h(
      'ol.steps',
      plan.steps.map((step) =>
        h(
          'li',
          { key: step.id, class: `step-${step.status}` },
          h('span.step', text(step.step)),
          costs.has(step.id) && h('span.cost.soft', costs.get(step.id)),
          h(`span.tag.tag-${step.status}`, over(status, step.status) ?? stepWords[step.status]),
        ),
      ),
    ),
  );
}

function Tasks({ page, seen: { tasks } }: { readonly page: Page; readonly seen: Seen }): VNode {
  const run = runOf(tasks.at(-1));
  const before = tasks.filter((task) => runOf(task) !== run);
  return h(
    'section',
    { 'aria-labelledby': 'tasks-head' },
    h('h2', { id: 'tasks-head' }, 'Tasks'),
    h(TaskRows, { page, tasks: tasks.filter((task) => runOf(task) === run) }),
    before.length > 0 &&
      h(
        'details',
        h('summary', `${before.length} ${before.length === 1 ? 'task' : 'tasks'} of runs before`),
        h(TaskRows, { page, tasks: before }),
      ),
  );
}

function TaskRows({ page, tasks }: Pick<Seen, 'tasks'> & { readonly page: Page }): VNode {
  const { before, seen } = page.state;
  const gone = takenBack([...before.entries, ...(seen?.transcript ?? [])]);
  return h(
    'ul.rows',
    tasks.map((task) => {
      const { id, title, status, details } = task;
      const done = toDoneTask(task);
      const about = aboutTask(task, seen?.plans ?? []);
      return h(
        'li',
        { key: id },
        h(`span.tag.tag-${status}`, status),
        h('span', text(title ?? id)),
        about !== undefined && h('span', text(about)),
        h('span.soft', text(details ?? '')),
        done !== undefined &&
          (gone.has(done.run) || gone.has(id)
            ? h('span.warn', 'taken back')
            : h(UndoButton, { page, message: undoMessage(done), what: done.task })),
      );
    }),
  );
}

function aboutTask({ id, title = id }: Seen['tasks'][number], plans: readonly Plan[]): string | undefined {
  const ofRun = plans.filter((plan) => plan.id.split('/')[0] === id.slice(0, runIdLength));
  return ofRun.flatMap(({ steps }) => steps).findLast((step) => step.id === `${title}.1`)?.step;
}

/** A repair of a run has an id that goes on behind that of the run. */
const runIdLength = 36;

function runOf(task: Seen['tasks'][number] | undefined): string {
  return task?.id.split('/')[0] ?? '';
}

function Goal({ page, goal }: { readonly page: Page; readonly goal: NonNullable<Seen['goal']> }): VNode {
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

/** How a goal that is blocked goes on (docs/guides/goal.md), and whether `/goal start` is what does it. */
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
