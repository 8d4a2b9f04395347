import { readdirSync, readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { placeholderKey } from '../../../agent/external/relay.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import {
  canary,
  chatAnswer,
  external,
  fakeAgent,
  fakeRule,
  mend,
  modelHost,
  openModelHost,
  reach,
  ruleFor,
  sampleWithRecipe,
} from './fake-agent.ts';

/** A run with the agent of the tests, which is asked for `prompt` and told `said`. */
async function runAgent(
  t: Test,
  sample: Sample,
  {
    said = mend,
    prompt = 'Round prices',
    more = {},
    spec = {},
  }: {
    readonly said?: string;
    readonly prompt?: string;
    readonly more?: object;
    readonly spec?: object;
  } = {},
) {
  const world = await openModelHost(t, (_asked, response) => chatAnswer(response, said));
  const source = external([fakeAgent, prompt]);
  const run = sample.run({ source, reach, outside: world.outside, ...more }, { security: fakeRule, ...spec });
  return { ...world, run };
}

t.test('an external agent makes the change through the relay, and the change is sealed', async (t) => {
  const sample = sampleWithRecipe(t);
  const { asked, run } = await runAgent(t, sample, {
    said: `${mend}
await ask(JSON.stringify({ env: process.env, settings, args: process.argv, files: fs.readdirSync(process.env.HOME) }));`,
  });
  const view = await run;
  t.match(view, { decision: { type: 'commit' } });
  t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
  const [first, second] = asked;
  t.match(first, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${canary}`, host: modelHost },
    body: { model: 'scripted', messages: [{ content: 'Round prices' }] },
  });
  const { env, settings, files } = JSON.parse(second?.prompt ?? '');
  t.match(env, {
    AGENT_KEY: placeholderKey,
    AGENT_BASE_URL: 'http://127.0.0.1:3128/v1',
    HOME: '/agent-home',
  });
  t.match(settings, { key: placeholderKey, base: 'http://127.0.0.1:3128/v1' });
  t.same(files, ['.fake'], 'its home holds what the recipe writes');
  const log = view.artifacts.find(({ name }) => name === 'agent-session-log');
  t.match(view.provenance?.models, [
    {
      provider: 'openai',
      model: 'scripted',
      endpoint: modelHost,
      agent: 'external-agent',
      program: { name: 'fake-agent.mjs', recipe: 'fake', sha256: sha256Hex(readFileSync(fakeAgent)) },
      logs: [log?.sha256],
    },
  ]);
  t.equal(view.provenance?.models?.[0]?.exchanges.length, 2);
  t.match(JSON.stringify(view), /it asks its model/);
});

t.test('a run is refused before any work without a rule that opens the host of the model', async (t) => {
  const sample = sampleWithRecipe(t);
  const before = sample.state();
  const cases: Record<string, object> = {
    'no network in the rule': {
      security: {
        toolAcl: {
          allow: [
            {
              tool: 'workspace.command',
              actions: ['execute'],
              constraints: { allowCommands: ['fake-agent.mjs'] },
            },
          ],
        },
      },
    },
    'another host': { security: ruleFor('fake-agent.mjs', {}, 'docs.example.com') },
    'another program': { security: ruleFor('codex') },
    'a network for everything': { constraints: { security: { networkPolicy: 'allow' } } },
  };
  for (const [name, spec] of Object.entries(cases)) {
    const { asked, run } = await runAgent(t, sample, { spec: { security: {}, ...spec } });
    const fault = await run.catch((thrown: unknown) => thrown);
    if (!isWritError(fault, 'AGENT_RULE_MISSING')) throw fault;
    t.match(fault, { exitCode: 1, detail: { host: modelHost } }, name);
    const [hint = ''] = fault.hints;
    const rule = JSON.parse(hint.slice(hint.indexOf('{')));
    t.match(rule, { constraints: { allowCommands: ['fake-agent.mjs'], networkHosts: [modelHost] } });
    t.equal(asked.length, 0);
  }
  t.equal(sample.state(), before);
  const { run } = await runAgent(t, sample, { more: { source: external(['no-such-program']) } });
  await t.rejects(run, { code: 'AGENT_RECIPE_UNKNOWN' });
  const absent = external(['no-such-program'], { recipe: 'codex' });
  await t.rejects((await runAgent(t, sample, { more: { source: absent } })).run, {
    code: 'AGENT_UNAVAILABLE',
  });
  const bare = await runAgent(t, sample, {
    more: { sandbox: 'none' },
    spec: { security: fakeRule, constraints: { security: { networkPolicy: 'allow' } } },
  });
  await t.rejects(bare.run, { code: 'SANDBOX_NONE_REFUSED' });
});

long('an agent that leaves no usable log ends the run, and nothing is sealed', async (t) => {
  const sample = sampleWithRecipe(t);
  const before = sample.state();
  const asking = `const answer = await ask('x'); if (answer.status !== 200) throw new Error(answer.text);`;
  const cases: Record<string, readonly [prompt: string, code: string, detail: object]> = {
    'no log': [`js:${asking}${mend}`, 'AGENT_NOTHING_CAPTURED', { what: 'log' }],
    'an empty log': [
      `js:${asking}${mend} fs.mkdirSync('/agent-home/.fake/sessions'); fs.writeFileSync('/agent-home/.fake/sessions/a.jsonl', '');`,
      'AGENT_NOTHING_CAPTURED',
      { what: 'log' },
    ],
    'no request': [`js:log({});${mend}`, 'AGENT_NOTHING_CAPTURED', { what: 'requests' }],
    'a symlink as the log': [
      `js:${asking}${mend} fs.mkdirSync('/agent-home/.fake/sessions'); fs.symlinkSync('/etc/passwd', '/agent-home/.fake/sessions/a.jsonl');`,
      'AGENT_NOTHING_CAPTURED',
      { what: 'log' },
    ],
    'a symlink on the way to the log': [
      `js:${asking}${mend} fs.mkdirSync('/agent-home/other'); fs.writeFileSync('/agent-home/other/a.jsonl', 'x'); fs.symlinkSync('../other', '/agent-home/.fake/sessions');`,
      'AGENT_NOTHING_CAPTURED',
      { what: 'log' },
    ],
    'a log that is too large': [
      `js:${asking}${mend} log({}); fs.truncateSync('/agent-home/.fake/sessions/one.jsonl', 33 * 1024 * 1024);`,
      'AGENT_LOG_UNUSABLE',
      { reason: 'too-large' },
    ],
    'too many logs': [
      `js:${asking}${mend} log({}); for (let n = 0; n < 40; n += 1) fs.writeFileSync('/agent-home/.fake/sessions/' + n + '.jsonl', 'x');`,
      'AGENT_LOG_UNUSABLE',
      { reason: 'too-many' },
    ],
  };
  for (const [name, [prompt, code, detail]] of Object.entries(cases)) {
    const { run } = await runAgent(t, sample, { prompt });
    const fault = await run.catch((thrown: unknown) => thrown);
    t.match(fault, { code, exitCode: 128, detail, hints: [/writ resume/] }, name);
  }
  t.equal(sample.state(), before);
});

long('an agent that fails ends the run with what its model answered', async (t) => {
  const sample = sampleWithRecipe(t);
  const { outside, asked } = await openModelHost(t, (_asked, response) => {
    response.writeHead(401).end(`no such key ${canary}`);
  });
  const run = sample.run(
    { source: external([fakeAgent, 'Round prices']), reach, outside },
    { security: fakeRule },
  );
  const fault = await run.catch((thrown: unknown) => thrown);
  if (!isWritError(fault, 'AGENT_FAILED')) throw fault;
  t.match(fault, { exitCode: 128, detail: { exit_code: 1 }, message: /HTTP 401/ });
  t.notMatch(fault.message, canary);
  t.equal(asked.length, 1, 'no attempt follows');
  const id = /resume ([\w-]+)/.exec(fault.hints.at(-1) ?? '')?.[1] ?? '';
  const { outside: mended } = await openModelHost(t, (_asked, response) => chatAnswer(response, mend));
  const view = await sample.resume(id, { worker: { name: 'recorded' }, reach, outside: mended });
  t.match(view, { decision: { type: 'commit' } });
  t.equal(view.provenance?.models?.[0]?.exchanges.length, 2, 'requests of both attempts are named');
});

long(
  'an agent that runs into its deadline is ended with all its processes, and no repair starts',
  async (t) => {
    const sample = sampleWithRecipe(t, 2);
    const { asked, run } = await runAgent(t, sample, {
      said: `const { spawn } = await import('node:child_process'); spawn('sleep', ['1000'], { detached: true }); setInterval(() => {}, 1000);`,
      spec: { execution: { retry: { maxRetries: 2 } } },
    });
    await t.rejects(run, { code: 'AGENT_DEADLINE', detail: { recipe: 'fake' }, hints: [/writ resume/] });
    t.equal(asked.length, 1);
  },
);

long('a change outside the scope is refused as any other', async (t) => {
  const sample = sampleWithRecipe(t);
  const before = sample.state();
  const { run } = await runAgent(t, sample, { said: `fs.writeFileSync('docs/notes.md', 'mine');` });
  const view = await run;
  t.match(view, { decision: { type: 'abandon' } });
  t.match(JSON.stringify(view), /scope/);
  t.equal(sample.state(), before);
  const inRoots = await runAgent(t, sample, {
    spec: { security: ruleFor('fake-agent.mjs', { writeRoots: ['docs'] }) },
  });
  t.match(
    await inRoots.run,
    { decision: { type: 'abandon' } },
    '`writeRoots` of the rule hold for its files',
  );
});

long('an agent in its sandbox reaches no host, no other path and no other process', async (t) => {
  const sample = sampleWithRecipe(t);
  const { asked, run } = await runAgent(t, sample, {
    said: `${mend}
const tried = {};
for (const [name, url] of Object.entries({ direct: 'https://${modelHost}/v1/chat/completions', plain: 'http://${modelHost}/', other: 'http://127.0.0.1:3128/v1/files' }))
  tried[name] = await ask('x', { url }).then(({ status }) => status, () => 'failed');
for (const file of ['/etc/written', '/reports/../written', process.env.HOME + '/written'])
  try { fs.writeFileSync(file, 'x'); tried[file] = 'written'; } catch { tried[file] = 'failed'; }
await ask(JSON.stringify(tried));`,
  });
  t.match(await run, { decision: { type: 'commit' } });
  t.equal(asked.length, 2);
  const { direct, plain, ...rest } = JSON.parse(asked[1]?.prompt ?? '');
  t.notMatch([direct, plain], [200]);
  t.match(rest, { other: 403, '/etc/written': 'failed', '/agent-home/written': 'written' });
});

long('a run that was stopped while the agent worked goes on from its journal', async (t) => {
  const sample = sampleWithRecipe(t);
  const stop = new AbortController();
  const { outside, asked } = await openModelHost(t, () => {});
  const source = external([fakeAgent, 'Do {task} of it']);
  const run = sample.run({ source, reach, outside, signal: stop.signal }, { security: fakeRule });
  run.catch(() => {});
  await until(() => asked.length > 0);
  stop.abort(new Error('stopped by the test'));
  await t.rejects(run, { message: 'stopped by the test' });
  const [runId = ''] = readdirSync(`${sample.root}/.git/writ/runs`);
  const { outside: mended, asked: again } = await openModelHost(t, (_asked, response) =>
    chatAnswer(response, mend),
  );
  const view = await sample.resume(runId, { worker: { name: 'recorded' }, reach, outside: mended });
  t.match(view, { decision: { type: 'commit' } });
  t.match(again[0]?.prompt, /^Do Task: Prices are exact[\s\S]* of it$/, '`{task}` is the text of the task');
});

long('without a seal the change is only evaluated', async (t) => {
  const sample = sampleWithRecipe(t);
  const before = sample.state();
  const { run } = await runAgent(t, sample, { more: { noSeal: true } });
  const view = await run;
  t.match(view, { decision: undefined });
  t.equal(sample.state(), before);
});
