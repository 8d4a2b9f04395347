import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { sastRows } from '../../../gates/sast/rows.ts';
import { sastReportProducer } from '../../../gates/sast-report.ts';
import { sampleSpec, toPatchSet } from '../../../testing.ts';
import { fixtures, type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { githubIngestionFaults } from '../../readers/documents/sarif/github-ingestion-faults.ts';
import { long } from '../../rooms/long.ts';

const refused = 'an-unsafe-pickle-is-refused-by-the-analysis-of-the-security-stage';

function change(name: string): { readonly spec: Json; readonly source: { kind: 'patch'; bytes: Buffer } } {
  const { spec } = JSON.parse(readFileSync(join(fixtures, name, 'case.json'), 'utf8')) as { spec: Json };
  return { spec, source: { kind: 'patch', bytes: readFileSync(join(fixtures, name, 'change.diff')) } };
}

function reportOf(sample: Sample, { runId, artifacts }: RunView): string {
  const record = artifacts.find(({ name }) => name === 'sast-report');
  t.match(record, { stage: 'security', contentType: 'sarif' });
  t.notOk(record?.checkId, 'the engine made it');
  const ref = sample.git('for-each-ref', '--format=%(refname)', `refs/ai/content/${runId}`);
  return `${sample.git('show', `${ref}:${record?.path}`)}\n`;
}

long('the engine adds an analysis to a run whose checks deliver none', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const { spec, source } = change(refused);
  const text = reportOf(sample, await sample.run({ source }, spec));
  t.strictSame(githubIngestionFaults(text), []);
  const [run] = JSON.parse(text).runs;
  t.match(run, {
    columnKind: 'utf16CodeUnits',
    tool: { driver: { name: 'writ', semanticVersion: '0.0.0-test' } },
    invocations: [{ executionSuccessful: true }],
    results: [
      {
        ruleId: 'sast/python-unsafe-deserialization',
        level: 'error',
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: 'src/read.py' },
              region: { startLine: 5, startColumn: 12, endLine: 5, endColumn: 28 },
            },
          },
        ],
      },
    ],
  });
  t.equal(run.tool.driver.rules.length, sastRows.length, 'rows without a finding ran all the same');
});

const request = (findings: readonly Finding[]): Parameters<typeof sastReportProducer.produce>[0] => ({
  spec: sampleSpec,
  patch: toPatchSet({ 'a.py': { candidate: 'import pickle\npickle.loads(x)\n' } }),
  stages: [],
  name: 'sast-report',
  baseTimeMs: 0,
  ruleOptions: {},
  readCandidate: async () => undefined,
  listCandidate: async () => [],
  judge: async (id) => (id === 'sast' ? findings : []),
  engineVersion: '1.2.3',
});
const sarifOf = async (...findings: Finding[]): Promise<string> => {
  const made = await sastReportProducer.produce(request(findings));
  return made instanceof Uint8Array ? new TextDecoder().decode(made) : '';
};

t.test('a clean change has a report without results and with stable bytes', async (t) => {
  const text = await sarifOf();
  t.strictSame(githubIngestionFaults(text), []);
  t.match(JSON.parse(text).runs, [{ results: [], invocations: [{ executionSuccessful: true }] }]);
  t.equal(await sarifOf(), text);
});

t.test('an unfinished analysis sets `executionSuccessful` to false', async (t) => {
  const fault: Finding = { rule: 'sast', severity: 'error', message: 'hung', detail: { code: 'RULE_FAULT' } };
  const unread: Finding = {
    rule: 'sast',
    severity: 'error',
    message: 'unread',
    detail: { incomplete: true },
  };
  for (const finding of [fault, unread]) {
    const text = await sarifOf(finding);
    t.strictSame(githubIngestionFaults(text), []);
    t.match(JSON.parse(text).runs, [{ results: [], invocations: [{ executionSuccessful: false }] }]);
  }
});

t.test('a finding that the config allows is a suppressed result', async (t) => {
  const row = 'sast/python-unsafe-deserialization';
  const detail = { row, suppressed: true, reason: 'config' };
  const text = await sarifOf({
    rule: 'sast',
    severity: 'note',
    message: 'x',
    path: 'a.py',
    line: 2,
    column: 1,
    detail,
  });
  t.strictSame(githubIngestionFaults(text), []);
  t.match(JSON.parse(text).runs, [
    { results: [{ ruleId: row, level: 'note', suppressions: [{ kind: 'external' }] }] },
  ]);
});
