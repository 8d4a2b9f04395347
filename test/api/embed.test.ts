import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { RunEvent } from '../../api/run/run-events.ts';
import type { WritError } from '../../core/base/errors.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';
import { createEngine, type EngineOptions } from '../../plugins/preset/create-engine.ts';
import { faultsOf } from '../bin/faults-of.ts';
import { runWrit } from '../bin/start-writ.ts';
import { fixtures, makeSample, type Sample, sampleSpec } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';

/** Whole runs on a busy machine. */
t.setTimeout(120_000);

const change = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const source = { kind: 'patch', bytes: change } as const;

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

async function engineOf(t: Test, { env }: Sample, options: EngineOptions = {}) {
  const engine = await createEngine({ env, ...options });
  t.teardown(() => engine.close());
  return engine;
}

long('one engine runs two repositories side by side', async (t) => {
  const samples = [sampleOf(t), sampleOf(t)] as const;
  const engine = await engineOf(t, samples[0]);
  const runs = await Promise.all(
    samples.map(({ root: repository }) => engine.run({ repository, spec: sampleSpec(), source })),
  );
  for (const [n, { git }] of samples.entries())
    t.match(runs[n]?.decision, { type: 'commit', commit_sha: git('rev-parse', 'HEAD') });
});

long('a program includes local changes in a change', async (t) => {
  const sample = sampleOf(t);
  const engine = await engineOf(t, sample);
  const path = join(sample.root, 'src/price.js');
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n// mine\n`);
  const call = { repository: sample.root, spec: sampleSpec(), source };
  await t.rejects(engine.run(call), { code: 'WORKTREE_DIRTY' });
  const run = await engine.run({ ...call, localChanges: 'include' });
  t.match(run, { decision: { type: 'commit' }, local_changes: { paths: ['src/price.js'] } });
  t.strictSame(faultsOf('run', JSON.parse(JSON.stringify(run))), []);
  t.match(sample.git('show', 'HEAD:src/price.js'), 'mine');
});

/** The sample's contract with one check alone. */
function checkedBy(command: string): Buffer {
  const [program = ''] = command.split(' ');
  const limits = { timeoutSeconds: 120, expectedExitCode: 0, required: true };
  const fastChecks = [{ id: 'only', kind: 'command', command, ...limits }];
  const constraints = { allowCommands: [program] };
  const allow = [{ tool: 'workspace.command', actions: ['execute'], constraints }];
  return sampleSpec({ acceptance: { verificationPlan: { fastChecks } }, security: { toolAcl: { allow } } });
}

t.test('the engine returns the same run and verification data as the command line', async (t) => {
  const sample = sampleOf(t);
  const engine = await engineOf(t, sample);
  const repository = sample.root;
  const seen: RunEvent[] = [];
  const forget = engine.observe((event) => seen.push(event));
  const run = await engine.run({ repository, spec: JSON.parse(sampleSpec().toString('utf8')), source });
  forget();
  t.equal(run.decision?.type, 'commit');
  t.strictSame(faultsOf('run', JSON.parse(JSON.stringify(run))), []);
  const place = { cwd: repository, env: sample.env };
  const shown = await runWrit(['show', run.run_id, '--json'], place);
  t.strictSame(JSON.parse(shown.out).data, JSON.parse(JSON.stringify(run)));

  const types = [...new Set(seen.map(({ type }) => type))];
  t.strictSame(types, ['run_started', 'tool_settled', 'stage_settled', 'decision_made']);
  t.ok(seen.every(({ data }) => data.run_id === run.run_id));
  t.match(seen.at(-1), {
    type: 'decision_made',
    data: { type: 'commit', commit_sha: run.decision?.commit_sha },
  });

  const heard = seen.length;
  const targets = [run.decision?.commit_sha ?? ''];
  const spec = sampleSpec();
  const verified = await engine.verify({ repository, targets, spec, replay: true, explain: true });
  t.equal(verified.verified, true);
  const path = join(sample.home, 'spec.json');
  writeFileSync(path, spec);
  const line = ['verify', ...targets, '--replay', '--explain', '--spec', path, '--json'];
  const told = await runWrit(line, place);
  t.strictSame(JSON.parse(told.out).data, JSON.parse(JSON.stringify(verified)));
  const again = await engine.resume({ repository, run: run.run_id });
  t.strictSame(again, run, 'a run that has ended is answered as it stands');
  t.equal(seen.length, heard, 'nothing is told any more');
});

t.test('the engine returns a refused run as a result and throws WritError for invalid input', async (t) => {
  const sample = sampleOf(t);
  const engine = await engineOf(t, sample);
  const repository = sample.root;
  const path = join(sample.home, 'spec.json');
  writeFileSync(path, checkedBy('false'));
  const refused = await engine.run({ repository, spec: path, source });
  t.match(refused, { state: 'decided', decision: { type: 'abandon' } });
  t.strictSame((await engine.verify({ repository, targets: [] })).verified, false, 'nothing is not verified');
  t.match((await engine.verify({ repository, targets: ['HEAD'] })).verified, false);

  const spec = sampleSpec();
  await t.rejects(engine.run({ repository, spec: `${path}.gone`, source }), { code: 'INPUT_UNREADABLE' });
  await t.rejects(engine.run({ repository, spec: Buffer.from('{'), source }), {
    code: 'INTENTSPEC_MALFORMED',
  });
  await t.rejects(engine.run({ repository, spec: new Uint8Array(5 * 1024 * 1024), source }), {
    code: 'INTENTSPEC_MALFORMED',
  });
  await t.rejects(engine.run({ repository: sample.home, spec, source }), { code: 'NOT_A_REPOSITORY' });
  await t.rejects(engine.resume({ repository, run: 'nothing' }), { code: 'RUN_NOT_FOUND' });
  await t.rejects(engine.resume({ repository } as never), {
    code: 'RUN_NOT_FOUND',
    message: 'expected the id of a run as `run`, found undefined',
  });
  await t.rejects(engine.run({ repository, spec, source, approveWith: [path] }), { code: /^KEY_/ });
});

long('an abort signal and `close` interrupt a run, and a closed engine rejects calls', async (t) => {
  const sample = sampleOf(t);
  const repository = sample.root;
  const slow = checkedBy('sleep 60');
  const engine = await engineOf(t, sample);
  const aborted = AbortSignal.abort(new Error('changed my mind'));
  await t.rejects(engine.run({ repository, spec: slow, source, signal: aborted }), {
    code: 'RUN_INTERRUPTED',
  });
  const stop = new AbortController();
  const stopAtStart = engine.observe(({ type }) => type === 'run_started' && stop.abort());
  await t.rejects(engine.run({ repository, spec: slow, source, signal: stop.signal }), {
    code: 'RUN_INTERRUPTED',
  });
  stopAtStart();
  const started = new Promise<string>((resolve) => engine.observe(({ data }) => resolve(data.run_id)));
  const running = engine.run({ repository, spec: slow, source });
  const rejected = t.rejects(running, { code: 'RUN_INTERRUPTED' });
  const runId = await started;
  await engine.close();
  await rejected;
  await t.rejects(engine.run({ repository, spec: slow, source }), { code: 'ENGINE_CLOSED' });
  await t.rejects(engine.verify({ repository, targets: ['HEAD'] }), { code: 'ENGINE_CLOSED' });
  const shown = await runWrit(['show', runId, '--json'], { cwd: repository, env: sample.env });
  t.match(JSON.parse(shown.out).data, { run_id: runId, state: 'interrupted' });
});

long('plugins are added to the built-in plugins, and listener errors are reported', async (t) => {
  const sample = sampleOf(t);
  const faults: WritError[] = [];
  const secrets: (string | undefined)[] = [];
  const refuser = definePlugin({
    name: 'refuser',
    api: 1,
    options: (given) => {
      if (given !== 'no') throw new TypeError('expected no');
      return given;
    },
    setup({ hooks, options, secret }) {
      secrets.push(secret('WORD'));
      hooks.decision.guard.tap(() => ({ rule: 'refuser', severity: 'error', message: options }));
      return undefined;
    },
  });
  await t.rejects(createEngine({ env: sample.env, plugins: [refuser] }), { code: 'PLUGIN_INVALID' });
  await t.rejects(createEngine({ env: sample.env, configuration: { nobody: 1 } }), {
    code: 'PLUGIN_INVALID',
  });
  const engine = await engineOf(t, sample, {
    env: { ...sample.env, WORD: 'pass' },
    plugins: [refuser],
    configuration: { refuser: 'no' },
    ephemeralKey: true,
    report: (fault) => faults.push(fault),
    threads: 1,
  });
  t.strictSame(secrets, ['pass'], 'a secret comes from the environment that was given');
  t.ok(engine.plugins.includes('refuser') && engine.plugins.includes('gates'));
  const seen: string[] = [];
  engine.observe(() => {
    throw new TypeError('one listener fails');
  });
  engine.observe(({ type }) => seen.push(type));
  const run = await engine.run({ repository: sample.root, spec: sampleSpec(), source });
  t.not(run.decision?.type, 'commit');
  t.match(run.decision?.rationale, /refuser/);
  t.ok(seen.includes('decision_made'), 'the others still hear');
  t.ok(faults.length > 0 && faults.every(({ message }) => message === 'one listener fails'));
});

t.test('plugins read secrets only from the environment that was passed to the engine', async (t) => {
  const found: (string | undefined)[] = [];
  const seeker = definePlugin({
    name: 'seeker',
    api: 1,
    setup({ secret }) {
      found.push(secret('GIVEN'), secret('PATH'));
      return undefined;
    },
  });
  const engine = await createEngine({ env: { HOME: t.testdir(), GIVEN: 'abc' }, plugins: [seeker] });
  await engine.close();
  t.strictSame(found, ['abc', undefined]);
});
