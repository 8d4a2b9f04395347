import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { pendingOf } from '../../../session/state/state.ts';
import { allowVisitor, openVisits } from '../../../session/work/consent.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { until } from '../../waiting/until.ts';
import { newWorld } from '../state/walk.ts';
import { personRepository } from '../vcs/person-repository.ts';

/** A session in memory, with a local screen unless told otherwise, and a visitor. */
async function scene(t: Test, more: Partial<SessionGround> = {}) {
  const { root } = personRepository();
  const visits = openVisits();
  const others: string[] = [];
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `i${ids}`;
  };
  const channel = openChannel({
    state: newWorld({ local: 'tui', ...more }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId,
    perform: async (want, world) => {
      if (!(await visits.take(want, world))) others.push(want.type);
    },
  });
  t.teardown(() => channel[Symbol.asyncDispose]());
  const approval = {
    policy: 'on-request',
    ttlSeconds: 300,
    grants: keepGrants(systemClock),
    mask: (text: string) => text,
  } as const;
  const visited = { channel, visits, repository: await openRepository(root), approval, newId };
  const allow = (argv: readonly string[], signal = new AbortController().signal) =>
    allowVisitor(visited, { argv, lines: ['what it would do'] }, signal);
  const asked = async () => {
    await until(() => pendingOf(channel.state).length === 1, 'a question');
    const [question] = pendingOf(channel.state);
    if (question === undefined) throw new Error('none');
    return question;
  };
  const answer = async (selectedOption: string) =>
    channel.send({
      type: 'respond',
      id: (await asked()).id,
      given: { selectedOption },
      proof: { from: 'local' },
    });
  return { channel, allow, asked, answer, others };
}

const commit = ['commit', '-m', 'x'];

t.test('the controller of the session approves or denies the call of a visitor', async (t) => {
  const { channel, allow, asked, answer, others } = await scene(t);
  const first = allow(commit);
  t.match(await asked(), { kind: 'approval', description: /commit -m x(?:.|\n)*what it would do/ });
  t.equal(channel.state.status, 'awaiting_interaction');
  await answer('approve');
  t.equal(await first, 'approved');
  t.match(channel.state, { status: 'idle', turn: undefined });
  const second = allow(commit);
  await answer('deny');
  t.equal(await second, 'denied', 'one answer was for one call');
  const third = allow(commit);
  await answer('approve_session');
  t.equal(await third, 'approved');
  t.equal(await allow(commit), 'approved', 'and is not asked again');
  const other = allow(['commit', '-m', 'y']);
  await answer('abort');
  t.equal(await other, 'denied');
  t.match(channel.state, { status: 'idle', turn: undefined });
  t.strictSame(others, [], 'nothing else is done for it');
});

t.test('a visitor gets no answer if the session has no controller or is busy', async (t) => {
  t.equal(await (await scene(t, { local: 'none' })).allow(commit), 'nobody');
  const { channel, allow } = await scene(t);
  await channel.send({ type: 'submit', text: 'work', proof: { from: 'local' } });
  t.equal(await allow(commit), 'nobody');
});

t.test('a question of a visitor ends with its turn, its visitor or its controller', async (t) => {
  const { channel, allow, asked } = await scene(t);
  const cancelled = allow(commit);
  await asked();
  await channel.send({ type: 'end', turn: channel.state.turn ?? '', end: 'cancelled' });
  t.equal(await cancelled, 'denied');
  const over = new AbortController();
  const left = allow(commit, over.signal);
  left.catch(() => undefined);
  await asked();
  over.abort();
  await t.rejects(left, { name: 'AbortError' });
  await until(() => channel.state.turn === undefined, 'the end of the turn');
  t.strictSame(pendingOf(channel.state), []);
  const alone = await scene(t, { local: 'none', attachable: ['browser'] });
  const attach = {
    type: 'attach',
    clientId: 'b',
    kind: 'browser',
    tokenDigest: 'd',
    controlToken: 'missing',
  } as const;
  await alone.channel.send(attach);
  const gone = alone.allow(commit);
  await alone.asked();
  const proof = { from: 'client', tokenDigest: 'd', controlToken: 'missing' } as const;
  await alone.channel.send({ type: 'detach', clientId: 'b', proof });
  t.equal(await gone, 'denied');
  t.match(alone.channel.state, { turn: undefined, status: 'idle' });
});

t.test('an answer to a visitor that has left ends the turn that waited for it', async (t) => {
  const { channel } = await scene(t);
  const { turn = '' } = await channel.send({ type: 'visit' });
  await channel.send({ type: 'ask', turn, subject: 'visit of before', kind: 'approval', metadata: {} });
  const [question] = pendingOf(channel.state);
  const given = { selectedOption: 'approve' };
  await channel.send({ type: 'respond', id: question?.id ?? '', given, proof: { from: 'local' } });
  await until(() => channel.state.turn === undefined, 'the end of the turn');
  t.match(channel.state, { status: 'idle' });
  await t.rejects(
    Promise.all([channel.send({ type: 'visit' }), channel.send({ type: 'visit' })]),
    { code: 'CONTROLLER_CONFLICT' },
    'one at a time',
  );
});
