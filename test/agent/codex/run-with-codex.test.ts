import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { formatModelChoice } from '../../../agent/instructions.ts';
import { codexWorker } from '../../../agent/plugin.ts';
import { reachProvider } from '../../../bin/command-parts/reach-provider.ts';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import { makeSample } from '../../engine/sample.ts';
import type { ModelServer } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { codexBin, codexSkip } from './codex-program.ts';
import { code, exec, patch, say, scriptResponses } from './scripted-responses.ts';

/** What lets it work on the sample: files of its scope, and a few programs. */
const security = {
  toolAcl: {
    allow: [
      { tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} },
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: { allowCommands: ['node', 'echo', 'cat'] },
      },
    ],
  },
};

const canary = 'sk-canary-of-the-test-0123456789';
const reach = reachProvider({
  variable: () => undefined,
  keys: { environment: (name) => (name === 'OPENAI_API_KEY' ? canary : undefined) },
});

const source = ({ base }: ModelServer, model = 'scripted', flags = {}) =>
  ({
    kind: 'worker',
    worker: codexWorker,
    from: formatModelChoice({
      provider: 'codex',
      model,
      apiBase: base,
      flags: { 'codex-bin': codexBin, ...flags },
    }),
  }) as const;

const fix = `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
   assert.ok(price(0, 100) < 2);
 });
+
+test('two cost twice as much as one', () => {
+  assert.equal(price(2, 100), 200);
+});
*** End Patch`;

/** A sleep before a question is asked again is over at once; that of the run's wall clock is not. */
const shortly: Clock['sleep'] = async (ms, signal) => {
  if (ms > 10_000) await systemClock.sleep(ms, signal);
};

/** What tools answered in the last question, in order. */
function answersTo({ asked }: ModelServer): readonly string[] {
  const last = asked.at(-1)?.body as
    | { readonly input: readonly { type: string; output?: unknown }[] }
    | undefined;
  const input = last?.input ?? [];
  return input.flatMap(({ type, output }) => (type.endsWith('_output') ? [JSON.stringify(output)] : []));
}

/** Processes of a Codex that this process has started. */
function running(): readonly number[] {
  const parents = new Map<number, number>();
  const agents: number[] = [];
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1];
      parents.set(Number(name), Number(parent));
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith('/agent/')) agents.push(Number(name));
    } catch {
      // It has just ended.
    }
  }
  return agents.filter((pid) => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === process.pid) return true;
    return false;
  });
}

t.test(
  'Codex reads, patches and tests under the rules, and the change is sealed',
  { skip: codexSkip },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const stray = '*** Begin Patch\n*** Add File: docs/a.md\n+x\n*** End Patch';
    await using model = await scriptResponses([
      [exec('cat src/price.js'), exec('rm -rf src'), exec('git status'), exec('echo x', { workdir: '/tmp' })],
      [patch(stray), patch(stray.replace('docs/a.md', '/reports/a.md'))],
      [patch(fix)],
      [exec('node --test')],
      [say('Done.')],
    ]);
    const view = await sample.run({ source: source(model), reach }, { security });
    t.match(view, { decision: { type: 'commit' } });
    t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
    const [looked, removed, versions, elsewhere, strayed, beside, patched, tested] = answersTo(model);
    t.match(looked, 'count * cents + 1');
    for (const refused of [removed, versions, elsewhere, strayed, beside]) t.match(refused, /reject|declin/i);
    t.match(patched, 'Success');
    t.match(tested, 'pass 2');
    t.ok(looked?.includes('<untrusted>'), 'what tools answered is fenced on its way to the model');
    for (const { path, headers, body } of model.asked) {
      t.equal(path, '/responses');
      t.equal(headers.authorization, `Bearer ${canary}`);
      t.equal((body as { model: string }).model, 'scripted');
    }
    t.equal(sample.git('log', '-1', '--format=%B').includes(canary), false);
    t.same(running(), []);
  },
);

long(
  'in code mode the commands and patches of Codex are authorized as well',
  { skip: codexSkip },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    await using model = await scriptResponses([
      [code(`text(await tools.exec_command({ cmd: 'rm -rf src' }).catch(String))`)],
      [code(`text(await tools.apply_patch(${JSON.stringify(fix)}))`)],
      [say('Done.')],
    ]);
    const view = await sample.run({ source: source(model, 'gpt-6.1-sol'), reach }, { security });
    t.match(view, { decision: { type: 'commit' } });
    t.match(answersTo(model)[0], /reject/i);
    t.equal(sample.git('diff', '--name-only', 'HEAD~1'), 'src/price.js\ntest/price.test.js');
  },
);

long(
  'an out-of-scope file left by an allowed command is refused afterwards',
  { skip: codexSkip },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const before = sample.state();
    await using model = await scriptResponses([
      [exec(`node -e "require('fs').writeFileSync('docs/notes.md', 'mine')"`)],
      [say('Done.')],
    ]);
    const view = await sample.run({ source: source(model), reach }, { security });
    t.match(view, { decision: { type: 'abandon' } });
    t.match(JSON.stringify(view), /scope/);
    t.equal(sample.state(), before);
  },
);

long('a model that only answers with text ends in an abandoned run', { skip: codexSkip }, async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptResponses([[say('I have fixed it.')]]);
  const view = await sample.run({ source: source(model), reach }, { security });
  t.match(view, { decision: { type: 'abandon' } });
});

long(
  'a model failure ends the run with its reason, and the run can resume',
  { skip: codexSkip },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    let runId = '';
    await using model = await scriptResponses([
      { fails: [500, { error: { message: 'busy' } }] },
      { fails: [429, { error: { message: 'slowly', code: 'rate_limit_exceeded' } }, { 'retry-after': '0' }] },
      { fails: [401, { error: { message: `no such key ${canary}`, code: 'invalid_api_key' } }] },
      [patch(fix)],
      [say('Done.')],
    ]);
    const clock = { ...systemClock, sleep: shortly };
    await sample.run({ source: source(model), reach, clock }, { security }).catch((fault: unknown) => {
      if (!isWritError(fault, 'PROVIDER_FAILED')) throw fault;
      t.match(fault.detail, { provider: 'codex', kind: 'key-refused', status: 401 });
      t.notMatch(fault.message, canary);
      runId = /resume ([\w-]+)/.exec(fault.hints.at(-1) ?? '')?.[1] ?? '';
    });
    t.equal(model.asked.length, 3, 'the engine asks again where that helps, and nobody else');
    const view = await sample.resume(runId, { worker: { name: codexWorker }, reach });
    t.match(view, { decision: { type: 'commit' } });
  },
);

t.test('an abort stops Codex and leaves no process', { skip: codexSkip }, async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptResponses(['hang']);
  const stop = new AbortController();
  const run = sample.run({ source: source(model), reach, signal: stop.signal }, { security });
  run.catch(() => {});
  await until(() => model.asked.length > 0);
  t.not(running().length, 0);
  stop.abort(new Error('stopped by the test'));
  await t.rejects(run, { message: 'stopped by the test' });
  t.same(running(), []);
});

t.test('a killed program fails the run with a hint to resume', { skip: codexSkip }, async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptResponses(['hang']);
  const run = sample.run({ source: source(model), reach }, { security });
  run.catch(() => {});
  await until(() => model.asked.length > 0);
  for (const pid of running()) process.kill(pid, 'SIGKILL');
  await t.rejects(run, {
    code: 'PROVIDER_FAILED',
    detail: { kind: 'broken-reply' },
    hints: [/another/, /writ resume/],
  });
  t.same(running(), []);
});

long('before a plan Codex may only read', { skip: codexSkip }, async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  await using model = await scriptResponses([
    [exec('cat src/price.js'), exec('echo x > src/x.js'), patch(fix)],
    [say('<proposed_plan>\n# Exact prices\n- take the cent away\n</proposed_plan>')],
    [patch(fix)],
    [say('Done.')],
  ]);
  const view = await sample.run(
    { source: source(model, 'scripted', { 'plan-mode': 'true' }), reach },
    { security },
  );
  t.match(view, { decision: { type: 'commit' } });
  const [looked, wrote, tooEarly, inTime] = answersTo(model);
  t.match(looked, 'cents + 1');
  for (const refused of [wrote, tooEarly]) t.match(refused, /reject|declin/i);
  t.match(inTime, 'Success');
});
