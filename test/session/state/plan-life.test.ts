import t from 'tap';
import type { Fact, TurnEnd } from '../../../session/state/fact.ts';
import type { Interaction } from '../../../session/state/interaction.ts';
import { reduce } from '../../../session/state/reduce.ts';
import type { SessionState } from '../../../session/state/state.ts';
import type { SessionPlan } from '../../../session/state/work.ts';
import { newWorld } from './walk.ts';

function after(state: SessionState, ...facts: readonly Fact[]): SessionState {
  return facts.reduce((sofar, fact, at) => reduce(sofar, { ...fact, atMs: 1000 + at }), state);
}

const began: Fact = { type: 'turn-began', turn: 'turn' };
const ends = (end: TurnEnd): Fact => ({ type: 'turn-ended', turn: 'turn', end });

const planned = (status: SessionPlan['status'], id = 'run/1'): Fact => ({
  type: 'planned',
  plan: {
    id,
    status,
    steps: [
      { id: 'a', step: 'look', status: 'completed', task: 'task-1' },
      { id: 'b', step: 'mend', status: status === 'running' ? 'in_progress' : 'pending', task: 'task-1' },
    ],
    run: { runId: 'run', revision: 1, advice: [], repair: { attempt: 0, limit: 3 } },
  },
});

const ofModel: Fact = {
  type: 'planned',
  plan: {
    id: 'run/1/model',
    title: 'Steps of the model',
    status: 'running',
    steps: [{ id: '1', step: 'look', status: 'in_progress' }],
  },
};

const asked = (id = 'q'): Fact => {
  const interaction: Interaction = {
    id,
    kind: 'post_plan_choice',
    subject: 'choice run/1',
    status: 'pending',
    metadata: { planId: 'run/1' },
    requestedAtMs: 0,
  };
  return { type: 'asked', interaction };
};

const answered = (option: string, id = 'q'): Fact => ({
  type: 'answered',
  id,
  answer: { option },
  by: { kind: 'tui' },
});

const statusesOf = ({ plans }: SessionState) => plans.map(({ status }) => status);

t.test('the end of a turn settles its plans and closes open proposals', async (t) => {
  const { state } = newWorld();
  const running = after(state, began, planned('proposed'), asked(), answered('execute'), planned('running'));
  const working = after(running, ofModel);
  t.strictSame(statusesOf(working), ['running', 'running']);
  for (const [end, ...expected] of [
    ['cancelled', 'cancelled', 'cancelled'],
    ['failed', 'failed', 'failed'],
    ['done', 'cancelled', 'completed'],
  ] as const) {
    const over = after(working, ends(end));
    t.strictSame(statusesOf(over), expected, end);
    t.strictSame(
      over.plans.map(({ steps }) => steps.map(({ status }) => status)),
      [['completed', 'pending'], ['in_progress']],
      'what was being done is to be done; what a model said of itself is what it said',
    );
  }
  for (const status of ['completed', 'failed'] as const) {
    const settled = after(working, planned(status));
    t.strictSame(statusesOf(settled), [status, status], 'with the plan goes what its model told');
    t.strictSame(statusesOf(after(settled, ends('decided'))), [status, status]);
  }
  const left = after(state, began, planned('proposed'), asked(), ends('cancelled'));
  t.strictSame(statusesOf(left), ['cancelled'], 'nobody is asked about it any more');
});

t.test('a plan whose run waits for approvals outlives its turn', async (t) => {
  const { state } = newWorld();
  const outcome = { runId: 'run', decision: 'waiting', why: 'waits' } as const;
  const waiting = after(
    state,
    began,
    { type: 'run-began', runId: 'run' },
    planned('running'),
    ofModel,
    { type: 'noted', id: 'n', text: 'waits', outcome },
    ends('done'),
  );
  t.strictSame(statusesOf(waiting), ['running', 'completed']);
});

t.test('a declined plan is cancelled until it is proposed again', async (t) => {
  const { state } = newWorld();
  const proposed = after(state, began, planned('proposed'), asked());
  for (const option of ['modify', 'cancel']) {
    const declined = after(proposed, answered(option));
    t.strictSame(statusesOf(declined), ['cancelled'], option);
    t.strictSame(statusesOf(after(declined, asked('again'))), ['proposed'], 'a goal that goes on asks again');
    t.notOk(declined.plans[0]?.run?.hasBegun, 'it was never run');
  }
  const ran = after(proposed, answered('execute'), planned('running'), planned('failed'));
  t.ok(ran.plans[0]?.run?.hasBegun);
  t.strictSame(statusesOf(after(ran, asked('again'), answered('cancel', 'again'))), ['failed']);
});
