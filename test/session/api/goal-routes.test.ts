import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { goalRoutes, sessionRoutes } from '../../../session/api/session-routes.ts';
import { openWriteDoor } from '../../../session/api/write-door.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { Want } from '../../../session/state/command.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { newWorld } from '../state/walk.ts';

/** A server before a session whose wants are written down and not done. */
async function scene(t: Test, more: Partial<SessionGround> = {}) {
  let ids = 0;
  const wants: Want[] = [];
  const channel = openChannel({
    state: newWorld({ local: 'none', ...more }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async (want, { send }) => {
      wants.push(want);
      if (want.type === 'abort') await send({ turn: want.turn, type: 'end', end: 'cancelled' });
    },
  });
  const api = { channel: () => channel, clock: systemClock };
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: [...sessionRoutes(api), ...goalRoutes(openWriteDoor(api))],
    body: { maxBytes: 256 * 1024, withinMs: 5000, maxDepth: 16 },
    headersWithinMs: 5000,
    report: (fault) => t.fail(String(fault)),
  });
  t.teardown(async () => {
    await server.close(0);
    await channel[Symbol.asyncDispose]();
  });
  let lease: Record<string, string> = {};
  const ask = async (path: string, body?: unknown) => {
    const answer = await fetch(`${server.baseUrl}/api/code/${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', origin: server.baseUrl, ...lease },
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of a server under test
    return [answer.status, (await answer.json()) as any] as const;
  };
  const attach = async () => {
    const [, { controllerToken }] = await ask('controller/attach', { clientId: 'c', kind: 'browser' });
    lease = { 'x-code-controller-token': controllerToken };
  };
  return { ask, attach, channel, wants };
}

t.test('the routes start a goal, report its status and cancel it', async (t) => {
  const { ask, attach, channel, wants } = await scene(t);
  t.strictSame(await ask('goal/status'), [200, { status: 'none' }]);
  await attach();
  const shown = {
    objective: 'make it exact',
    status: 'active',
    criteria: [
      { id: 'criterion-1', text: 'make it exact', status: 'open' },
      { id: 'criterion-2', text: 'two cost twice as much', status: 'open' },
    ],
    loops: 0,
    budget: {
      tokens: { used: 0, limit: 100_000 },
      costUsd: { used: 0, limit: 1 },
      seconds: { used: 0, limit: 600 },
    },
  };
  const asked = { objective: ' make it exact ', criteria: ['two cost twice as much'] };
  const [status, { goal, ...rest }] = await ask('goal/start', asked);
  t.strictSame([status, rest], [200, { accepted: true, status: 'active' }]);
  t.strictSame(goal, { id: goal.id, ...shown });
  t.match(wants, [
    { type: 'turn', spoken: { kind: 'goal', text: 'make it exact' }, by: { kind: 'browser' } },
  ]);
  t.match((await ask('session'))[1], { status: 'thinking', goal: { id: goal.id, ...shown } });
  t.strictSame(await ask('goal/status'), [200, { status: 'active', goal }]);
  t.match(await ask('goal/start', { objective: 'another' }), [
    409,
    { error: { code: 'GOAL_ALREADY_ACTIVE', details: { goal: goal.id, status: 'active' } } },
  ]);
  const [gone, told] = await ask('goal/cancel', { reason: 'enough' });
  t.match([gone, told], [200, { accepted: true, status: 'cancelled', goal: { status: 'cancelled' } }]);
  t.match(channel.state.transcript.at(-1), { kind: 'info_note', content: 'given up: enough' });
  t.match(wants.at(-1), { type: 'abort' }, 'its turn is stopped');
  t.match(await ask('goal/cancel', {}), [409, { error: { code: 'GOAL_NOT_ACTIVE' } }]);
});

t.test('refuses an invalid goal, and any goal in a busy or read-only session', async (t) => {
  const { ask, attach } = await scene(t);
  t.match(await ask('goal/start', { objective: 'x' }), [
    403,
    { error: { code: 'MISSING_CONTROLLER_TOKEN' } },
  ]);
  await attach();
  const code = async (path: string, body: unknown) => (await ask(path, body))[1].error.code;
  for (const body of [
    { objective: '  ' },
    { objective: 'x'.repeat(16 * 1024 + 1) },
    { objective: 'x', criteria: 'y' },
    { objective: 'x', criteria: ['four'.slice(1)] },
    { objective: 'x', criteria: ['y'.repeat(501)] },
    { objective: 'x', criteria: ['two\nlines'] },
    { objective: 'x', criteria: Array(21).fill('a criterion') },
  ])
    t.equal(await code('goal/start', body), 'INVALID_BODY', JSON.stringify(body).slice(0, 80));
  t.equal(await code('goal/cancel', { reason: 1 }), 'INVALID_BODY');
  t.equal(await code('goal/cancel', { reason: 'x'.repeat(2001) }), 'INVALID_BODY');
  t.equal(await code('goal/cancel', {}), 'GOAL_NOT_ACTIVE');
  await ask('messages', { text: '/ask something' });
  const busy = { error: { code: 'CONTROLLER_CONFLICT', details: { reason: 'session_busy' } } };
  t.match(await ask('goal/start', { objective: 'x' }), [409, busy]);
  const review = await scene(t, { context: 'review' });
  await review.attach();
  t.match(await review.ask('goal/start', { objective: 'x' }), [
    422,
    { error: { code: 'UNSUPPORTED_OPERATION' } },
  ]);
});
