import { request } from 'node:http';
import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { sessionRoutes } from '../../../session/api/session-routes.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { Want } from '../../../session/state/command.ts';
import { leaseMs, type SessionGround } from '../../../session/state/fact.ts';
import { newWorld } from '../state/walk.ts';

const controlToken = 'c'.repeat(43);

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of a server under test
  readonly body: any;
}

/** A server before a session in memory, and a client that says exactly what it is told to. */
async function scene(t: Test, more: Partial<SessionGround> = {}, isOpen = true) {
  let nowMs = 1_000_000;
  const wanted: Want[] = [];
  let ids = 0;
  const clock = {
    ...systemClock,
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: () => new Promise<void>(() => {}),
  };
  const channel = openChannel({
    state: newWorld({ local: 'none', ...more }).state,
    thread: { append: async () => {} },
    clock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async (want) => void wanted.push(want),
  });
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: sessionRoutes({ channel: () => (isOpen ? channel : undefined), controlToken, clock }),
    body: { maxBytes: 256 * 1024, withinMs: 5000, maxDepth: 16 },
    headersWithinMs: 5000,
    report: (fault) => t.fail(String(fault)),
  });
  t.teardown(() => server.close(0));
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
      const sent = request(
        `${server.baseUrl}/api/code/${path}`,
        {
          method,
          headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('end', () => {
            const said = Buffer.concat(parts).toString();
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              body: said === '' ? undefined : JSON.parse(said),
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  const attach = async (clientId: string, kind?: string) => {
    const control = kind === 'automation' ? { 'x-svc-control-token': controlToken } : undefined;
    const headers = { origin: server.baseUrl, ...control };
    return ask('POST', 'controller/attach', { clientId, ...(kind === undefined ? {} : { kind }) }, headers);
  };
  return {
    ask,
    attach,
    channel,
    wanted,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

const held = (token: string) => ({ 'x-code-controller-token': token });

t.test('a client attaches, sends messages, answers and detaches', async (t) => {
  const { ask, attach, channel, wanted } = await scene(t);
  const { status, body } = await attach('page');
  t.equal(status, 200);
  t.match(body, {
    controllerToken: /^[\w-]{43}$/,
    controller: { kind: 'browser', ownerLabel: 'page', canWrite: true },
  });
  const token = held(body.controllerToken);
  t.strictSame((await ask('POST', 'messages', { text: 'go on', commandId: 'c' }, token)).body, {
    accepted: true,
  });
  t.strictSame((await ask('POST', 'messages', { text: 'go on', commandId: 'c' }, token)).body, {
    accepted: true,
  });
  t.equal(wanted.length, 1, 'a command that comes twice is one');
  const other = await ask('POST', 'messages', { text: 'stop', commandId: 'c' }, token);
  t.match([other.status, other.body.error.code], [409, 'COMMAND_PAYLOAD_CONFLICT']);
  const busy = await ask('POST', 'messages', { text: 'more' }, token);
  t.match(
    [busy.status, busy.body.error],
    [409, { code: 'CONTROLLER_CONFLICT', details: { reason: 'session_busy' } }],
  );
  await channel.send({
    turn: channel.state.turn ?? '',
    type: 'ask',
    subject: 'x',
    kind: 'approval',
    metadata: {},
  });
  const snapshot = (await ask('GET', 'session')).body;
  const [{ id, status: asked, options }] = snapshot.interactions;
  t.match([asked, snapshot.status, options.length], ['pending', 'awaiting_interaction', 8]);
  const contradiction = await ask(
    'POST',
    `interactions/${id}`,
    { selectedOption: 'approve', approved: false },
    token,
  );
  t.match([contradiction.status, contradiction.body.error.code], [422, 'INVALID_INTERACTION_RESPONSE']);
  t.equal((await ask('GET', 'session')).body.interactions[0].status, 'pending');
  t.strictSame((await ask('POST', `interactions/${id}`, { approved: true }, token)).body, { accepted: true });
  t.match(wanted.at(-1), {
    type: 'answer',
    subject: 'x',
    option: 'approve',
    by: { kind: 'browser', clientId: 'page' },
  });
  t.equal(
    (await ask('POST', `interactions/${id}`, { approved: true }, token)).body.error.code,
    'INTERACTION_NOT_ACTIVE',
  );
  t.equal((await ask('POST', 'interactions/none', { approved: true }, token)).body.error.code, 'NOT_FOUND');
  t.strictSame(
    (await ask('POST', 'control/cancel', undefined, token)).body,
    { accepted: true },
    'without a body',
  );
  t.strictSame((await ask('POST', 'controller/detach', { clientId: 'page' }, token)).body, {
    detached: true,
  });
  t.equal(
    (await ask('POST', 'messages', { text: 'xyz' }, token)).body.error.code,
    'INVALID_CONTROLLER_TOKEN',
  );
  t.notMatch(JSON.stringify(await ask('GET', 'session')), body.controllerToken);
});

t.test('the controller reviews a hunk, and the review appears in the snapshot', async (t) => {
  const { ask, attach, channel } = await scene(t);
  const token = held((await attach('page')).body.controllerToken);
  const said = { patchset: 'proposed', path: 'x', hunk: 'h', verdict: 'reject', comment: 'no' };
  t.notOk('reviews' in (await ask('GET', 'session')).body);
  t.strictSame((await ask('POST', 'reviews', said, token)).body, { accepted: true });
  t.strictSame((await ask('GET', 'session')).body.reviews, [said]);
  const { verdict: _, comment: __, ...nothing } = said;
  for (const [wrong, status, code] of [
    [{ ...said, verdict: 'yes' }, 400, 'INVALID_BODY'],
    [{ ...said, comment: '\u001b' }, 400, 'INVALID_BODY'],
    [nothing, 400, 'INVALID_BODY'],
    [{ ...said, hunk: 'g' }, 404, 'NOT_FOUND'],
    [{ ...said, patchset: 'accepted' }, 409, 'INTERACTION_NOT_ACTIVE'],
  ] as const) {
    const answer = await ask('POST', 'reviews', wrong, token);
    t.match([answer.status, answer.body.error.code], [status, code]);
  }
  t.match((await ask('POST', 'reviews', said)).body.error.code, 'MISSING_CONTROLLER_TOKEN');
  t.equal(channel.state.reviews.length, 1, 'what is refused says nothing');
});

t.test('the same client resumes its lease, while another waits until it expires', async (t) => {
  const { ask, attach, pass } = await scene(t);
  const [first, again] = [await attach('a'), await attach('a')];
  t.equal(again.body.controllerToken, first.body.controllerToken);
  for (const [client, kind] of [
    ['b', 'browser'],
    ['a', 'automation'],
  ] as const)
    t.match((await attach(client, kind)).body.error, {
      code: 'CONTROLLER_CONFLICT',
      details: { reason: 'lease_held' },
    });
  pass(leaseMs - 1);
  t.equal(
    (await ask('POST', 'control/cancel', {}, held(first.body.controllerToken))).status,
    200,
    'a write renews it',
  );
  pass(leaseMs - 1);
  t.equal((await attach('b')).status, 409);
  pass(1);
  t.equal((await attach('b')).status, 200);
  t.equal(
    (await ask('POST', 'messages', { text: 'xyz' }, held(first.body.controllerToken))).body.error.code,
    'INVALID_CONTROLLER_TOKEN',
  );
});

t.test('when many clients attach at once, exactly one gets the lease', async (t) => {
  const { ask, attach } = await scene(t);
  const came = await Promise.all(Array.from({ length: 20 }, (_, n) => attach(`c${n}`)));
  const [winner, ...more] = came.filter(({ status }) => status === 200);
  t.strictSame([more.length, came.filter(({ status }) => status === 409).length], [0, 19]);
  t.equal((await ask('POST', 'messages', { text: 'xyz' }, held(winner?.body.controllerToken))).status, 200);
});

t.test('an automation needs both tokens for each write', async (t) => {
  const { ask, attach } = await scene(t);
  const without = await ask('POST', 'controller/attach', { clientId: 'r', kind: 'automation' });
  t.equal(without.body.error.code, 'MISSING_CONTROL_TOKEN');
  const { body } = await attach('r', 'automation');
  const token = held(body.controllerToken);
  for (const path of ['messages', 'interactions/x', 'control/cancel', 'controller/detach']) {
    t.equal((await ask('POST', path, {}, token)).body.error.code, 'MISSING_CONTROL_TOKEN', path);
    const wrong = { ...token, 'x-svc-control-token': controlToken.replace('c', 'd') };
    t.equal((await ask('POST', path, {}, wrong)).body.error.code, 'INVALID_CONTROL_TOKEN', path);
  }
  const both = { ...token, 'x-svc-control-token': controlToken };
  t.equal((await ask('POST', 'messages', { text: 'xyz' }, both)).status, 200);
});

t.test('checks run in a fixed order, and the first failure is reported', async (t) => {
  const { ask, attach } = await scene(t);
  const closed = await scene(t, { attachable: [] });
  const none = await scene(t, {}, false);
  const { body } = await attach('a');
  const token = held(body.controllerToken);
  const origin = { origin: 'http://evil.example' };
  const odd = { 'content-type': 'text/plain' };
  const large = JSON.stringify({ text: 'x'.repeat(256 * 1024) });
  const rows: readonly (readonly [code: string, answer: Promise<Answer>])[] = [
    ['HOST_FORBIDDEN', ask('POST', 'nowhere', large, { host: 'evil.example', ...origin, ...odd })],
    ['ORIGIN_REQUIRED', ask('PUT', 'nowhere', large, { ...origin, ...odd })],
    ['NOT_FOUND', ask('PUT', 'nowhere', large, odd)],
    ['METHOD_NOT_ALLOWED', ask('PUT', 'messages', large, odd)],
    ['UNSUPPORTED_MEDIA_TYPE', ask('POST', 'messages', large, odd)],
    ['PAYLOAD_TOO_LARGE', ask('POST', 'messages', large)],
    ['CODE_UI_UNAVAILABLE', none.ask('POST', 'messages', '{')],
    ['CODE_UI_UNAVAILABLE', none.ask('GET', 'session')],
    ['BROWSER_CONTROL_DISABLED', closed.ask('POST', 'messages', '{')],
    ['CONTROL_DISABLED', closed.ask('POST', 'messages', '{', { 'x-svc-control-token': 'x' })],
    ['BROWSER_CONTROL_DISABLED', closed.ask('POST', 'controller/attach', {})],
    ['BROWSER_CONTROL_DISABLED', closed.ask('POST', 'controller/attach', { clientId: 'x', more: 1 })],
    ['CONTROL_DISABLED', closed.ask('POST', 'controller/attach', { clientId: 'x', kind: 'automation' })],
    ['INVALID_BODY', ask('POST', 'controller/attach', {})],
    ['MISSING_CONTROLLER_TOKEN', ask('POST', 'messages', '{')],
    ['INVALID_CONTROLLER_TOKEN', ask('POST', 'messages', '{', held('x'))],
    ['INVALID_BODY', ask('POST', 'messages', '{', token)],
    ['INVALID_BODY', ask('POST', 'messages', { text: 1 }, token)],
    ['INVALID_BODY', ask('POST', 'messages', { text: ' ' }, token)],
    ['INVALID_BODY', ask('POST', 'messages', { text: 'xyz', role: 'system' }, token)],
    ['INVALID_BODY', ask('POST', 'interactions/x', { applyToFuture: 'yes' }, token)],
    ['INVALID_BODY', ask('POST', 'interactions/x', { approved: 'true' }, token)],
    ['INVALID_BODY', ask('POST', 'interactions/x', { answers: { a: 'b' } }, token)],
    ['INVALID_BODY', ask('POST', 'controller/detach', { clientId: 'b' }, token)],
    ['INVALID_BODY', ask('POST', 'control/cancel', { now: true }, token)],
    ['ORIGIN_REQUIRED', ask('POST', 'controller/attach', { clientId: 'x' })],
    ['ORIGIN_REQUIRED', ask('POST', 'controller/attach', { clientId: 'x', kind: 'browser' })],
    ['ORIGIN_REQUIRED', ask('POST', 'controller/attach', { clientId: 'x' }, origin)],
    ['INVALID_CONTROLLER_KIND', ask('POST', 'controller/attach', { clientId: 'x', kind: 'tui' })],
  ];
  for (const [code, answer] of rows) t.equal((await answer).body?.error.code, code);
  const named = await ask('POST', 'controller/attach', { clientId: 'x' }, { host: 'localhost' });
  t.match(named.body?.error, { details: { expected: /^http:\/\/localhost:\d+$/, found: null } });
});

t.test('a lease allows 120 writes per minute', async (t) => {
  const { ask, attach, pass } = await scene(t);
  const token = held((await attach('a')).body.controllerToken);
  for (let n = 0; n < 120; n += 1) {
    pass(10);
    const { status } = await ask('POST', 'control/cancel', undefined, token);
    if (status !== 200) t.fail(`write ${n}: ${status}`);
  }
  const refused = await ask('POST', 'control/cancel', undefined, token);
  t.match(
    [refused.status, refused.body.error.code, refused.headers['retry-after']],
    [429, 'RATE_LIMITED', '59'],
  );
  t.strictSame(refused.body.error.details, { retryAfterSeconds: 59, most: 120 }, 'in names of the wire');
  pass(59_000);
  t.equal((await ask('POST', 'control/cancel', undefined, token)).status, 200);
});
