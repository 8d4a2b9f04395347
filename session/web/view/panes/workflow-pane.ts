/* The pane Workflow. */
import type { VNode } from 'preact';
import { isBusy } from '../../../screen/status-line.ts';
import { stepCosts } from '../../../screen/usage-words.ts';
import { gatesIn, toDoneTask, undoMessage } from '../../../screen/work-words.ts';
import type { Page } from '../../page/page.ts';
import type { Plan, Seen } from '../../seen.ts';
import { Goal, takenBack, UndoButton } from '../goal.ts';
import { FailedList, h, text } from '../parts.ts';

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
          ? 'Nothing is planned yet. The contract and the plan appear here once they exist.'
          : 'Say what shall change: a contract is drafted first, then a plan. Nothing is done before you say so.',
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
              status !== 'skipped' && h('span.soft', text(words)),
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
