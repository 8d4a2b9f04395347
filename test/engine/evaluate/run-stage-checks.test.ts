import t from 'tap';
import type { StageCheck, StageCheckInput } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { StageName } from '../../../core/interfaces/stage.ts';
import { runStageChecks } from '../../../engine/evaluate/run-stage.ts';
import type { Attempt } from '../../../engine/state/open-run.ts';
import { type StepLog, stepsOver } from '../../../engine/state/record-collector.ts';
import { noParts } from '../../../plugins/third-party/open-parts.ts';
import { pluginFault } from '../../../plugins/third-party/process/plugin-fault.ts';
import { sampleSpec, toPatchSet } from '../../../testing.ts';

const secret = 'canary-secret-0123456789';

type Judge = (input: StageCheckInput, asked: number) => readonly Finding[];

/** An attempt whose configuration lists stage checks that judge like this, over a journal. */
function scene(judges: Readonly<Record<string, Judge>>, more: Partial<StageCheck> = {}, config: object = {}) {
  const records: { type: string; data: unknown }[] = [];
  const log = {
    records,
    append: async (type: string, data: unknown) => void records.push({ type, data }),
  } as unknown as StepLog;
  const asked: { name: string; input: StageCheckInput }[] = [];
  const stop = new AbortController();
  const waits: number[] = [];
  const checks = Object.entries(judges).map(([name, judge]): [string, StageCheck] => [
    name,
    {
      name,
      plugin: `of-${name}`,
      stages: ['release'],
      readsDiff: false,
      async judge(input) {
        asked.push({ name, input });
        return judge(input, asked.length);
      },
      ...more,
    },
  ]);
  const patch = toPatchSet({ 'a.js': { base: '1;\n', candidate: `'someone@example.org'; // ${secret}\n` } });
  const attempt = (over = patch) =>
    ({
      identity: { runId: 'r1', contract: { effective: sampleSpec } },
      environment: {
        config: { redaction: {}, ...config },
        plugins: { ...noParts, stageChecks: new Map(checks), secrets: async () => [secret] },
      },
      services: {
        secrets: { given: {}, values: [] },
        steps: stepsOver(log),
        settings: { clock: { sleep: async (ms: number) => void waits.push(ms) } },
        signal: stop.signal,
      },
      patch: over,
      patchFindings: [{ rule: 'scope', severity: 'note', message: `seen ${secret}` }],
      box: { list: () => [] },
    }) as unknown as Attempt;
  const judged = (given = attempt(), stage: StageName = 'release') =>
    runStageChecks(given, { stage, checks: [], findings: [error('early')] }, []);
  const ask = async (...given: Parameters<typeof judged>) => (await judged(...given)).findings;
  return { ask, judged, asked, attempt, stop, waits, patch, records };
}

const error = (rule: string): Finding => ({ rule, severity: 'error', message: 'no' });

t.test('stage checks run at their stage, in configuration order, and once per run', async (t) => {
  const { ask, asked, attempt } = scene({
    second: (_input, count) => [{ ...error('second'), message: `asked ${count}` }],
    first: () => [],
  });
  t.strictSame(await ask(undefined, 'fast'), []);
  t.strictSame(asked, []);
  const found = await ask();
  t.match(found, [{ rule: 'second', message: /asked/ }]);
  t.strictSame(await ask(), found, 'the same process');
  t.strictSame(await ask(attempt()), found, 'another one, over the same journal');
  t.equal(asked.length, 2);
});

t.test('each stage check is recorded with its plugin and status, also when it passes', async (t) => {
  const { judged } = scene({
    passes: () => [],
    warns: () => [{ ...error('warns'), severity: 'warning' }],
    refuses: () => [error('refuses')],
    breaks() {
      throw pluginFault('of-breaks', 'garbage', 'why');
    },
  });
  t.strictSame((await judged()).asked, [
    { name: 'passes', plugin: 'of-passes', status: 'passed' },
    { name: 'warns', plugin: 'of-warns', status: 'passed' },
    { name: 'refuses', plugin: 'of-refuses', status: 'failed' },
    { name: 'breaks', plugin: 'of-breaks', status: 'failed' },
  ]);
  t.strictSame(await judged(undefined, 'fast'), { findings: [] }, 'nobody was asked');
  const withWorkers = scene({ passes: () => [] }, {}, { workers: {} });
  t.match((await withWorkers.judged()).asked, [{ name: 'passes', ranOn: { here: /third-party plugin/ } }]);
});

t.test('the input and the findings of a stage check are redacted', async (t) => {
  const one = scene({
    a: () => [{ ...error('a'), message: `mail someone@example.org, ${secret}, ${btoa(secret)}` }],
  });
  const [found] = await one.ask();
  t.notMatch(found?.message, /someone@|canary/);
  t.notMatch(found?.message, btoa(secret));
  const reads = scene({ a: () => [] }, { readsDiff: true });
  await reads.ask();
  const input = reads.asked[0]?.input;
  t.match(input, {
    runId: 'r1',
    stage: 'release',
    omittedFindings: 0,
    patch: { files: [{ path: 'a.js' }] },
  });
  t.strictSame(
    input?.findings.map(({ rule, severity, stage }) => [rule, severity, stage]),
    [
      ['early', 'error', 'release'],
      ['scope', 'note', undefined],
    ],
  );
  t.match(input?.patch.diff, /^diff --git/);
  t.notMatch(JSON.stringify(input), /someone@|canary/);
});

t.test('a stage check whose diff is too large fails without a call', async (t) => {
  const { ask, asked, attempt } = scene({ a: () => [] }, { readsDiff: true });
  const large = toPatchSet({ 'a.js': { candidate: 'x'.repeat(9 * 1024 * 1024) } });
  t.match(await ask(attempt(large)), [
    { rule: 'a', severity: 'error', detail: { code: 'PLUGIN_PROCESS_FAULT', reason: 'input-too-large' } },
  ]);
  t.strictSame(asked, []);
});

t.test('a stage check is retried after a crash but not after garbage or a timeout', async (t) => {
  for (const [reason, tries] of [
    ['crashed', 3],
    ['threw', 3],
    ['sandbox-failed', 3],
    ['garbage', 1],
    ['flood', 1],
    ['deadline', 1],
  ] as const) {
    const { ask, asked, waits } = scene({
      a() {
        throw pluginFault('of-a', reason, 'why');
      },
    });
    t.match(await ask(), [
      {
        rule: 'a',
        severity: 'error',
        message: `stage check \`a\` of plugin \`of-a\` gave no answer at stage \`release\` (${reason}): why`,
        detail: { code: 'PLUGIN_PROCESS_FAULT', plugin: 'of-a', stage: 'release', reason, tries },
      },
    ]);
    t.equal(asked.length, tries, reason);
    t.strictSame(waits, [1000, 2000].slice(0, tries - 1));
  }
  const { ask } = scene({
    a(_input, count) {
      if (count < 3) throw pluginFault('of-a', 'crashed', 'why');
      return [];
    },
  });
  t.strictSame(await ask(), [], 'it came back');
});

t.test('a stopped run records no answer of a stage check', async (t) => {
  const { ask, stop, records } = scene({
    a() {
      stop.abort(new Error('stopped'));
      throw pluginFault('of-a', 'crashed', 'why');
    },
  });
  await t.rejects(ask(), { message: 'stopped' });
  t.notOk(records.some(({ type }) => type === 'step-ended'));
});
