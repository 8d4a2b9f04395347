import t from 'tap';
import type { Command, Report } from '../../../session/state/command.ts';
import type { SessionGoal } from '../../../session/state/goal.ts';
import { stoppedQuestion } from '../../../session/state/questions.ts';
import { reduce } from '../../../session/state/reduce.ts';
import { afterKill, stoppedWords, unsettledRun } from '../../../session/state/restored-state.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { kept } from '../../../session/state/state.ts';
import { shortBudget, shortCap } from '../../../session/state/usage.ts';
import type { RunOutcome } from '../../../session/state/work.ts';
import { newWorld, take, type World } from './walk.ts';

const local = { from: 'local' } as const;
const said = (text: string): Command => ({ type: 'submit', text, proof: local });
const answered = (id: string, given: Extract<Command, { type: 'respond' }>['given']): Command => ({
  type: 'respond',
  id,
  given,
  proof: local,
});

/** Commands one after the other, each of which must be accepted. */
function taken(world: World, ...commands: readonly Command[]): World {
  return commands.reduce((before, command) => {
    const { after, refusal } = take('', before, command);
    if (refusal !== undefined) throw new Error(`${command.type}: ${refusal}`);
    return after;
  }, world);
}

type TurnReport = Report extends infer One
  ? One extends { turn: string }
    ? Omit<One, 'turn'>
    : never
  : never;

/** A report of the turn that runs. */
const told = (world: World, report: TurnReport): World =>
  taken(world, { turn: world.state.turn ?? '', ...report } as Report);

const pending = ({ state }: World) => state.interactions.find(({ status }) => status === 'pending');

function asking(kind: 'post_plan_choice' | 'intent_review_choice' | 'request_user_input', metadata = {}) {
  return told(taken(newWorld(), said('do it')), { type: 'ask', subject: 'plan', kind, metadata });
}

t.test('a message that is too long or has control characters is refused before it is recorded', async (t) => {
  for (const text of ['x'.repeat(8001), `/ask ${'x'.repeat(8001)}`, 'a bell \u0007']) {
    const { refusal, after } = take('', newWorld(), said(text));
    t.equal(refusal, 'REQUEST_INVALID', text.slice(0, 8));
    t.strictSame(after.state.transcript, []);
  }
  t.equal(take('', newWorld(), said(`/ask ${'x'.repeat(8000)}`)).refusal, undefined);
});

t.test(
  'a greeting is accepted; a draft note with control characters is refused before it is recorded',
  async (t) => {
    for (const text of ['hi', '/ask no', ' x '])
      t.equal(take('', newWorld(), said(text)).refusal, undefined, text);
    const asked = asking('intent_review_choice');
    const id = pending(asked)?.id ?? '';
    const bell = 'a bell \u0007';
    const refused = take('', asked, answered(id, { selectedOption: 'modify', note: bell }));
    t.equal(refused.refusal, 'REQUEST_INVALID');
    t.ok(pending(refused.after), 'the draft is still asked about');
    const waiting = taken(asked, answered(id, { selectedOption: 'modify' }));
    const told2 = take('', waiting, said(bell));
    t.equal(told2.refusal, 'REQUEST_INVALID');
    t.equal(told2.after.state.noteFor, id, 'its note is still waited for');
  },
);

t.test('a stopped turn names `/plan continue` for its run unless the run was decided', async (t) => {
  const begun = told(taken(newWorld(), said('do it')), { type: 'run-began', runId: 'run-1' });
  t.match(stoppedWords(begun.state), '`/plan continue`');
  const moment = { nowMs: 1, newId: () => 'after' };
  t.strictSame(afterKill(begun.state, moment), [{ type: 'turn-ended', turn: 'i2', end: 'failed' }]);
  const outcome = { runId: 'run-1', decision: 'abandon', why: 'it failed' } as const;
  const over = told(begun, { type: 'noted', id: 'n', text: 'it failed', outcome });
  t.equal(stoppedWords(over.state), '');
  t.equal(stoppedWords(newWorld().state), '');
});

/** A session after a kill, whose turn worked on a run. */
function killedIn(begun: World): World {
  const facts = afterKill(begun.state, { nowMs: 1, newId: () => 'new' });
  return { ...begun, state: facts.reduce((one, fact) => reduce(one, { ...fact, atMs: 1 }), begun.state) };
}

t.test('the last run stays open until the conversation knows its end', async (t) => {
  const begun = told(taken(newWorld(), said('do it')), { type: 'run-began', runId: 'run-1' });
  const killed = killedIn(begun);
  t.equal(unsettledRun(killed.state), 'run-1');
  const ended = (decision: RunOutcome['decision']) =>
    unsettledRun(reduce(killed.state, { ...outcomeNote('run-1', decision), atMs: 2 }));
  t.strictSame((['commit', 'abandon', 'rollback', 'none', 'waiting'] as const).map(ended), [
    undefined,
    undefined,
    undefined,
    undefined,
    'run-1',
  ]);
  const goal = { id: 'g', status: 'blocked', run: 'run-1' } as SessionGoal;
  t.equal(unsettledRun({ ...killed.state, goal }), undefined, 'a goal goes on with its run');
  t.equal(unsettledRun({ ...killed.state, goal: { ...goal, status: 'cancelled' } }), 'run-1');
  t.equal(
    unsettledRun({ ...killed.state, held: { runId: 'run-1' } as never }),
    undefined,
    'its review goes on',
  );
});

function outcomeNote(runId: string, decision: RunOutcome['decision']) {
  return { type: 'noted', id: 'n', text: 'so it is', outcome: { runId, decision, why: 'so it is' } } as const;
}

t.test('the last run is looked at once: never in a busy session, and never twice', async (t) => {
  const begun = told(taken(newWorld(), said('do it')), { type: 'run-began', runId: 'run-1' });
  const looks = (world: World) => take('', world, { type: 'catch-up' });
  t.strictSame(looks(begun).wants, [], 'a turn runs');
  t.strictSame(looks(newWorld()).wants, [], 'there is no run');
  const first = looks(killedIn(begun));
  t.match(first.wants, [{ type: 'turn', spoken: { kind: 'catch-up' } }]);
  t.strictSame(looks(first.after).wants, [], 'it is being looked at');
  const asked = told(first.after, { type: 'ask', ...stoppedQuestion('run-1', 's', 'work') });
  const again = looks(asked);
  t.match(again.facts, [{ type: 'withdrawn' }, { type: 'turn-ended' }, { type: 'turn-began' }]);
  t.equal(pending(again.after), undefined, 'it ended while the question waited');
  const goesOn = take('', asked, said('/plan continue 5'));
  t.match(goesOn.facts.slice(0, 2), [{ type: 'withdrawn' }, { type: 'turn-ended' }]);
  t.match(goesOn.wants, [{ type: 'turn', spoken: { kind: 'go-on', limit: 5 } }]);
  t.equal(take('', begun, said('/plan continue')).refusal, 'CONTROLLER_CONFLICT');
  t.equal(take('', newWorld(), said('/plan continue')).refusal, 'UNSUPPORTED_OPERATION');
  const id = pending(asked)?.id ?? '';
  const answers = { stopped: ['go-on'] };
  const step = take('', asked, answered(id, { answers }));
  t.equal(take('', step.after, answered(id, { answers })).refusal, 'INTERACTION_NOT_ACTIVE');
});

t.test('a session that only reads drops a run, and does not go on with it', async (t) => {
  const begun = told(taken(newWorld(), said('do it')), { type: 'run-began', runId: 'run-1' });
  const reads = taken(killedIn(begun), said('/context review'));
  t.equal(take('', reads, said('/plan continue')).refusal, 'UNSUPPORTED_OPERATION');
  const asked = told(take('', reads, { type: 'catch-up' }).after, {
    type: 'ask',
    ...stoppedQuestion('run-1', 's', 'work'),
  });
  const answer = (one: string) =>
    take('', asked, answered(pending(asked)?.id ?? '', { answers: { stopped: [one] } })).refusal;
  t.strictSame(['go-on', 'drop'].map(answer), ['UNSUPPORTED_OPERATION', undefined]);
});

t.test('what a killed run asked is withdrawn, since the run asks it again', async (t) => {
  const begun = told(taken(newWorld(), said('do it')), { type: 'run-began', runId: 'run-1' });
  const left = (subject: string, kind: 'approval' | 'request_user_input') =>
    pending(killedIn(told(begun, { type: 'ask', subject, kind, metadata: {} })))?.subject;
  t.equal(left('consent x', 'approval'), undefined);
  t.equal(left('question x', 'request_user_input'), undefined);
  t.equal(left('local-changes x', 'request_user_input'), 'local-changes x');
});

t.test('a plan that was executed, and whose run had not begun, is not lost', async (t) => {
  const run = { runId: 'draft', revision: 1, advice: [], repair: { attempt: 0, limit: 3 } };
  const plan = { id: 'draft/1', status: 'proposed', steps: [], run } as const;
  const planned = told(taken(newWorld(), said('do it')), { type: 'planned', plan });
  t.equal(unsettledRun(killedIn(planned).state), undefined, 'nobody was asked yet');
  const asked = told(planned, {
    type: 'ask',
    subject: 'choice draft/1',
    kind: 'post_plan_choice',
    metadata: { planId: 'draft/1' },
  });
  const yes = taken(asked, answered(pending(asked)?.id ?? '', { selectedOption: 'execute' }));
  t.equal(unsettledRun(killedIn(yes).state), 'draft');
  const no = taken(asked, answered(pending(asked)?.id ?? '', { selectedOption: 'cancel' }));
  t.equal(unsettledRun(killedIn(no).state), undefined);
  const began = told(yes, { type: 'run-began', runId: 'draft' });
  const failed = told(began, { type: 'planned', plan: { ...plan, status: 'running' } });
  const over = told(
    told(failed, { type: 'planned', plan: { ...plan, status: 'failed' } }),
    outcomeNote('draft', 'abandon'),
  );
  const repair = { ...plan, id: 'draft/2', run: { ...run, revision: 2, repair: { attempt: 1, limit: 3 } } };
  t.equal(unsettledRun(killedIn(over).state), undefined);
  t.equal(unsettledRun(killedIn(told(over, { type: 'planned', plan: repair })).state), 'new', 'a repair');
});

const again = { nowMs: 1, newId: () => 'again' };

t.test('the network choice toggles on each answer, and the question stays open', async (t) => {
  let world = asking('post_plan_choice', { networkAccess: 'deny' });
  for (const expected of ['allow', 'deny', 'allow']) {
    const { wants, after } = take(
      '',
      world,
      answered(pending(world)?.id ?? '', { selectedOption: 'network' }),
    );
    t.strictSame(wants, [], 'nothing is executed by that');
    t.match(pending(after)?.metadata, { networkAccess: expected });
    t.equal(after.state.status, 'awaiting_interaction');
    world = after;
  }
  const { wants, after } = take('', world, answered(pending(world)?.id ?? '', { selectedOption: 'execute' }));
  t.match(wants, [{ type: 'answer', subject: 'plan', option: 'execute' }]);
  t.equal(after.state.status, 'thinking');
});

t.test('a session in review context cannot open the network by an answer', async (t) => {
  const first = taken(newWorld({ context: 'review' }), said('look'));
  const world = told(first, { type: 'ask', subject: 'plan', kind: 'post_plan_choice', metadata: {} });
  const { refusal, after } = take(
    '',
    world,
    answered(pending(world)?.id ?? '', { selectedOption: 'network' }),
  );
  t.equal(refusal, 'INVALID_INTERACTION_RESPONSE');
  t.ok(pending(after));
});

t.test('modify carries its note, or the next message becomes the note', async (t) => {
  const world = asking('intent_review_choice');
  const id = pending(world)?.id ?? '';
  const at = take('', world, answered(id, { selectedOption: 'modify', note: 'smaller' }));
  t.match(at.wants, [{ type: 'answer', option: 'modify', given: { note: 'smaller' } }]);
  t.equal(at.after.state.noteFor, undefined);
  const without = take('', world, answered(id, { selectedOption: 'modify' }));
  const next = take('', without.after, said('smaller, please'));
  t.match(next.wants, [{ type: 'note', subject: 'plan', note: 'smaller, please' }]);
  t.match(next.facts, [{ type: 'said', noteOf: id }]);
  t.equal(take('', next.after, said('and?')).refusal, 'CONTROLLER_CONFLICT', 'the one after it is not');
});

t.test('answers are accepted only as a whole, and a secret answer is not stored', async (t) => {
  const questions = [
    { id: 'size', prompt: 'which?', kind: 'single', options: [{ id: 's', label: 'small' }] },
    { id: 'key', prompt: 'key?', kind: 'text', secret: true },
  ];
  const world = asking('request_user_input', { questions });
  const id = pending(world)?.id ?? '';
  for (const answers of [
    {},
    { size: ['s'] },
    { size: ['xl'], key: ['k'] },
    { size: ['s', 's'], key: ['k'] },
    { size: ['s'], key: ['k'], more: ['x'] },
    { size: ['s'], key: ['k'], constructor: ['x'] },
  ])
    t.equal(
      take('', world, answered(id, { answers })).refusal,
      'INVALID_INTERACTION_RESPONSE',
      JSON.stringify(answers),
    );
  const { facts, wants, after } = take(
    '',
    world,
    answered(id, { answers: { size: ['s'], key: ['canary'] } }),
  );
  t.match(wants, [{ given: { answers: { key: ['canary'] } } }], 'whoever asked gets it');
  t.match(facts, [{ type: 'answered', answer: { answers: { size: ['s'] } } }]);
  t.notMatch(JSON.stringify([facts, after.state, toSnapshot(after.state)]), 'canary');
});

t.test('the transcript records a question with its answer, but not a secret answer', async (t) => {
  const last = (world: World) => world.state.transcript.at(-1);
  const questions = [
    { id: 'size', prompt: 'Which\n size?', kind: 'single', options: [{ id: 's', label: 'small' }] },
    { id: 'name', prompt: 'Its name?', kind: 'text' },
    { id: 'key', prompt: 'Token?', kind: 'text', secret: true },
  ];
  const world = asking('request_user_input', { questions });
  const answers = { size: ['s'], name: ['one\ntwo'], key: ['canary'] };
  const after = taken(world, answered(pending(world)?.id ?? '', { answers }));
  t.match(last(after), {
    kind: 'info_note',
    title: 'Answer',
    content: 'Which size? → small\nIts name? → one\ntwo\nToken? → answered, not shown',
  });
  const contract = asking('intent_review_choice');
  const noted = taken(
    contract,
    answered(pending(contract)?.id ?? '', { selectedOption: 'modify', note: 'in euros' }),
  );
  t.match(last(noted), { title: 'Answer', content: 'Modify → in euros' });
  const confirmed = taken(contract, answered(pending(contract)?.id ?? '', { selectedOption: 'confirm' }));
  t.strictSame(confirmed.state.transcript, contract.state.transcript, 'a choice alone says nothing more');
  const plan = asking('post_plan_choice', { lines: ['a.1'] });
  const told = taken(
    plan,
    answered(pending(plan)?.id ?? '', { selectedOption: 'modify', answers: { 'a.1': ['not so'] } }),
  );
  t.match(last(told), { title: 'Answer', content: 'a.1 → not so' });
  const stopped = asking('post_plan_choice', { repair: { attempt: 3, limit: 3, cap: 10 } });
  const guided = taken(stopped, said('round it down'));
  t.match(last(guided), { kind: 'user_message', content: 'round it down' }, 'it is not said twice');
});

t.test('a repeated command has no effect, and another payload under its id is a conflict', async (t) => {
  const first = { ...said('once'), commandId: 'c' } as Command;
  const world = taken(newWorld(), first);
  const again = take('', world, first);
  t.equal(again.refusal, undefined, 'also while the session is busy with it');
  t.strictSame(again.wants, []);
  t.equal(
    take('', world, { ...said('twice'), commandId: 'c' } as Command).refusal,
    'COMMAND_PAYLOAD_CONFLICT',
  );
});

t.test('the status follows tool calls, questions and the end of a turn', async (t) => {
  const status = ({ state }: World) => state.status;
  let world = taken(newWorld(), said('go on'));
  t.equal(status(world), 'thinking');
  const tool = (of: World, state: 'running' | 'completed') =>
    told(of, { type: 'tool', id: 'call', toolName: 'shell', status: state });
  world = tool(world, 'running');
  t.equal(status(world), 'executing_tool');
  world = tool(world, 'completed');
  t.equal(status(world), 'thinking');
  world = told(world, { type: 'ask', subject: 'x', kind: 'approval', metadata: {} });
  t.equal(status(world), 'awaiting_interaction');
  world = taken(world, answered(pending(world)?.id ?? '', { approved: true }));
  t.equal(status(world), 'executing_tool');
  for (const [end, then] of [
    ['done', 'idle'],
    ['failed', 'error'],
    ['cancelled', 'idle'],
    ['decided', 'completed'],
  ] as const)
    t.equal(status(told(world, { type: 'end', end })), then, end);
  const choice = asking('intent_review_choice');
  t.equal(status(taken(choice, answered(pending(choice)?.id ?? '', { selectedOption: 'cancel' }))), 'idle');
  t.equal(status(taken(told(world, { type: 'end', end: 'failed' }), said('again'))), 'thinking');
});

t.test('a reply grows while it streams and is replaced by its final text', async (t) => {
  let world = taken(newWorld(), said('hello'));
  for (const text of ['wor', 'ld']) world = told(world, { type: 'replying', id: 'r', text });
  t.match(toSnapshot(world.state).transcript.at(-1), { content: 'world', streaming: true });
  world = told(world, { type: 'replied', id: 'r', text: 'the world' });
  t.match(toSnapshot(world.state).transcript.at(-1), { content: 'the world', streaming: false });
  t.equal(world.state.transcript.length, 2);
});

t.test('tool calls of a killed process become unknown or failed', async (t) => {
  let world = taken(newWorld(), said('go on'));
  for (const [id, status] of [
    ['done', 'completed'],
    ['begun', 'running'],
    ['shown', 'preview'],
  ] as const)
    world = told(world, { type: 'tool', id, toolName: 'shell', status });
  const state = afterKill(world.state, again).reduce(
    (sofar, fact) => reduce(sofar, { ...fact, atMs: 1 }),
    world.state,
  );
  t.match(
    state.toolCalls.map(({ id, status }) => `${id} ${status}`),
    ['done completed', 'begun unknown', 'shown failed'],
  );
  t.match(toSnapshot(state).toolCalls[1], { status: 'failed', summary: /^unknown: / });
  t.match([state.status, state.turn], ['error', undefined]);
  const waiting = told(world, { type: 'ask', subject: 'x', kind: 'approval', metadata: {} });
  t.notMatch(
    afterKill(waiting.state, again).map(({ type }) => type),
    ['turn-ended'],
    'what waits for an answer waits on',
  );
});

t.test('a running task goes back to pending when its turn ends', async (t) => {
  const task = (id: string, status: 'running' | 'completed') =>
    ({ type: 'tasked', task: { id, status, details: 'attempt 1' } }) as const;
  let world = told(told(taken(newWorld(), said('go on')), task('a', 'completed')), task('b', 'running'));
  world = told(world, { type: 'end', end: 'cancelled' });
  t.match(toSnapshot(world.state).tasks, [
    { id: 'a', status: 'completed', details: 'attempt 1' },
    { id: 'b', status: 'pending', details: 'was stopped' },
  ]);
});

t.test('the state keeps a bounded number of entries, however long its thread', async (t) => {
  let world = newWorld();
  for (let n = 0; n < 1200; n += 1) {
    world = taken(world, { ...said(`say ${n}`), commandId: `c${n}` } as Command);
    world = told(world, { type: 'tool', id: `t${n}`, toolName: 'shell', status: 'completed' });
    world = told(world, { type: 'ask', subject: `s${n}`, kind: 'approval', metadata: {} });
    world = told(world, { type: 'end', end: 'done' });
  }
  const { transcript, earlier, toolCalls, interactions, commands } = world.state;
  t.strictSame(
    [transcript.length, toolCalls.length, interactions.length, commands.size],
    [kept.transcript, kept.toolCalls, kept.interactions, kept.commands],
  );
  t.equal(earlier + transcript.length, 2400);
  t.match(transcript.at(-1), { id: 't1199' });
});

t.test('replies of parallel Tasks are kept apart', async (t) => {
  const replying = (id: string, text: string) => ({ type: 'replying', id, text, atMs: 1 }) as const;
  const facts = [replying('a', 'On'), replying('b', 'Tw'), replying('a', 'e'), replying('b', 'o')];
  const state = facts.reduce(reduce, newWorld().state);
  t.match(state.transcript, [
    { id: 'a', content: 'One' },
    { id: 'b', content: 'Two' },
  ]);
});

t.test('a program can lower the session budget, but only the user can raise it', async (t) => {
  const attach: Command = {
    type: 'attach',
    clientId: 'b',
    kind: 'automation',
    controlToken: 'valid',
    tokenDigest: 'd',
  };
  const program = { from: 'client', controlToken: 'valid', tokenDigest: 'd' } as const;
  const byProgram = (text: string): Command => ({ type: 'submit', text, proof: program });
  const world = taken(newWorld({ limitUsd: 2 }), attach, byProgram('/budget 1'));
  const limitOf = ({ state }: World) => toSnapshot(state).usage?.limitUsd;
  t.equal(limitOf(world), 1);
  for (const text of ['/budget 1.5', '/budget off']) {
    const { refusal, after } = take('', world, byProgram(text));
    t.equal(refusal, 'PERSON_REQUIRED', text);
    t.equal(limitOf(after), 1);
  }
  t.equal(limitOf(taken(world, { type: 'reclaim' }, said('/budget 3'))), 3);
  t.equal(
    limitOf(taken(newWorld(), attach, byProgram('/budget 3'))),
    3,
    'a first limit is none that is raised',
  );
  const { refusal } = take('', newWorld({ isPriced: false }), said('/budget 3'));
  t.equal(refusal, 'SESSION_BUDGET_UNPRICED', 'where nobody knows the price');
});

t.test('a program can close the network of a plan, but only the user can open it', async (t) => {
  const attach = {
    type: 'attach',
    clientId: 'b',
    kind: 'automation',
    controlToken: 'valid',
    tokenDigest: 'd',
  } as const;
  const proof = { from: 'client', controlToken: 'valid', tokenDigest: 'd' } as const;
  for (const [networkAccess, refusal] of [
    ['deny', 'PERSON_REQUIRED'],
    ['allow', undefined],
  ] as const) {
    const world = taken(asking('post_plan_choice', { networkAccess }), attach);
    const id = pending(world)?.id as string;
    const step = take('', world, { type: 'respond', id, given: { selectedOption: 'network' }, proof });
    t.equal(step.refusal, refusal);
    t.match(pending(step.after)?.metadata, { networkAccess: 'deny' });
  }
});

t.test('a budget can be set while a turn runs, and survives a resume', async (t) => {
  const world = taken(newWorld({ limitUsd: 2 }), said('do it'), said('/budget 4'));
  t.equal(world.state.status, 'thinking', 'the turn goes on');
  const resumed = reduce(world.state, {
    type: 'resumed',
    ground: { ...world.state.ground, limitUsd: 1 },
    atMs: 0,
  });
  t.equal(toSnapshot(resumed).usage?.limitUsd, 4, 'a word of a person lasts');
});

t.test('a plan is not executed after the session switched to review context', async (t) => {
  const asked = asking('post_plan_choice', { networkAccess: 'deny' });
  const reading: World = {
    ...asked,
    state: { ...asked.state, settings: { ...asked.state.settings, context: 'review' } },
  };
  const id = pending(reading)?.id ?? '';
  t.equal(take('', reading, answered(id, { selectedOption: 'execute' })).refusal, 'UNSUPPORTED_OPERATION');
  t.equal(take('', asked, answered(id, { selectedOption: 'execute' })).refusal, undefined);
});

t.test('cancelling a question ends its turn and closes its other questions', async (t) => {
  const one = asking('intent_review_choice');
  const two = told(one, { type: 'ask', subject: 'more', kind: 'post_plan_choice', metadata: {} });
  const ended = taken(two, answered(pending(two)?.id ?? '', { selectedOption: 'cancel' }));
  t.equal(pending(ended), undefined);
  t.match(ended.state, { status: 'idle', turn: undefined });
});

t.test('a partial reply stops streaming and is stored when its turn ends', async (t) => {
  const half = told(taken(newWorld(), said('do it')), { type: 'replying', id: 'r', text: 'half' });
  t.equal(half.state.transcript.at(-1)?.streaming, true);
  const { state, journal } = told(half, { type: 'end', end: 'done' });
  t.equal(state.transcript.at(-1)?.streaming, false);
  t.match(journal.at(-2), { type: 'replied', text: 'half' }, 'and whoever goes on with the thread has it');
});

t.test('a spec whose cost cap is below the plan estimate gets a warning', async (t) => {
  const cost = { tokens: 30_000 };
  t.match(shortCap({ maxCostUnits: 29 }, cost), /estimated at 30 cost units, and `maxCostUnits` allows 29/);
  t.match(shortCap({ maxCostUnits: 79 }, { ...cost, costUsd: 0.08 }), /estimated at 80 cost units/);
  t.equal(shortCap({ maxCostUnits: 80 }, { ...cost, costUsd: 0.08 }), undefined);
  t.equal(shortCap({ maxCostUnits: 0 }, cost), undefined, 'no cap is none');
  t.equal(shortBudget(undefined, {}, { costUsd: 9 }), undefined);
  t.equal(shortBudget(1, { costUsd: 0.5 }, { costUsd: 0.5 }), undefined);
  t.equal(shortBudget(1, {}, {}), undefined, 'of an unknown price nobody knows');
});
