import t from 'tap';
import type { Route } from '../../../http/send-answer.ts';
import { until } from '../../waiting/until.ts';
import { openClient, type Said, serveSession } from './serve-session.ts';

t.test(
  'a JSON-RPC client attaches, sends messages, answers and detaches without naming its lease token',
  async (t) => {
    const { access, channel } = await serveSession(t);
    const client = openClient(t, access);
    const { result } = await client.call('session.get');
    t.match(result, { threadId: 't', controller: { kind: 'none' } });
    const attached = await client.call('controller.attach', { clientId: 'bot' });
    t.match(attached.result, { controllerToken: /^[\w-]{43}$/, controller: { kind: 'automation' } });
    const first = await client.call('message.submit', { text: 'hello' });
    if (!t.strictSame(first.result, { accepted: true }, 'the lease token was kept')) return;
    await until(() => channel.state.status === 'idle');
    await client.call('message.submit', { text: 'ask' });
    await until(() => channel.state.status === 'awaiting_interaction');
    const interactionId = channel.state.interactions[0]?.id;
    const wrong = await client.call('interaction.respond', { interactionId, selectedOption: 'maybe' });
    t.match(wrong.error, { code: -32000, data: { status: 422, code: 'INVALID_INTERACTION_RESPONSE' } });
    const answer = await client.call('interaction.respond', { interactionId, selectedOption: 'approve' });
    t.strictSame(answer.result, { accepted: true });
    t.strictSame((await client.call('turn.cancel')).result, { accepted: true });
    t.strictSame((await client.call('controller.detach', { clientId: 'bot' })).result, { detached: true });
    const late = await client.call('message.submit', { text: 'more' });
    t.match(late.error, { code: -32000, data: { status: 403, code: 'MISSING_CONTROLLER_TOKEN' } });
    t.match(await client.end(), { requests: 9 });
  },
);

t.test('requests and event notifications run side by side until the client unsubscribes', async (t) => {
  const { access, channel, server } = await serveSession(t);
  const client = openClient(t, access);
  const events = (): readonly Said[] => client.said.filter(({ method }) => method === 'events.notification');
  t.strictSame((await client.call('events.subscribe')).result, { subscribed: true });
  t.strictSame((await client.call('events.subscribe')).result, { subscribed: true });
  await until(() => events().length > 0);
  t.notOk(events()[0] && 'id' in (events()[0] ?? {}), 'a notification has no id');
  t.ok(client.said.findIndex(({ id }) => id === 'call-1') < client.said.findIndex(({ method }) => method));
  t.match(events()[0]?.params, {
    event: 'session_updated',
    data: { type: 'session_updated', data: { threadId: 't' } },
  });
  t.match(events()[1], undefined, 'subscribed once');
  await client.call('controller.attach', { clientId: 'bot' });
  await client.call('message.submit', { text: 'hello' });
  await until(() => events().some(({ params }) => JSON.stringify(params).includes('you said hello')));
  t.strictSame((await client.call('events.unsubscribe')).result, { subscribed: false });
  const before = events().length;
  await client.call('message.submit', { text: 'again' });
  await until(() => channel.state.status === 'idle');
  await client.call('session.get');
  t.equal(events().length, before);
  await client.call('events.subscribe');
  await server.close(0);
  await until(() => events().at(-1)?.params.event === 'closed');
  const gone = await client.call('session.get');
  t.equal(gone.error.code, -32001);
  t.equal((await client.call('events.subscribe')).error.code, -32001);
  await client.end();
});

t.test(
  'an invalid request gets the JSON-RPC error code for its fault, and a notification no answer',
  async (t) => {
    const { access } = await serveSession(t);
    const client = openClient(t, access);
    const cases: readonly (readonly [line: string, id: unknown, code: number])[] = [
      ['{"jsonrpc":"2.0","id":1', null, -32700],
      ['nonsense', null, -32700],
      ['{"jsonrpc":"2.0","id":1,"id":2,"method":"session.get"}', null, -32700],
      [`${'['.repeat(5000)}`, null, -32700],
      ['[]', null, -32600],
      ['[{"jsonrpc":"2.0","id":1,"method":"session.get"}]', null, -32600],
      ['7', null, -32600],
      ['{"id":3,"method":"session.get"}', 3, -32600],
      ['{"jsonrpc":"1.0","method":"session.get"}', null, -32600],
      ['{"jsonrpc":"2.0","id":4}', 4, -32600],
      ['{"jsonrpc":"2.0","id":{},"method":"session.get"}', null, -32600],
      ['{"jsonrpc":"2.0","id":true,"method":"session.get"}', null, -32600],
      ['{"jsonrpc":"2.0","id":5,"method":"session.get","params":null}', 5, -32600],
      ['{"jsonrpc":"2.0","id":6,"method":"session.take"}', 6, -32601],
      ['{"jsonrpc":"2.0","id":7,"method":"constructor"}', 7, -32601],
      ['{"jsonrpc":"2.0","id":8,"method":"session.get","params":[]}', 8, -32602],
      ['{"jsonrpc":"2.0","id":9,"method":"session.get","params":{"x":1}}', 9, -32602],
      ['{"jsonrpc":"2.0","id":10,"method":"threads.list","params":{"limit":"1"}}', 10, -32602],
      ['{"jsonrpc":"2.0","id":11,"method":"interaction.respond","params":{}}', 11, -32602],
      [
        '{"jsonrpc":"2.0","id":12,"method":"interaction.respond","params":{"interactionId":"../x"}}',
        12,
        -32602,
      ],
      ['{"jsonrpc":"2.0","id":13,"method":"turn.cancel","params":{"why":1}}', 13, -32602],
      ['{"jsonrpc":"2.0","id":14,"method":"turn.cancel","params":{"controllerToken":"a\\nb"}}', 14, -32602],
      ['{"jsonrpc":"2.0","id":15,"method":"events.subscribe","params":{"from":1}}', 15, -32602],
      [`{"jsonrpc":"2.0","id":16,"method":"${'x'.repeat(1024 * 1024)}"}`, null, -32600],
      ['{"jsonrpc":"2.0","id":"","method":"message.submit","params":{"text":1}}', '', -32000],
      ['{"jsonrpc":"2.0","id":null,"method":"nothing"}', null, -32601],
      ['{"jsonrpc":"2.0","id":-1.5,"method":"nothing"}', -1.5, -32601],
    ];
    for (const [line, id, code] of cases) {
      const before = client.said.length;
      client.raw(`${line}\n\r\n  \n`);
      await until(() => client.said.length > before);
      const said = client.said.at(-1);
      t.strictSame([said?.id, said?.error?.code], [id, code], line.slice(0, 100));
    }
    const answers = client.said.length;
    for (const method of ['session.get', 'nothing', 'message.submit'])
      client.raw(`{"jsonrpc":"2.0","method":"${method}"}\n`);
    client.raw('{"jsonrpc":"2.0","id":"last","method":"session.get"}');
    await client.end();
    t.equal(client.said.length, answers + 1, 'a notification is never answered');
    t.match(client.said.at(-1), { id: 'last', result: { threadId: 't' } }, 'a last line needs no end');
  },
);

t.test('every request gets one answer, and writes arrive in the order they were sent', async (t) => {
  const { access, channel } = await serveSession(t);
  const client = openClient(t, access);
  const line = (id: number, method: string, params: unknown) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  client.raw(line(1, 'controller.attach', { clientId: 'bot' }));
  client.raw(line(2, 'message.submit', { text: 'ask' }));
  for (let id = 3; id < 103; id += 1) client.raw(line(id, id % 2 === 0 ? 'session.get' : 'turn.cancel', {}));
  client.raw(line(103, 'controller.detach', { clientId: 'bot' }));
  await client.end();
  t.equal(client.said.length, 103);
  t.equal(new Set(client.said.map(({ id }) => id)).size, 103);
  t.strictSame(
    client.said.filter(({ error }) => error !== undefined),
    [],
  );
  t.equal(channel.state.lease, undefined);
});

t.test('a lease token in the parameters is sent instead of the stored token', async (t) => {
  const { access } = await serveSession(t);
  const [first, second] = [openClient(t, access), openClient(t, access)];
  const { result } = await first.call('controller.attach', { clientId: 'bot' });
  const { controllerToken } = result;
  t.match((await second.call('message.submit', { text: 'xyz' })).error.data, {
    code: 'MISSING_CONTROLLER_TOKEN',
  });
  t.match((await second.call('message.submit', { text: 'xyz', controllerToken })).result, { accepted: true });
  t.match((await first.call('turn.cancel', { controllerToken: 'wrong' })).error.data, {
    status: 403,
    code: 'INVALID_CONTROLLER_TOKEN',
  });
  const taken = await second.call('controller.attach', { clientId: 'other' });
  t.match(taken.error.data, { status: 409, code: 'CONTROLLER_CONFLICT', details: { reason: 'lease_held' } });
  for (const kind of ['browser', 'tui', 7])
    t.match(await second.call('controller.attach', { clientId: 'bot', kind }), {
      error: { code: -32602, message: /attaches as `automation`/ },
    });
  const without = openClient(t, { baseUrl: access.baseUrl });
  t.match((await without.call('controller.attach', { clientId: 'x' })).error.data, {
    code: 'MISSING_CONTROL_TOKEN',
  });
});

t.test('the request server ends on an interrupt or when its output is closed', async (t) => {
  const { access } = await serveSession(t);
  const stopped = openClient(t, access);
  await stopped.call('events.subscribe');
  stopped.stop.abort(new Error('interrupted'));
  await t.rejects(stopped.ended, { message: 'interrupted' });
  const left = openClient(t, access);
  await left.call('events.subscribe');
  left.leave();
  left.raw('{"jsonrpc":"2.0","id":1,"method":"session.get"}\n');
  t.match(await left.ended, { requests: 2 });
});

t.test('a JSON-RPC client starts and cancels a goal', async (t) => {
  const { access, channel } = await serveSession(t);
  const client = openClient(t, access);
  await client.call('controller.attach', { clientId: 'bot' });
  const started = await client.call('goal.start', { objective: 'ask', criteria: ['it is exact'] });
  t.match(started.result, { accepted: true, status: 'active', goal: { objective: 'ask' } });
  t.match((await client.call('goal.status')).result, { status: 'active', goal: { loops: 0 } });
  t.match((await client.call('goal.cancel', { reason: 'enough' })).result, { status: 'cancelled' });
  t.match(channel.state.transcript.at(-1), { kind: 'info_note', content: 'given up: enough' });
});

t.test('`task.dispatch` returns the reply of the agent that was named', async (t) => {
  const { access } = await serveSession(t);
  const client = openClient(t, access);
  const asked = { agent: 'explorer', prompt: 'the tests' };
  const early = await client.call('task.dispatch', asked);
  t.match(early.error, { code: -32000, data: { status: 403, code: 'MISSING_CONTROLLER_TOKEN' } });
  await client.call('controller.attach', { clientId: 'bot' });
  t.strictSame((await client.call('task.dispatch', asked)).result, {
    accepted: true,
    result: { status: 'completed', text: 'explorer said the tests' },
  });
  const nobody = await client.call('task.dispatch', { ...asked, agent: 'nobody' });
  t.match(nobody.error, { code: -32000, data: { status: 404, code: 'AGENT_UNKNOWN' } });
});

t.test('no request is sent after the session has ended', async (t) => {
  let asked = 0;
  const counts = (method: 'GET' | 'POST', path: string): Route => ({
    method,
    path: `/api/code/${path}`,
    answer: () => {
      asked += 1;
      return {};
    },
  });
  const { access } = await serveSession(t, {}, [
    counts('GET', 'goal/status'),
    counts('GET', 'events'),
    counts('POST', 'messages'),
  ]);
  let there = true;
  const client = openClient(t, { ...access, isThere: async () => there });
  t.strictSame((await client.call('goal.status')).result, {});
  there = false;
  for (const method of ['goal.status', 'message.submit', 'events.subscribe'])
    t.equal((await client.call(method)).error?.code, -32001, method);
  t.equal(asked, 1);
});

t.test('a response that is nested too deeply or is no event stream fails only its own request', async (t) => {
  const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const tells = (path: string, text: string): Route => ({
    method: 'GET',
    path: `/api/code/${path}`,
    answer: ({ response }) => void response.writeHead(200).end(text),
  });
  const { access } = await serveSession(t, {}, [
    tells('session', nested),
    tells('diagnostics', 'null'),
    tells('events', 'data: {}\n\n'),
    {
      method: 'POST',
      path: '/api/code/controller/attach',
      answer: ({ response }) => void response.end('null'),
    },
  ]);
  const client = openClient(t, access);
  t.equal((await client.call('session.get')).error?.code, -32603);
  t.equal((await client.call('events.subscribe')).error?.code, -32603);
  t.match(await client.call('controller.attach', { clientId: 'bot' }), { result: null });
  t.match(await client.call('diagnostics.get'), { result: null });
  t.match(await client.end(), { requests: 4, events: 0 });
});

t.test('a response that is not JSON and an unknown route give different errors', async (t) => {
  const { access } = await serveSession(t, {}, [
    {
      method: 'GET',
      path: '/api/code/diagnostics',
      answer: ({ response }) => void response.writeHead(200).end('<html>'),
    },
    {
      method: 'GET',
      path: '/api/code/transcript',
      answer: ({ query }) => ({ asked: `?${query}` }),
    },
  ]);
  const client = openClient(t, access);
  t.equal((await client.call('diagnostics.get')).error.code, -32603);
  t.match((await client.call('goal.status')).error, {
    code: -32000,
    data: { status: 404, code: 'NOT_FOUND' },
  });
  t.match((await client.call('threads.list', { limit: 1, offset: 0 })).error.data, { status: 404 });
  t.match((await client.call('transcript.get', { before: 9, limit: 2 })).result, {
    asked: '?before=9&limit=2',
  });
});
