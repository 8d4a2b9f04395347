import { methods } from '@agentclientprotocol/sdk';
import t from 'tap';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { type Chooses, openEditor } from './open-editor.ts';

const plan: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

t.test('an editor gets an answer in pieces, and the thread of the session', async (t) => {
  const { hello, begin, prompt, said, sample, updates, agent, out } = await openEditor(t, [
    { text: 'It adds a cent.' },
  ]);
  t.match(hello, {
    protocolVersion: 1,
    agentInfo: { name: 'writ' },
    agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
    authMethods: [],
  });
  const id = await begin();
  t.equal(await prompt(id, 'What does price() do?'), 'end_turn');
  t.equal(said(), 'It adds a cent.');
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: sample.root });
  t.match(sessions, [{ sessionId: id, title: 'What does price() do?' }]);
  const commands = updates.find((one) => one.sessionUpdate === 'available_commands_update');
  t.match(commands, { availableCommands: [{ name: 'ask', input: { hint: 'TEXT' } }] });
  for (const line of out().trim().split('\n')) t.match(JSON.parse(line), { jsonrpc: '2.0' });
});

long('a change is drafted, confirmed, executed and sealed as a commit', async (t) => {
  const { begin, prompt, said, asked, sample, updates, err } = await openEditor(
    t,
    [submits(priceDraft), plan, ...makesFix],
    {
      chooses: ({ options }) =>
        options.find(({ name }) => ['Confirm', 'Execute plan', 'Approve'].includes(name))?.name,
    },
  );
  const before = sample.git('rev-parse', 'main').trim();
  const id = await begin();
  t.equal(await prompt(id, 'Make prices exact.'), 'end_turn', err());
  const words = said();
  const commit = sample.git('rev-parse', 'main').trim();
  t.not(commit, before, words);
  t.match(words, /\*\*Committed\*\*: .*\n- commit `[0-9a-f]{40}`\n- `writ verify /);
  t.match(words, commit);
  t.match(
    asked.map(({ options }) => options.map(({ name, kind }) => [name, kind])),
    [
      [
        ['Confirm', 'allow_once'],
        ['Cancel', 'reject_once'],
        ['Modify', 'reject_once'],
      ],
      [
        ['Execute plan', 'allow_once'],
        ['Cancel', 'reject_once'],
        ['Network: deny → allow', 'reject_once'],
        ['Modify plan', 'reject_once'],
      ],
    ],
  );
  t.match(JSON.stringify(asked[0]), /Spec: .*may write/);
  t.match(JSON.stringify(asked[1]), /take the cent away.*What this plan may do/);
  const diff = updates.findLast((one) => 'title' in one && / files? changed$/.test(one.title ?? ''));
  t.match(diff, {
    kind: 'edit',
    status: 'completed',
    content: [{ type: 'diff' }],
    locations: [{ path: `${sample.root}/src/price.js` }, { path: `${sample.root}/test/price.test.js` }],
  });
  t.match(JSON.stringify(diff), /"oldText":".*\+ 1.*"newText"/);
  const plans = updates.filter((one) => one.sessionUpdate === 'plan');
  t.match(JSON.stringify(plans.at(-1)), /take the cent away.{0,40}completed/);
});

/** Chooses these in order, then nothing. */
const inOrder = (...names: readonly (string | undefined)[]): Chooses => {
  const left = [...names];
  return () => left.shift();
};

t.test('a draft that is cancelled, or answered with what was not offered, changes nothing', async (t) => {
  const { begin, prompt, said, asked, sample, updates } = await openEditor(
    t,
    [submits(priceDraft), submits(priceDraft)],
    { chooses: inOrder(undefined, '#allow_all_commands') },
  );
  const before = sample.git('for-each-ref');
  const id = await begin();
  for (const turn of [1, 2]) {
    t.equal(await prompt(id, 'Make prices exact.'), 'end_turn');
    t.equal(asked.length, turn);
    t.match(
      updates.findLast((one) => one.sessionUpdate === 'tool_call_update'),
      { title: 'Prices are exact · you chose: Cancel', status: 'failed' },
    );
  }
  t.notMatch(said(), 'Committed');
  t.equal(sample.git('for-each-ref'), before);
  t.equal(sample.git('status', '--porcelain'), '');
});

long('after Modify the next prompt is the note, and another draft is shown', async (t) => {
  const { begin, prompt, said, asked, model } = await openEditor(
    t,
    [submits(priceDraft), submits({ ...priceDraft, summary: 'Prices are round' })],
    { chooses: inOrder('Modify', 'Cancel') },
  );
  const id = await begin();
  t.equal(await prompt(id, 'Make prices exact.'), 'end_turn');
  t.match(said(), 'your next message is the note');
  t.equal(await prompt(id, 'Round them instead.'), 'end_turn');
  t.strictSame(
    asked.map(({ toolCall }) => toolCall.title),
    ['Prices are exact', 'Prices are round'],
  );
  t.match(JSON.stringify(model.asked.at(-1)?.body), 'Round them instead.');
});

t.test('a prompt is busy until it ends, and a cancelled one stops its turn and its question', async (t) => {
  const there = Promise.withResolvers<void>();
  const editor = await openEditor(t, [submits(priceDraft), { text: 'Still here.' }], {
    chooses: () => {
      there.resolve();
      return new Promise(() => {});
    },
  });
  const { agent, begin, prompt, said } = editor;
  const id = await begin();
  const stopped = prompt(id, 'Make prices exact.');
  await there.promise;
  await t.rejects(prompt(id, 'And more.'), { code: -32_010, message: /the session is busy/ });
  await agent.notify(methods.agent.session.cancel, { sessionId: id });
  t.equal(await stopped, 'cancelled');
  said();
  t.equal(await prompt(id, '/ask Are you there?'), 'end_turn');
  t.equal(said(), 'Still here.');
});

long('a question waits in its thread when the editor ends, and comes first when it is loaded', async (t) => {
  const sample = makeSample();
  const there = Promise.withResolvers<void>();
  const first = await openEditor(t, [{ text: 'It adds a cent.' }, submits(priceDraft)], {
    sample,
    isProgram: true,
    chooses: () => {
      there.resolve();
      return new Promise(() => {});
    },
  });
  const sessionId = await first.begin();
  await first.prompt(sessionId, 'What does price() do?');
  first.prompt(sessionId, 'Make prices exact.').catch(() => {});
  await there.promise;
  t.equal(await first.end(), 0, first.err());
  for (const line of first.out().trim().split('\n')) t.match(JSON.parse(line), { jsonrpc: '2.0' });

  const second = await openEditor(t, [{ text: 'Nothing more.' }], { sample, chooses: inOrder('Cancel') });
  const { agent, asked, updates, prompt, said } = second;
  const at = { cwd: sample.root, mcpServers: [] };
  const unknown = '01a20000-0000-7000-8000-000000000000';
  await t.rejects(agent.request(methods.agent.session.load, { ...at, sessionId: unknown }), {
    code: -32_002,
    data: { code: 'THREAD_NOT_FOUND' },
  });
  t.match(await agent.request(methods.agent.session.load, { ...at, sessionId }), {
    modes: { currentModeId: 'dev' },
  });
  const replayed = updates.flatMap((one) =>
    'content' in one && one.content && 'text' in one.content
      ? [[one.sessionUpdate, one.content.text.trim()]]
      : [],
  );
  t.strictSame(replayed, [
    ['user_message_chunk', 'What does price() do?'],
    ['agent_message_chunk', 'It adds a cent.'],
    ['user_message_chunk', 'Make prices exact.'],
  ]);
  t.equal(asked.length, 0, 'no question outside of a prompt');
  said();
  t.equal(await prompt(sessionId, '/ask Anything else?'), 'end_turn');
  t.match(asked, [{ toolCall: { title: 'Prices are exact' } }]);
  t.equal(said().trim(), 'Nothing more.');
  await agent.request(methods.agent.session.close, { sessionId });
  await t.rejects(prompt(sessionId, 'Hello?'), { code: -32_002 });
  const seen = updates.length;
  await agent.request(methods.agent.session.resume, { ...at, sessionId });
  t.strictSame(
    updates.slice(seen).filter(({ sessionUpdate }) => sessionUpdate !== 'available_commands_update'),
    [],
  );
});

t.test('a session opens in a repository alone, and no server that the editor names is started', async (t) => {
  const { agent, sample, prompt, said, out, err, asked } = await openEditor(t, [{ text: 'Yes.' }]);
  const open = (given: object) =>
    agent.request(methods.agent.session.new, { cwd: sample.root, mcpServers: [], ...given });
  await t.rejects(open({ cwd: 'repo' }), { code: -32_602, message: /not an absolute path/ });
  await t.rejects(open({ cwd: '/' }), { code: -32_010, message: /git repository/ });
  await t.rejects(open({ additionalDirectories: ['/tmp'] }), { message: /one repository/ });
  await t.rejects(agent.request('session/new', { cwd: 5 }), { code: -32_602 });
  const env = [{ name: 'TOKEN', value: 'a-secret-of-the-editor' }];
  const { sessionId } = await open({
    mcpServers: [{ name: 'files', command: '/bin/false', args: [], env }],
  });
  t.equal(await prompt(sessionId, '/ask Are you there?'), 'end_turn');
  t.match(said(), /did not start the MCP servers that the editor proposed: files\..*mcp-servers.*Yes\./s);
  t.notMatch(out() + err(), 'a-secret-of-the-editor');
  t.equal(asked.length, 0);
});

long('a mode is a context of the session, and what a session refuses is said', async (t) => {
  const { agent, begin, prompt, updates } = await openEditor(t, []);
  const sessionId = await begin();
  await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'research' });
  t.match(
    updates.filter((one) => one.sessionUpdate === 'current_mode_update'),
    [{ currentModeId: 'research' }],
  );
  await t.rejects(
    agent.request(methods.agent.session.setMode, { sessionId, modeId: 'dev\n/network allow' }),
    {
      message: /expected a mode/,
    },
  );
  await t.rejects(prompt(sessionId, '/nothing'), {
    code: -32_010,
    message: /there is no command/,
    data: { code: 'UNSUPPORTED_OPERATION' },
  });
  await t.rejects(prompt(sessionId, '/network allow'), { message: /reads|network/ });
});

long('a process has at most 8 sessions open', async (t) => {
  const { agent, begin } = await openEditor(t, []);
  const ids = [];
  for (let count = 0; count < 8; count += 1) ids.push(await begin());
  await t.rejects(begin(), { message: /8 sessions are open/ });
  await agent.request(methods.agent.session.close, { sessionId: ids[0] ?? '' });
  await begin();
});

t.test('a bad line gets an error, and the next one is read', async (t) => {
  const { raw, out, begin, prompt, agent, end } = await openEditor(t, [{ text: 'Here.' }]);
  const errors = () =>
    out()
      .trim()
      .split('\n')
      .flatMap((line) => {
        const { id, error } = JSON.parse(line);
        return id === null ? [error.code] : [];
      });
  const hostile: readonly (readonly [string, number])[] = [
    ['garbage', -32_700],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"initialize"}', -32_700],
    [`${'['.repeat(5000)}`, -32_700],
    [`"${'x'.repeat(17 * 1024 * 1024)}"`, -32_600],
    ['[]', -32_600],
    ['null', -32_600],
    ['{"jsonrpc":"1.0","id":7,"method":"initialize"}', -32_600],
    ['{"jsonrpc":"2.0","id":{},"method":"initialize"}', -32_600],
  ];
  for (const [line] of hostile) raw(`${line}\n`);
  await t.rejects(prompt('no-session', 'Hello?'), { code: -32_002, message: /no open session/ });
  await agent.notify(methods.agent.session.cancel, { sessionId: 'no-session' });
  t.strictSame(
    errors(),
    hostile.map(([, code]) => code),
  );
  await t.rejects(agent.request('session/unknown', {}), { code: -32_601 });
  const sessionId = await begin();
  t.equal(await prompt(sessionId, '/ask Are you there?'), 'end_turn');
  t.equal(await end(), 0);
});

long('a signal and an output that no one reads end the program with its sessions', async (t) => {
  for (const how of ['SIGTERM', 'closed output'] as const) {
    const sample = makeSample();
    const editor = await openEditor(t, [], { sample, isProgram: true });
    const sessionId = await editor.begin();
    const { child } = editor;
    if (how === 'SIGTERM') child?.kill('SIGTERM');
    else {
      child?.stdout?.destroy();
      const line = { jsonrpc: '2.0', id: 99, method: 'session/list', params: {} };
      editor.raw(`${JSON.stringify(line)}\n`);
    }
    t.equal(await editor.ended, 0, `${how}: ${editor.err()}`);
    const next = await openEditor(t, [], { sample });
    const at = { cwd: sample.root, mcpServers: [] };
    await next.agent.request(methods.agent.session.resume, { ...at, sessionId });
    t.pass('its lock is free');
  }
});
