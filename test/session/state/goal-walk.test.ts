import t from 'tap';
import type { Command } from '../../../session/state/command.ts';
import type { Fact, Proof } from '../../../session/state/fact.ts';
import {
  exhausted,
  grantedLimit,
  isOpenGoal,
  newBudget,
  type SessionGoal,
} from '../../../session/state/goal.ts';
import type { GivenAnswer } from '../../../session/state/interaction.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { afterKill } from '../../../session/state/restored-state.ts';
import { pendingOf, type SessionState } from '../../../session/state/state.ts';
import { long } from '../../rooms/long.ts';
import { newWorld, type Step, take, type World, walk } from './walk.ts';

const again = { nowMs: 1, newId: () => 'again' };
const local: Proof = { from: 'local' };

/** What a screen, a stranger, a supervisor and a model can do next to a goal. */
function moves({ state }: World): readonly (readonly [name: string, command: Command])[] {
  const turn = state.turn ?? 'none';
  const asked = pendingOf(state)[0]?.id;
  const respond = (given: GivenAnswer): readonly Command[] =>
    asked === undefined ? [] : [{ type: 'respond', id: asked, given, proof: local }];
  const start = (objective: string, proof = local): Command => ({
    type: 'goal-start',
    objective,
    criteria: [],
    proof,
  });
  const moved = (change: Extract<Fact, { type: 'goal-moved' }>['change']): Command => ({
    type: 'goal-moved',
    turn,
    goal: state.goal?.id ?? 'none',
    change,
  });
  const ask = (kind: 'intent_review_choice' | 'post_plan_choice' | 'approval'): Command => ({
    type: 'ask',
    turn,
    subject: 'x',
    kind,
    metadata: {},
  });
  const named = (name: string, commands: readonly Command[]) =>
    commands.map((command) => [name, command] as const);
  return [
    ['x is started', start('x')],
    ['y is started', start('y')],
    ['a stranger starts x', start('x', { from: 'client', controlToken: 'valid' })],
    ['/goal start', { type: 'submit', text: '/goal start', proof: local }],
    ['/goal status', { type: 'submit', text: '/goal status', proof: local }],
    ['/goal cancel', { type: 'submit', text: '/goal cancel', proof: local }],
    ['a stranger cancels', { type: 'goal-cancel', proof: { from: 'client', controlToken: 'valid' } }],
    ['an ordinary message', { type: 'submit', text: 'hello', proof: local }],
    ['its draft is shown', ask('intent_review_choice')],
    ['its plan is shown', ask('post_plan_choice')],
    ['a call is asked about', ask('approval')],
    ...named('execute', respond({ selectedOption: 'execute' })),
    ...named('approve', respond({ selectedOption: 'approve' })),
    ...named('confirm', respond({ selectedOption: 'confirm' })),
    ...named('modify', respond({ selectedOption: 'modify' })),
    ...named('cancel the question', respond({ selectedOption: 'cancel' })),
    ['it is blocked', moved({ status: 'blocked', blockReason: 'no_progress' })],
    ['it is achieved', moved({ status: 'achieved' })],
    ['it worked', moved({ workedMs: 1000 })],
    ['a model was asked', { type: 'used', turn, inputTokens: 60_000, outputTokens: 1 }],
    ['the turn is cancelled', { type: 'cancel', proof: local }],
    ['the turn ends', { type: 'end', turn, end: 'done' }],
    ['the turn fails', { type: 'end', turn, end: 'failed' }],
  ];
}

const known = (goal: SessionGoal | undefined): SessionGoal => goal as SessionGoal;

const checks: Readonly<Record<string, (step: Step) => boolean>> = {
  'what was refused has changed nothing': ({ refusal, before, after }) =>
    refusal === undefined || after.state === before.state,
  'a goal is active only while its turn runs': ({ after: { state } }) =>
    state.goal?.status !== 'active' || state.goal.turn === state.turn,
  'what is blocked has a reason, and nothing else has': ({ after: { state } }) =>
    state.goal === undefined || (state.goal.status === 'blocked') === (state.goal.blockReason !== undefined),
  'no goal begins while another is open': ({ facts, before: { state } }) =>
    !facts.some(({ type }) => type === 'goal-began') || state.goal === undefined || !isOpenGoal(state.goal),
  'a budget grows by an Execute alone': ({ before, after, command }) => {
    const [old, now] = [before.state.goal, after.state.goal];
    if (old === undefined || old.id !== now?.id || old.budget.limit === now.budget.limit) return true;
    return command.type === 'respond' && command.given.selectedOption === 'execute';
  },
  'what was used stays told': ({ before, after }) => {
    const [old, now] = [before.state.goal, after.state.goal];
    if (old === undefined || old.id !== now?.id) return true;
    const [then, used] = [old.budget.used, now.budget.used];
    return used.tokens >= then.tokens && used.workMs >= then.workMs;
  },
  'what was given up or achieved stays so': ({ before, after }) => {
    const [old, now] = [before.state.goal, after.state.goal];
    return old === undefined || isOpenGoal(old) || old.id !== now?.id || old.status === now.status;
  },
  'a person alone lets a blocked goal go on': ({ before, after, command }) => {
    const [old, now] = [before.state.goal, after.state.goal];
    if (old?.status !== 'blocked' || now?.status !== 'active') return true;
    return command.type === 'goal-start' || command.type === 'submit' || command.type === 'respond';
  },
  'its journal says the same of it': ({ after }) => {
    const [opened, ...facts] = after.journal;
    if (opened?.type !== 'opened') return false;
    const { goal } = facts.reduce(reduce, openedState(opened));
    return JSON.stringify(goal) === JSON.stringify(after.state.goal);
  },
  'after a kill nothing is pursued but what waits for a yes': ({ after: { state, nowMs } }) => {
    const restored = afterKill(state, again).reduce(
      (one, fact) => reduce(one, { ...fact, atMs: nowMs }),
      state,
    );
    if (restored.goal?.status !== 'active') return true;
    return pendingOf(restored).some(({ kind }) => kind.endsWith('_choice')) || restored.noteFor !== undefined;
  },
};

long('every sequence of six commands around a goal keeps the invariants', async (t) => {
  const met = new Map<string, number>();
  const seen = new Map<string, number>();
  let steps = 0;
  for (const step of walk(newWorld(), 6, moves)) {
    steps += 1;
    seen.set(step.name, (seen.get(step.name) ?? 0) + (step.refusal === undefined ? 1 : 0));
    for (const [name, holds] of Object.entries(checks)) {
      if (holds(step)) continue;
      met.set(name, (met.get(name) ?? 0) + 1);
      if (met.get(name) === 1) t.comment(`${name}: ${step.name} ${JSON.stringify(step.facts)}`);
    }
  }
  t.comment(`${steps} steps`);
  t.strictSame([...met], [], 'every invariant holds on every step');
  t.ok(steps > 5000, 'there is something to walk');
  const never = [...seen].filter(([, times]) => times === 0).map(([name]) => name);
  t.strictSame(never.sort(), ['a stranger cancels', 'a stranger starts x']);
});

const begun = (): World => take('start', newWorld(), moves(newWorld())[0]?.[1] as Command).after;
const then = (world: World, name: string): World => {
  const [, command] = moves(world).find(([one]) => one === name) ?? [];
  return take(name, world, command as Command).after;
};
const killed = (world: World): SessionState =>
  afterKill(world.state, again).reduce(
    (one, fact) => reduce(one, { ...fact, atMs: world.nowMs }),
    world.state,
  );

t.test('a kill interrupts a goal unless its draft or plan waits for an answer', async (t) => {
  t.match(killed(begun()).goal, { status: 'blocked', blockReason: 'interrupted' });
  const approving = killed(then(begun(), 'a call is asked about'));
  t.match(approving.goal, { status: 'blocked', blockReason: 'interrupted' });
  t.equal(pendingOf(approving).length, 1, 'the question still waits');
  t.equal(killed(then(begun(), 'its draft is shown')).goal?.status, 'active');
  t.equal(killed(then(then(begun(), 'its plan is shown'), 'execute')).goal?.status, 'blocked');
});

t.test('executing a plan grants a full budget on top of what was used', async (t) => {
  const grant = { tokens: 10, costUsd: 1, workMs: 100 };
  const budget = newBudget(grant);
  t.equal(exhausted(budget), undefined);
  const used = (more: object) => ({ ...budget, used: { ...budget.used, ...more } });
  t.equal(exhausted(used({ tokens: 10 })), 'budget_tokens');
  t.equal(exhausted(used({ costUsd: 1 })), 'budget_cost');
  t.equal(exhausted(used({ workMs: 100 })), 'budget_time');
  t.strictSame(grantedLimit(used({ tokens: 25 })), { tokens: 35, costUsd: 1, workMs: 100 });
  t.strictSame(grantedLimit({ ...budget, limit: { ...grant, tokens: 99 } }).tokens, 99, 'never less');
  const world = then(then(then(begun(), 'a model was asked'), 'its plan is shown'), 'execute');
  t.match(known(world.state.goal).budget, { used: { tokens: 60_001 }, limit: { tokens: 160_001 } });
});

t.test('`/goal` commands are not used as the note that a question waits for', async (t) => {
  const asked = then(begun(), 'its draft is shown');
  const [{ id = '' } = {}] = pendingOf(asked.state);
  const modify: Command = { type: 'respond', id, given: { selectedOption: 'modify' }, proof: local };
  const waits = take('modify', asked, modify).after;
  t.equal(waits.state.noteFor, id);
  const told = then(waits, '/goal status').state;
  t.equal(told.noteFor, id, 'the question still waits for its note');
  t.match(told.transcript.at(-1), { kind: 'info_note', content: /^active: x\n- open: x \(no check yet\)/ });
  t.match(then(waits, '/goal cancel').state, { goal: { status: 'cancelled' }, isCancelling: true });
});

t.test('a program can grant only the first budget of a goal, and the user every later one', async (t) => {
  const client = { from: 'client', controlToken: 'valid', tokenDigest: 'd' } as const;
  const attach = {
    type: 'attach',
    clientId: 'bot',
    kind: 'automation',
    tokenDigest: 'd',
    controlToken: 'valid',
  } as const;
  const takes = (world: World, command: Command) => take('it', world, command);
  const executes = (world: World, proof: Proof) => {
    const [{ id = '' } = {}] = pendingOf(world.state);
    return takes(world, { type: 'respond', id, given: { selectedOption: 'execute' }, proof });
  };
  const limitOf = ({ state }: World) => state.goal?.budget.limit.tokens;
  const ran = (world: World) =>
    takes(world, { type: 'run-began', turn: world.state.turn ?? '', runId: 'r' }).after;
  const bot = takes(begun(), attach).after;
  const first = executes(then(then(bot, 'a model was asked'), 'its plan is shown'), client);
  t.equal(limitOf(first.after), 160_001, 'the first is granted');
  const stopped = then(then(ran(first.after), 'it is blocked'), 'its plan is shown');
  const left = executes(stopped, client);
  t.match(
    left.after.state.goal,
    { status: 'active', budget: { limit: { tokens: 160_001 } } },
    'what is left',
  );
  const empty = then(then(then(stopped, 'a model was asked'), 'a model was asked'), 'it is blocked');
  const refused = executes(empty, client);
  t.equal(refused.refusal, 'PERSON_REQUIRED');
  t.equal(pendingOf(refused.after.state).length, 1, 'the question waits for a person');
  t.equal(limitOf(executes(takes(empty, { type: 'reclaim' }).after, local).after), 280_003);
});
