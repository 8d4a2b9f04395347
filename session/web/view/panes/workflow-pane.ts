import type { VNode } from 'preact';
import { toDoneTask, undoMessage } from '../../../screen/words/done-tasks.ts';
import { gatesIn } from '../../../screen/words/gates-in.ts';
import { isBusy } from '../../../screen/words/is-busy.ts';
import { stepCosts } from '../../../screen/words/step-costs.ts';
import type { Page } from '../../page/page.ts';
import type { Plan, Seen } from '../../seen.ts';
import { takenBack } from '../../words/taken-back.ts';
import { FailedList } from '../failed-list.ts';
import { Goal } from '../goal.ts';
import { h } from '../h.ts';
import { text } from '../text.ts';
import { UndoButton } from '../undo-button.ts';

/** What is to come of the session: the contract, the plan with its steps, its Tasks and gates as they go. */
export function WorkflowPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined) return h('p', null);
  const intent = seen.interactions.findLast(({ kind }) => kind === 'intent_review_choice');
  const isEmpty = intent === undefined && seen.plans.length === 0;
  const gates = gatesIn(seen);
  return h(
    'div',
    { class: 'workflow' },
    seen.goal !== undefined && h(Goal, { page, goal: seen.goal }),
    isEmpty &&
      seen.goal === undefined &&
      h(
        'p',
        { class: 'empty' },
        page.state.standing === 'closed'
          ? 'Nothing is planned yet. The contract and the plan appear here once they exist.'
          : 'Say what shall change: a contract is drafted first, then a plan. Nothing is done before you say so.',
      ),
    intent !== undefined &&
      h(
        'section',
        { 'aria-labelledby': 'intent-head' },
        h('h2', { id: 'intent-head' }, 'Intent'),
        h('p', null, text(intent.title ?? '')),
        h(
          'p',
          { class: 'soft' },
          { pending: 'waits for your word', resolved: 'answered', cancelled: 'withdrawn' }[intent.status],
          ` · risk ${String(intent.metadata.riskLevel ?? 'unknown')}`,
          ` · draft ${String(intent.metadata.revision ?? 1)}`,
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
          'ul',
          { class: 'rows' },
          gates.map(({ stage, status, words, failed }) =>
            h(
              'li',
              { key: stage },
              h('span', { class: `tag tag-${status}` }, status),
              h('span', null, text(stage)),
              status !== 'skipped' && h('span', { class: 'soft' }, text(words)),
              failed.length > 0 && h(FailedList, { failed }),
            ),
          ),
        ),
      ),
  );
}

const stepWords = { pending: 'to do', in_progress: 'doing', completed: 'done' } as const;

/** A plan that runs while nobody works on it waits for people. */
function planWord({ status }: Plan, seen: Seen): string {
  return status === 'running' && !isBusy(seen) ? 'waits' : status;
}

/** Of a plan that is over, nothing is to be done or being done. */
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
    'details',
    { class: 'plan-view', open: isOpen },
    h(
      'summary',
      null,
      h('h2', null, 'Plan'),
      h('span', { class: `tag tag-${status}` }, status),
      h('span', { class: 'title' }, text(plan.title ?? '')),
      h('span', { class: 'soft' }, `${done} of ${plan.steps.length}`),
    ),
    h(
      'ol',
      { class: 'steps' },
      plan.steps.map((step) =>
        h(
          'li',
          { key: step.id, class: `step-${step.status}` },
          h('span', { class: 'step' }, text(step.step)),
          costs.has(step.id) && h('span', { class: 'cost soft' }, costs.get(step.id)),
          h('span', { class: `tag tag-${step.status}` }, over(status, step.status) ?? stepWords[step.status]),
        ),
      ),
    ),
  );
}

/** Tasks of the last run in the order in which they are worked; those of runs before it by themselves. */
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
        null,
        h('summary', null, `${before.length} ${before.length === 1 ? 'task' : 'tasks'} of runs before`),
        h(TaskRows, { page, tasks: before }),
      ),
  );
}

function TaskRows({ page, tasks }: Pick<Seen, 'tasks'> & { readonly page: Page }): VNode {
  const { before, seen } = page.state;
  const gone = takenBack([...before.entries, ...(seen?.transcript ?? [])]);
  return h(
    'ul',
    { class: 'rows' },
    tasks.map((task) => {
      const { id, title, status, details } = task;
      const done = toDoneTask(task);
      const about = aboutTask(task, seen?.plans ?? []);
      return h(
        'li',
        { key: id },
        h('span', { class: `tag tag-${status}` }, status),
        h('span', null, text(title ?? id)),
        about !== undefined && h('span', null, text(about)),
        h('span', { class: 'soft' }, text(details ?? '')),
        done !== undefined &&
          (gone.has(done.run) || gone.has(id)
            ? h('span', { class: 'warn' }, 'taken back')
            : h(UndoButton, { page, message: undoMessage(done), what: done.task })),
      );
    }),
  );
}

/** What a Task is for: the first of its steps, as its plan has them. */
function aboutTask({ id, title = id }: Seen['tasks'][number], plans: readonly Plan[]): string | undefined {
  const ofRun = plans.filter((plan) => plan.id.split('/')[0] === id.slice(0, runIdLength));
  return ofRun.flatMap(({ steps }) => steps).findLast((step) => step.id === `${title}.1`)?.step;
}

/** A repair of a run has an id that goes on behind that of the run. */
const runIdLength = 36;

function runOf(task: Seen['tasks'][number] | undefined): string {
  return task?.id.split('/')[0] ?? '';
}
