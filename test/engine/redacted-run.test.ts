import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commands } from '../../bin/command-table.ts';
import { messageOf } from '../../core/base/errors.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { createRecordedWorker } from '../../plugins/recorded-worker/plugin.ts';
import { runLine } from '../bin/host.ts';
import { inventedSecrets } from '../readers/sensitive/secrets/invented-secrets.ts';
import { long } from '../rooms/long.ts';
import { quickClock } from '../waiting/quick-clock.ts';
import { fixtures, type Json, makeSample, type Sample } from './sample.ts';

t.setTimeout(240_000);

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';
const mail = 'ann.planted@corp.io';
const card = '4111 1111 1111 1111';
const planted = [token, mail, card];

const say = planted.join(' and ');
const privacy = { constraints: { privacy: { dataClassesAllowed: ['public'], redactionRequired: true } } };

/** A plugin whose taps put the planted texts into findings and a refusal, and record every event that they hear. */
function talkative(events: unknown[], refuses: boolean): LoadedPlugin {
  const finding: Finding = {
    rule: 'talk',
    severity: 'warning',
    message: say,
    path: say,
    detail: { say: [say] },
  };
  return definePlugin({
    name: 'talkative',
    api: 1,
    setup({ hooks }) {
      const hear = (event: unknown): void => void events.push(structuredClone(event));
      hooks.patch.judge.tap(() => [finding]);
      hooks.stage.judge.tap(() => [finding]);
      hooks.decision.guard.tap(() => (refuses ? { message: say, path: say, detail: { say } } : undefined));
      hooks.tool.settled.tap(hear);
      hooks.stage.settled.tap(hear);
      hooks.decision.made.tap(hear);
      return undefined;
    },
  });
}

/**
 * Says everything everywhere: output, errors, a report with names and messages, a log, a metric, a file left behind
 * and its name.
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
writeFileSync('left-behind-' + say[0] + '.txt', all);
process.exitCode = process.argv.includes('fail') ? 1 : 0;
`;

interface Planted {
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
  const events: unknown[] = [];
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
    [talkative(events, words === 'fail')],
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
  t.ok(events.length > 0);
  const traces = new Map([
    ...stored(sample),
    ['the view', JSON.stringify(view)],
    ['events', JSON.stringify(events)],
    ['show --json', shown.out + shown.err],
    ['show', human.out + human.err],
    ['report', reported.out + reported.err],
  ]);
  return { traces, show: JSON.parse(shown.out) };
}

/** Every file of the git directory and of the home, and every git object. */
function stored({ root, home, env }: Sample): ReadonlyMap<string, string> {
  const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch', '--unordered'], {
    cwd: root,
    env,
    maxBuffer: 256 * 1024 * 1024,
  });
  const found = new Map([['objects', objects.toString('latin1')]]);
  for (const place of [join(root, '.git'), home])
    for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile()) found.set(path, readFileSync(path).toString('latin1'));
    }
  return found;
}

function places({ traces }: Pick<Planted, 'traces'>, text: string): readonly string[] {
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

t.test('what a worker says is redacted in its record and in the error that stops the run', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const answers = [
    { task: 1, attempt: 1, nothing: say },
    { task: 1, attempt: 2, breaks: { times: 1, message: say }, nothing: 'no idea' },
  ];
  const worker = createRecordedWorker(answers, async () => {});
  const spec = { execution: { retry: { maxRetries: 1 } }, ...privacy };
  const fault: unknown = await sample.run({ worker, clock: quickClock([]) }, spec).catch((thrown) => thrown);
  t.match(fault, { code: 'WORKER_FAILED', message: /redacted:secrets:github-token/ });
  const traces = new Map([...stored(sample), ['the error', JSON.stringify([messageOf(fault), fault])]]);
  for (const text of planted) t.same(places({ traces }, text), [], text.slice(0, 4));
  t.ok(places({ traces }, '[redacted:pii:email]').some((place) => place.endsWith('journal.jsonl')));
});

t.test(
  'the error about a check that misses the same thing at the base does not quote a secret',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const turned = [...`cannot find ${say}`].reverse().join('');
    const command = `node -e "console.log([...'${turned}'].reverse().join('')); process.exit(1)"`;
    const checks = [{ id: 'lacking', kind: 'command', command, required: true, timeoutSeconds: 60 }];
    const spec = { acceptance: { verificationPlan: { fastChecks: checks } }, ...privacy };
    const fault: unknown = await sample
      .run({ source: { kind: 'patch', bytes: fix } }, spec)
      .catch((thrown) => thrown);
    t.match(fault, { code: 'ENVIRONMENT_BROKEN', message: /redacted:secrets:github-token/ });
    t.match(fault, { hints: [/`writ resume [0-9a-f]{8}-[0-9a-f-]{27}`/] }, 'its hint names the run');
    const traces = new Map([...stored(sample), ['the error', JSON.stringify([messageOf(fault), fault])]]);
    for (const text of planted) t.same(places({ traces }, text), [], text.slice(0, 4));
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
