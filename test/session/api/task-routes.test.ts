import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { sessionRoutes, taskRoutes } from '../../../session/api/session-routes.ts';
import { openWriteDoor } from '../../../session/api/write-door.ts';
import { type EffectContext, openChannel } from '../../../session/open-channel.ts';
import type { Want } from '../../../session/state/command.ts';
import { until } from '../../waiting/until.ts';
import { newWorld } from '../state/walk.ts';

const controlToken = 'c'.repeat(43);

/** A server before a session whose turns end as `perform` says. */
async function scene(t: Test, perform: (want: Want, world: EffectContext) => Promise<void>) {
  let ids = 0;
  const channel = openChannel({
    state: newWorld({ local: 'none' }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform,
  });
  const api = { channel: () => channel, controlToken, clock: systemClock };
  const door = openWriteDoor(api);
  const requireAgent = (name: string): void => {
    if (name !== 'explorer') throw new WritError('AGENT_UNKNOWN');
  };
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: [...sessionRoutes(api), ...taskRoutes(door, requireAgent)],
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
      headers: {
        'content-type': 'application/json',
        'x-svc-control-token': controlToken,
        origin: server.baseUrl,
        ...lease,
      },
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of a server under test
    return [answer.status, (await answer.json()) as any] as const;
  };
  const attach = async (kind: string) => {
    const [, { controllerToken }] = await ask('controller/attach', { clientId: 'c', kind });
    lease = { 'x-code-controller-token': controllerToken };
  };
  return { ask, attach, channel };
}

const answers = async (want: Want, { send }: EffectContext): Promise<void> => {
  if (want.type !== 'turn' || !('text' in want.spoken)) return;
  const { turn } = want;
  await send({ turn, type: 'replied', id: 'r', text: `${want.agent} saw ${want.spoken.text}` });
  await send({ turn, type: 'end', end: 'done' });
};

t.test('an automation dispatches an agent and gets its result', async (t) => {
  const { ask, attach, channel } = await scene(t, answers);
  await attach('automation');
  t.strictSame(await ask('task/dispatch', { agent: 'explorer', prompt: 'the tests' }), [
    200,
    { accepted: true, result: { status: 'completed', text: 'explorer saw the tests' } },
  ]);
  t.match(channel.state.transcript[0], { kind: 'user_message', content: '@explorer the tests' });
  t.match(await ask('task/dispatch', { agent: 'nobody', prompt: 'xyz' }), [
    404,
    { error: { code: 'AGENT_UNKNOWN' } },
  ]);
  t.match(await ask('task/dispatch', { agent: 'explorer' }), [400, { error: { code: 'INVALID_BODY' } }]);
});

t.test('refuses a dispatch by a browser or while a turn is running', async (t) => {
  const { ask, attach, channel } = await scene(t, async () => {});
  await attach('browser');
  const refused = { error: { code: 'AUTOMATION_CONTROLLER_REQUIRED' } };
  for (const body of [{ agent: 'explorer', prompt: 'xyz' }, { agent: 'nobody', prompt: 'xyz' }, {}])
    t.match(await ask('task/dispatch', body), [403, refused], 'whatever it asks');
  t.equal(channel.state.turn, undefined);
  await ask('controller/detach', { clientId: 'c' });
  await attach('automation');
  await ask('messages', { text: '/ask something' });
  const busy = { error: { code: 'CONTROLLER_CONFLICT', details: { reason: 'session_busy' } } };
  t.match(await ask('task/dispatch', { agent: 'explorer', prompt: 'xyz' }), [409, busy]);
});

t.test('a waiting dispatch ends with an error when the session is closed', async (t) => {
  const { ask, attach, channel } = await scene(t, async () => {});
  await attach('automation');
  const asked = ask('task/dispatch', { agent: 'explorer', prompt: 'xyz' });
  await until(() => channel.state.turn);
  await channel[Symbol.asyncDispose]();
  t.match(await asked, [404, { error: { code: 'CODE_UI_UNAVAILABLE' } }]);
});
