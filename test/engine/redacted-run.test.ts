import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { runLine } from '../bin/host.ts';
import { inventedSecrets } from '../readers/sensitive/secrets/invented-secrets.ts';
import { long } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, type Sample } from './sample.ts';

t.setTimeout(240_000);

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const mail = 'ann.planted@corp.io';
const card = '4111 1111 1111 1111';
const planted = [token, mail, card];

/**
 * Says everything everywhere: output, errors, a report with names and messages, a log, a metric, a file left behind.
 */
const script = `
import { writeFileSync } from 'node:fs';
const say = ${JSON.stringify(planted.map((text) => Buffer.from(text).toString('hex')))}.map((hex) => Buffer.from(hex, 'hex').toString());
const all = say.join(' and ');
console.log('out ' + all);
console.error('err ' + all);
const dir = process.env.REPORTS_DIR;
const failed = process.argv.includes('fail') ? '<testcase name="breaks for ' + all + '"><failure message="' + all + '">' + all + '</failure></testcase>' : '';
writeFileSync(dir + '/suite.xml', '<?xml version="1.0"?><testsuite name="' + all + '"><testcase name="works for ' + all + '" time="0.1"><system-out><![CDATA[' + all + ']]></system-out></testcase>' + failed + '</testsuite>');
writeFileSync(dir + '/build-log.json', JSON.stringify({ say, all, deep: { [all]: 1 } }));
writeFileSync(dir + '/metrics.json', JSON.stringify({ ['ms for ' + say[1]]: 5 }));
writeFileSync('left-behind.txt', all);
process.exitCode = process.argv.includes('fail') ? 1 : 0;
`;

interface Planted {
  readonly sample: Sample;
  readonly runId: string;
  /** Everything that the run left anywhere, by place. */
  readonly traces: ReadonlyMap<string, string>;
  readonly show: Record<string, Json>;
}

async function plant(t: Test, words: string, privacy: Json): Promise<Planted> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'emit.mjs'), script);
  sample.git('add', 'emit.mjs');
  sample.git('commit', '--quiet', '-m', 'emit');
  const temporary = join(sample.home, 'tmp');
  mkdirSync(temporary);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const check = {
    id: 'planted',
    kind: 'testSuite',
    command: `node emit.mjs ${words}`,
    required: true,
    timeoutSeconds: 60,
    artifactsProduced: ['test-log', 'build-log'],
  };
  const plan = { fastChecks: [check], integrationChecks: [{ ...check, id: 'again', artifactsProduced: [] }] };
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix } },
    {
      acceptance: { verificationPlan: plan, qualityGates: { maxAllowedRegression: 'low' } },
      constraints: { privacy },
      artifacts: {
        required: [
          { name: 'patchset', stage: 'per-task', required: true },
          { name: 'test-log', stage: 'per-task', required: true },
          { name: 'build-log', stage: 'per-task', required: true, format: 'application/json' },
        ],
      },
    },
  );
  const given = { cwd: sample.root, env: sample.env };
  const shown = await runLine(['--json', 'show', view.runId], commands, given);
  const human = await runLine(['show', view.runId], commands, given);
  const outputs = ['html', 'sarif', 'junit', 'markdown'].flatMap((kind) => [
    `--${kind}`,
    join(sample.home, `report.${kind}`),
  ]);
  const reported = await runLine(['report', view.runId, ...outputs], commands, given);
  t.equal(reported.code, 0, reported.err);
  const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch', '--unordered'], {
    cwd: sample.root,
    env: sample.env,
    maxBuffer: 256 * 1024 * 1024,
  }).toString('latin1');
  const traces = new Map([
    ['the view', JSON.stringify(view)],
    ['show --json', shown.out + shown.err],
    ['show', human.out + human.err],
    ['report', reported.out + reported.err],
    ['objects', objects],
  ]);
  for (const root of [join(sample.root, '.git'), sample.home]) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) traces.set(path, readFileSync(path).toString('latin1'));
    }
  }
  return { sample, runId: view.runId, traces, show: JSON.parse(shown.out) };
}

function places({ traces }: Planted, text: string): readonly string[] {
  return [...traces].filter(([, content]) => content.includes(text)).map(([place]) => place);
}

t.test(
  'secrets and personal data in output, reports, names or metrics are stored nowhere',
  { timeout: 600_000 },
  async (t) => {
    for (const words of ['', 'fail']) {
      const run = await plant(t, words, { dataClassesAllowed: ['public'], redactionRequired: true });
      for (const text of planted) t.same(places(run, text), [], `${words} ${text.slice(0, 4)}`);
      t.ok(places(run, '[redacted:secrets:github-token]').includes('objects'));
      t.ok(places(run, '[redacted:pii:email]').includes('objects'));
      const { data } = run.show as {
        data: {
          stages: { checks: { output_tail?: Json }[] }[];
          artifacts: { name: string; redactions?: number; receipt?: Json }[];
        };
      };
      const tail = data.stages[0]?.checks[0]?.output_tail;
      if (words === '') t.equal(tail, undefined, 'a check that passed keeps no output');
      else t.match(tail, { text: /out \[redacted:secrets:github-token\] and [\s\S]*err \[redacted/ });
      const log = data.artifacts.find(({ name }) => name === 'build-log');
      t.ok((log?.redactions ?? 0) > 0);
      t.match(log?.receipt, [
        { rule: 'card-number', class: 'pii' },
        { rule: 'email', class: 'pii', digests: [/^[0-9a-f]{64}$/] },
        { rule: 'github-token', class: 'secrets', count: Number, digests: [/^[0-9a-f]{64}$/] },
      ]);
    }
  },
);

long(
  'personal data is kept without redaction, and secrets are still removed',
  { timeout: 600_000 },
  async (t) => {
    const run = await plant(t, 'fail', { dataClassesAllowed: ['public'], redactionRequired: false });
    t.same(places(run, token), []);
    t.ok(places(run, mail).includes('objects'));
  },
);
