import t from 'tap';
import type { McpApproval } from '../../../session/mcp/tool.ts';
import { until } from '../../waiting/until.ts';
import { personRepository } from '../vcs/person-repository.ts';
import { codeOf, modern, openScene, testIn } from './mcp-scene.ts';

const change = { name: 'run_writ_vcs', arguments: { command: 'branch', args: ['made'] } };
const offersForm = { elicitation: { form: {} } };

for (const era of ['legacy', 'modern'] as const)
  testIn(
    era === 'modern',
    `a change is made only where policy, controller or the client’s person lets it, era ${era}`,
    async (t) => {
      const { root: cwd, git } = personRepository();
      const branches = (): string => git('branch', '--list', 'made').trim();
      const outcome = async (
        approval: McpApproval,
        answers?: (message: string) => object,
        readsOnly = () => false,
      ) => {
        const client = await openScene(t, { cwd, approval, readsOnly }).connect(era, answers);
        const code = codeOf(await client.callTool(change));
        const was = branches();
        if (was !== '') git('branch', '--quiet', '-D', 'made');
        return [code, was];
      };
      const says = (action: string, content?: object) => () => ({ action, ...(content && { content }) });
      const [made, kept] = ['made', ''];
      t.strictSame(await outcome({ policy: 'never' }, says('accept', { decision: 'approve' })), [
        'APPROVAL_DENIED',
        kept,
      ]);
      t.strictSame(await outcome({ policy: 'allow-all' }), ['ok', made]);
      t.strictSame(await outcome({ policy: 'allow-all' }, undefined, () => true), ['APPROVAL_DENIED', kept]);
      for (const policy of ['on-request', 'on-failure', 'untrusted'] as const)
        t.strictSame(await outcome({ policy }), ['APPROVAL_REQUIRED', kept], policy);
      const policy = 'on-request';
      let asked = '';
      const yes = (message: string) => {
        asked = message;
        return { action: 'accept', content: { decision: 'approve' } };
      };
      t.strictSame(await outcome({ policy }, yes), ['ok', made]);
      t.match(asked, /^writ is asked to create branch `made` at [0-9a-f]{12}/);
      for (const no of [says('decline'), says('cancel'), says('accept', { decision: 'deny' })])
        t.strictSame(await outcome({ policy }, no), ['APPROVAL_DENIED', kept]);
      const askController = (said: 'approved' | 'denied' | 'nobody') => async () => said;
      t.strictSame(await outcome({ policy, askController: askController('approved') }), ['ok', made]);
      t.strictSame(await outcome({ policy, askController: askController('denied') }, yes), [
        'APPROVAL_DENIED',
        kept,
      ]);
      t.strictSame(await outcome({ policy, askController: askController('nobody') }), [
        'APPROVAL_REQUIRED',
        kept,
      ]);
      t.strictSame(await outcome({ policy, askController: askController('nobody') }, yes), ['ok', made]);
    },
  );

t.test('the controller learns which client sent a call, and a cancel aborts the question', async (t) => {
  const { root: cwd, git } = personRepository();
  const asked: { readonly actor: object; readonly signal: AbortSignal }[] = [];
  const approval: McpApproval = {
    policy: 'on-request',
    askController: ({ actor }, signal) => {
      asked.push({ actor, signal });
      return new Promise(() => {});
    },
  };
  const scene = openScene(t, { cwd, approval });
  scene.send(modern(1, 'tools/call', change));
  await until(() => asked.length === 1, 'the question');
  t.strictSame(asked[0]?.actor, { transport: 'stdio', client: 'raw' });
  scene.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await until(() => asked[0]?.signal.aborted, 'the end of the question');
  scene.send(modern(2, 'tools/call', { name: 'read_writ_vcs', arguments: { command: 'branch' } }));
  t.match(await scene.answer(2), { result: { structuredContent: { output: '* main' } } });
  t.equal(git('branch', '--list', 'made'), '');
});

t.test('calls that change something run one at a time, and reads do not wait for them', async (t) => {
  const { root: cwd } = personRepository();
  const asked: ((said: 'approved' | 'denied') => void)[] = [];
  const approval: McpApproval = {
    policy: 'on-request',
    askController: () => new Promise((resolve) => asked.push(resolve)),
  };
  const scene = openScene(t, { cwd, approval });
  scene.send(modern(1, 'tools/call', change));
  await until(() => asked.length === 1, 'the first question');
  scene.send(modern(2, 'tools/call', change));
  scene.send(modern(3, 'tools/call', { name: 'read_writ_vcs', arguments: { command: 'status' } }));
  await scene.answer(3);
  t.equal(asked.length, 1);
  asked[0]?.('approved');
  t.equal(codeOf((await scene.answer(1)).result), 'ok');
  t.equal(codeOf((await scene.answer(2)).result), 'UNSUPPORTED_OPERATION', 'the branch is there by then');
});

t.test('an approval counts once, for its own question, and cannot be forged', async (t) => {
  const { root: cwd, git } = personRepository();
  const scene = openScene(t, { cwd });
  let id = 0;
  const ask = async (params: object) => {
    id += 1;
    scene.send(modern(id, 'tools/call', params, offersForm));
    return scene.answer(id);
  };
  const inputResponses = { approval: { action: 'accept', content: { decision: 'approve' } } };
  const first = await ask(change);
  t.match(first.result, {
    resultType: 'input_required',
    inputRequests: { approval: { method: 'elicitation/create' } },
  });
  const { requestState } = first.result as { readonly requestState: string };
  t.match(
    (await ask({ ...change, inputResponses })).result,
    { resultType: 'input_required' },
    'without a question',
  );
  for (const forged of [
    'x',
    requestState.slice(0, -3),
    `v1.${Buffer.from('{"p":{}}').toString('base64url')}.x`,
  ])
    t.match(await ask({ ...change, inputResponses, requestState: forged }), { error: { code: -32_602 } });
  const other = { name: 'run_writ_vcs', arguments: { command: 'branch', args: ['another'] } };
  t.match(
    (await ask({ ...other, inputResponses, requestState })).result,
    { resultType: 'input_required' },
    'another one',
  );
  t.equal(git('branch', '--list', 'made', 'another'), '');
  t.equal(codeOf((await ask({ ...change, inputResponses, requestState })).result), 'ok');
  git('branch', '--quiet', '-D', 'made');
  t.match(
    (await ask({ ...change, inputResponses, requestState })).result,
    { resultType: 'input_required' },
    'used',
  );
  t.equal(git('branch', '--list', 'made'), '');
  const text = (
    await ask({ ...change, inputResponses: { approval: { method: 'elicitation/create', result: {} } } })
  ).result;
  t.match(text, { resultType: 'input_required' }, 'an answer of another form is none');
});
