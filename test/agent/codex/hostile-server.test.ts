import t from 'tap';
import { converseWithCodex, workWithCodex } from '../../../agent/codex/converse.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { ModelMessage } from '../../../core/interfaces/model.ts';
import type { AgentHost } from '../../../core/interfaces/worker.ts';
import { type FakeOrder, type FakeServer, fakeOrder, over, turnThatSays } from './fake-host.ts';

const soon = { answerMs: 200, idleMs: 200 };
const broken = { code: 'PROVIDER_FAILED', detail: { provider: 'codex', kind: 'broken-reply' } };

/** What the worker answered to the request with this id. */
function answerTo({ sent }: FakeOrder, id: number | string): unknown {
  const answer = sent.find((one) => one.id === id && one.method === undefined);
  return answer?.error === undefined ? answer?.result : { error: (answer.error as { code: number }).code };
}

const approval = (id: number, params: object, kind = 'commandExecution') => ({
  id,
  method: `item/${kind}/requestApproval`,
  params: { threadId: 't1', turnId: 'u1', itemId: `i${id}`, ...params },
});
const command = (id: number, text: string, more: object = {}) =>
  approval(id, { kind: 'command', command: text, cwd: '/workspace', ...more });
const began = (id: number, changes: readonly object[]) => ({
  method: 'item/started',
  params: { item: { type: 'fileChange', id: `i${id}`, changes } },
});
const change = (path: string, type = 'add', more: object = {}) => ({
  path,
  kind: { type, ...more },
  diff: 'x\n',
});

t.test('broken messages, silence or an early end are reported as a broken reply', async (t) => {
  const nothingAfter = (method: string): FakeServer => {
    const usual = turnThatSays([]);
    return (message) => (message.method === method ? [] : usual(message));
  };
  const cases: Readonly<Record<string, FakeServer>> = {
    'no JSON': turnThatSays(['Welcome to Codex!']),
    'no object': turnThatSays(['[1, 2]']),
    'neither request nor answer': turnThatSays([{ hello: 'world' }]),
    'a request with an odd id': turnThatSays([{ id: { a: 1 }, method: 'x', params: {} }]),
    'no answer to its start': nothingAfter('initialize'),
    'no answer to its thread': nothingAfter('thread/start'),
    'silence in a turn': turnThatSays([]),
    'an end in a turn': (message) =>
      message.method === 'turn/start' ? undefined : turnThatSays([])(message),
    'an error to its thread': (message) =>
      message.method === 'thread/start'
        ? [{ id: message.id, error: { code: -32_600, message: 'unknown variant `untrusted`' } }]
        : turnThatSays([])(message),
    'a thread without an id': turnThatSays([over], { thread: {} }),
  };
  for (const [name, server] of Object.entries(cases))
    await t.rejects(workWithCodex(fakeOrder(server).order, soon), broken, name);
});

t.test('a question is recorded once Codex has accepted it', async (t) => {
  const asked = async (server: FakeServer) => {
    const messages: string[] = [];
    const { agent, signal } = fakeOrder(server).order as unknown as { agent: AgentHost; signal: AbortSignal };
    const told = {
      message: async ({ role }: ModelMessage) => void messages.push(role),
      event: () => {},
    };
    const question = { system: [], before: [], question: 'How?', told, agent: { host: agent, signal } };
    const end = await converseWithCodex(question as never, soon).catch((fault: unknown) => fault);
    return { end, messages };
  };
  const said = { method: 'item/completed', params: { item: { type: 'agentMessage', id: 'm', text: 'So.' } } };
  t.match(await asked(turnThatSays([said, over])), {
    end: { kind: 'answered' },
    messages: ['user', 'assistant'],
  });
  const tooLong = { code: -32_602, message: 'Input exceeds the maximum length of 1048576 characters.' };
  const refused = await asked((message) =>
    message.method === 'turn/start' ? [{ id: message.id, error: tooLong }] : turnThatSays([])(message),
  );
  t.match(refused, { end: { code: 'PROVIDER_FAILED' }, messages: [] });
});

t.test('a thread without the expected approval policy is refused', async (t) => {
  for (const approvalPolicy of ['never', 'on-request', undefined])
    await t.rejects(workWithCodex(fakeOrder(turnThatSays([over], { approvalPolicy })).order, soon), broken);
});

t.test('silence does not count while the model is being queried', async (t) => {
  let asked = 0;
  const late = turnThatSays([]);
  const fake = fakeOrder(late, { host: { isAsking: () => ++asked < 3 } });
  await t.rejects(workWithCodex(fake.order, { answerMs: 200, idleMs: 20 }), broken);
  t.equal(asked, 3);
});

t.test('each request of Codex is accepted, declined or answered with an error', async (t) => {
  const fake = fakeOrder(
    turnThatSays([
      command(1, 'echo fine'),
      command(2, 'rm -rf /'),
      command(3, 'echo', { cwd: '/' }),
      command(4, 'echo', { networkApprovalContext: { host: 'example.org' } }),
      command(5, 'echo', { additionalPermissions: { fileSystem: {} } }),
      command(6, 'echo', { kind: 'writeStdin' }),
      approval(7, { kind: 'command' }),
      approval(8, {}, 'fileChange'),
      began(9, [change('/workspace/src/a.js'), change('/workspace/src/b.js', 'delete')]),
      approval(9, {}, 'fileChange'),
      began(10, [change('/workspace/src/a.js'), change('/workspace/forbidden')]),
      approval(10, {}, 'fileChange'),
      began(11, [change('/workspace/src/a.js')]),
      approval(11, { grantRoot: '/' }, 'fileChange'),
      began(12, [change('/workspace/src/a.js', 'update', { move_path: '/workspace/forbidden' })]),
      approval(12, {}, 'fileChange'),
      began(13, [{ path: '/workspace/src/a.js', kind: { type: 'chmod' }, diff: '' }]),
      approval(13, {}, 'fileChange'),
      began(14, []),
      approval(14, {}, 'fileChange'),
      approval(15, { permissions: { network: { enabled: true } } }, 'permissions'),
      { id: 16, method: 'item/tool/requestUserInput', params: { questions: [{ id: 'q' }] } },
      { id: 17, method: 'mcpServer/elicitation/request', params: {} },
      { id: 18, method: 'execCommandApproval', params: { command: ['rm'] } },
      { id: 'nineteen', method: 'account/chatgptAuthTokens/refresh', params: {} },
      { id: 20, method: 'constructor', params: {} },
      { id: 4711, result: 'to nothing' },
      { method: 'something/new', params: { item: null } },
      {
        method: 'item/completed',
        params: { item: { type: 'commandExecution', id: 'i1', status: 'completed', exitCode: 3 } },
      },
      { method: 'item/completed', params: { item: { type: 'fileChange', id: 'i9', status: 'completed' } } },
      over,
    ]),
    { judge: (use) => (JSON.stringify(use).match(/rm -rf|forbidden/) ? 'no' : undefined) },
  );
  t.match(await workWithCodex(fake.order, soon), { kind: 'workspace' });
  const [accept, decline] = [{ decision: 'accept' }, { decision: 'decline' }];
  t.same(answerTo(fake, 1), accept);
  for (const id of [2, 3, 4, 5, 6, 7, 8]) t.same(answerTo(fake, id), decline, `request ${id}`);
  t.same(answerTo(fake, 9), accept);
  for (const id of [10, 11, 12, 13, 14]) t.same(answerTo(fake, id), decline, `request ${id}`);
  t.same(answerTo(fake, 15), { permissions: {}, scope: 'turn' });
  t.same(answerTo(fake, 16), { answers: {} });
  t.match(answerTo(fake, 17), { action: 'decline' });
  t.match(answerTo(fake, 18), { decision: { denied: {} } });
  for (const id of ['nineteen', 20]) t.same(answerTo(fake, id), { error: -32_601 });
  t.same(
    fake.judged.map((use) => ('path' in use ? `${use.kind} ${use.path}` : 'execute')),
    [
      'execute',
      'execute',
      'write /workspace/src/a.js',
      'delete /workspace/src/b.js',
      'write /workspace/src/a.js',
      'write /workspace/forbidden',
      'delete /workspace/src/a.js',
      'write /workspace/forbidden',
    ],
  );
  // Of two that were asked for together the allowed one comes to nothing with the other; an exit code is told as such.
  t.same(fake.settled, ['failed', 'failed', 'failed', 'done', 'done']);
});

t.test('before a plan only read commands are allowed, and without a plan there is no result', async (t) => {
  const look = { commandActions: [{ type: 'read' }] };
  const planning = (said: readonly object[]) =>
    fakeOrder(turnThatSays([...said, over]), { host: { flags: { 'plan-mode': 'true' } } });
  const without = planning([
    command(1, 'cat a', look),
    command(2, 'cat a > b', { commandActions: [{ type: 'read' }, { type: 'unknown' }] }),
    command(3, 'cat a', { commandActions: [] }),
    began(4, [change('/workspace/a')]),
    approval(4, {}, 'fileChange'),
  ]);
  t.match(await workWithCodex(without.order, soon), { kind: 'nothing', reason: 'no plan was proposed' });
  t.same(answerTo(without, 1), { decision: 'accept' });
  for (const id of [2, 3, 4]) t.same(answerTo(without, id), { decision: 'decline' });
  const plan = { method: 'item/completed', params: { item: { type: 'plan', id: 'p', text: 'First this.' } } };
  const empty = { method: 'item/completed', params: { item: { type: 'plan', id: 'p', text: ' ' } } };
  t.match(await workWithCodex(planning([empty]).order, soon), { kind: 'nothing' });
  const withOne = planning([plan]);
  t.match(await workWithCodex(withOne.order, soon), { kind: 'workspace' });
  t.same(withOne.notes, ['plan: First this.']);
  const modes = withOne.sent.flatMap(({ method, params }) =>
    method === 'turn/start'
      ? [(params as { collaborationMode: { mode: string } }).collaborationMode.mode]
      : [],
  );
  t.same(modes, ['plan', 'default']);
});

t.test('a failed turn reports the model failure that the engine saw, else the error of Codex', async (t) => {
  const failed = (error: object) => ({
    method: 'turn/completed',
    params: { turn: { id: 'u1', status: 'failed', error } },
  });
  const kinds: readonly (readonly [info: unknown, kind: string])[] = [
    ['unauthorized', 'key-refused'],
    ['contextWindowExceeded', 'too-large'],
    ['usageLimitExceeded', 'quota-used-up'],
    [{ httpConnectionFailed: { httpStatusCode: 401 } }, 'key-refused'],
    [{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }, 'rate-limited'],
    [{ responseStreamDisconnected: { httpStatusCode: 502 } }, 'server'],
    [{ responseStreamDisconnected: { httpStatusCode: null } }, 'broken-reply'],
    ['constructor', 'broken-reply'],
    [undefined, 'broken-reply'],
    [7, 'broken-reply'],
  ];
  for (const [codexErrorInfo, kind] of kinds)
    await t.rejects(
      workWithCodex(fakeOrder(turnThatSays([failed({ message: 'so', codexErrorInfo })])).order, soon),
      { code: 'PROVIDER_FAILED', detail: { provider: 'codex', kind } },
    );
  const seen = new WritError('PROVIDER_FAILED', { detail: { kind: 'no-credit' } });
  // Also where it says that all is well.
  for (const said of [failed({ message: 'so' }), over])
    await t.rejects(
      workWithCodex(fakeOrder(turnThatSays([said]), { host: { failure: () => seen } }).order, soon),
      { code: 'PROVIDER_FAILED', detail: { kind: 'no-credit' } },
    );
  const limit = new WritError('TURN_LIMIT', { detail: { maxTurns: 1 } });
  t.match(
    await workWithCodex(fakeOrder(turnThatSays([over]), { host: { failure: () => limit } }).order, soon),
    { kind: 'nothing' },
  );
});

t.test('an abort interrupts the turn, and its answer does not count', async (t) => {
  for (const isDeaf of [false, true]) {
    const stop = new AbortController();
    const usual = turnThatSays([]);
    const fake = fakeOrder(
      (message) => {
        if (message.method === 'turn/interrupt') return isDeaf ? [] : [{ id: message.id, result: {} }, over];
        if (message.method === 'turn/start') setImmediate(() => stop.abort(new Error('stopped')));
        return usual(message);
      },
      { signal: stop.signal },
    );
    await t.rejects(workWithCodex(fake.order, { answerMs: 5000, idleMs: 5000 }), { message: 'stopped' });
    t.match(fake.sent.at(-1), { method: 'turn/interrupt', params: { threadId: 't1', turnId: 'u1' } });
  }
});
