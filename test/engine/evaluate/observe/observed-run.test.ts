import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../../../core/base/canonical.ts';
import type { RunView } from '../../../../core/interfaces/run-view.ts';
import { definePlugin } from '../../../../core/kernel/plugin.ts';
import { long } from '../../../rooms/long.ts';
import { type Json, makeSample, type Sample } from '../../sample.ts';

const fee = 'export const fee = (amount) => Math.round(amount * 100) / 100;\n';
const bad = 'export const fee = () => 0;\n';
const feeTest = [
  "import assert from 'node:assert/strict';",
  "import test from 'node:test';",
  "import { fee } from '../src/fee.js';",
  "test('a fee is rounded', () => assert.equal(fee(0.125), 0.13));",
  '',
].join('\n');
const script = '[ -f scripts/local.sh ] && . scripts/local.sh\nnode --test\n';
const brings = { 'src/fee.js': bad, 'scripts/local.sh': 'node() { true; }\n' };

type Files = Readonly<Record<string, string>>;

function write({ root }: Sample, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function commit(sample: Sample, files: Files): void {
  write(sample, files);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'A fee');
}

/** A repository with a fee, its test, and a check that sources an optional file. */
function prepared(t: { teardown(act: () => void): void }): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  commit(sample, { 'src/fee.js': fee, 'test/fee.test.js': feeTest, 'scripts/test.sh': script });
  return sample;
}

function patchOf(sample: Sample, files: Files): Buffer {
  write(sample, files);
  sample.git('add', '--all', '--force');
  const bytes = Buffer.from(`${sample.git('diff', '--cached', '--binary', 'HEAD')}\n`);
  sample.git('reset', '--quiet', '--hard');
  return bytes;
}

function contract(more: { readonly [key: string]: Json } = {}): Json {
  const check = { kind: 'command', command: 'sh scripts/test.sh', timeoutSeconds: 60, required: true };
  return {
    intent: { changeType: 'refactor', inScope: ['src/', 'scripts/'] },
    acceptance: {
      verificationPlan: { fastChecks: [{ id: 'unit', artifactsProduced: ['test-log'], ...check }] },
    },
    ...more,
  };
}

const unitOf = (view: RunView) => view.stages.flatMap(({ checks }) => checks).find(({ id }) => id === 'unit');

t.test('a footprint is stored in the record and reused: the next change starts no tracer', async (t) => {
  const sample = prepared(t);
  const started: (string | undefined)[] = [];
  const counting = definePlugin({
    name: 'counting',
    api: 1,
    setup({ hooks }) {
      hooks.tool.started.tap(({ checkId }) => void started.push(checkId));
      return undefined;
    },
  });
  const run = (id: string, files: Files) =>
    sample.run({ source: { kind: 'patch', bytes: patchOf(sample, files) } }, contract({ metadata: { id } }), [
      counting,
    ]);
  const honest = await run('sample-honest-0001', { 'src/rate.js': 'export const rate = 2;\n' });
  t.equal(honest.decision?.type, 'commit', JSON.stringify(honest.findings));
  const observed = unitOf(honest)?.observed;
  t.match(observed, { by: 'trace', footprint: /^[0-9a-f]{64}$/ });
  t.strictSame(started, ['unit', 'unit', 'unit'], 'traced, then run, at the base, too');
  const text = sample.git('show', `refs/ai/runs/${honest.runId}:footprints/${observed?.footprint}.json`);
  t.equal(sha256Hex(Buffer.from(text)), observed?.footprint);
  t.ok((JSON.parse(text) as { missing: string[] }).missing.includes('scripts/local.sh'));

  const broken = await run('sample-broken-0001', brings);
  t.match(JSON.stringify(broken.stages), /POLICY_JUDGE_FAILS/);
  t.strictSame(unitOf(broken)?.observed, observed);
  t.strictSame(started.slice(3), ['unit', 'unit'], 'run, then run by the judge of the policy commit');
  t.strictSame(readdirSync(join(sample.root, '.git', 'writ', 'cache', 'footprints')).length, 1);
});

t.test('without a tracer the new files are laid over the base, or the run is refused', async (t) => {
  const sample = prepared(t);
  const bytes = patchOf(sample, brings);
  const more = contract({ constraints: { security: { networkPolicy: 'allow' } } });
  const view = await sample.run({ source: { kind: 'patch', bytes }, sandbox: 'none' }, more);
  t.match(unitOf(view)?.observed, { by: 'filling', reason: 'sandbox `none` cannot trace' });
  t.match(JSON.stringify(view.stages), /POLICY_JUDGE_FAILS/);
  t.match(view.notices?.join('\n'), /check `unit` was observed by filling, not by a trace: sandbox `none`/);

  commit(sample, { '.writ/config.toml': '[rules.judge-changed]\nobserve = "required"\n' });
  await t.rejects(sample.run({ source: { kind: 'patch', bytes }, sandbox: 'none' }, more), {
    code: 'TRACER_UNAVAILABLE',
    message: /observe = "required"` needs a tracer: sandbox `none` cannot trace/,
  });
});

long('the judge of a policy commit ahead of the base is the one that is observed', async (t) => {
  const sample = prepared(t);
  const base = sample.git('rev-parse', 'HEAD');
  sample.git('checkout', '--quiet', '-b', 'feature');
  commit(sample, { 'src/fee.js': bad, 'scripts/late.sh': 'node() { true; }\n' });
  sample.git('checkout', '--quiet', 'main');
  commit(sample, { 'scripts/test.sh': script.replaceAll('local', 'late') });
  const view = await sample.run(
    { source: { kind: 'range', range: 'main..feature' }, onto: 'side' },
    contract(),
  );
  t.equal(view.baseCommit, base);
  t.not(view.policyCommit, base);
  t.equal(unitOf(view)?.observed?.by, 'trace');
  t.match(JSON.stringify([view.findings, view.stages]), /scripts\/late\.sh.*in vain/);
  t.not(view.decision?.type, 'commit');
});
