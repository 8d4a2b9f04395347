import t from 'tap';
import type { Finding } from '../../../../core/interfaces/finding.ts';
import { describedRows } from '../../../../gates/sast/rows.ts';
import { buildSarif, type SarifRequest } from '../../../../readers/documents/sarif/build-sarif.ts';
import { long } from '../../../rooms/long.ts';
import { githubIngestionFaults } from './github-ingestion-faults.ts';

const finding: Finding = {
  rule: 'sast',
  severity: 'error',
  message: 'found',
  path: 'a.py',
  line: 3,
  column: 5,
};
const text = (findings: SarifRequest['findings'], more: Partial<SarifRequest> = {}): string =>
  JSON.stringify(buildSarif({ findings, ruleIds: ['sast'], version: '1.2.3', complete: true, ...more }));

/** The document with one thing in it changed. */
function broken(path: readonly (string | number)[], value: unknown): string {
  const document: unknown = JSON.parse(text([finding, { ...finding, line: 4, message: 'other' }]));
  let at = document as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return JSON.stringify(document);
}

t.test('reports every violation of the GitHub ingestion rules', async (t) => {
  const result = ['runs', 0, 'results', 0];
  const place = [...result, 'locations', 0, 'physicalLocation'];
  const rule = ['runs', 0, 'tool', 'driver', 'rules', 0];
  const cases: readonly (readonly [path: readonly (string | number)[], value: unknown, fault: RegExp])[] = [
    [['version'], '2.0.0', /version/],
    [['$schema'], undefined, /schema/],
    [['runs'], [], /0 runs/],
    [['runs', 0, 'results'], undefined, /results/],
    [['runs', 0, 'tool', 'driver', 'name'], '', /driver\.name/],
    [[...rule, 'shortDescription'], { text: 'x'.repeat(1025) }, /shortDescription/],
    [[...rule, 'help'], undefined, /help/],
    [[...rule, 'properties', 'tags'], Array.from({ length: 21 }, String), /tags/],
    [[...rule, 'properties', 'security-severity'], '11.0', /security-severity/],
    [[...result, 'ruleId'], 'another', /ruleId/],
    [[...result, 'ruleIndex'], 7, /ruleIndex/],
    [[...result, 'level'], 'fatal', /level/],
    [[...result, 'message'], { text: '' }, /message/],
    [[...result, 'locations'], [], /locations/],
    [[...result, 'partialFingerprints'], {}, /partialFingerprints/],
    [[...result, 'suppressions'], [{ kind: 'none' }], /suppressions/],
    [[...place, 'region', 'startLine'], 0, /startLine/],
    [[...place, 'region', 'endColumn'], undefined, /endColumn/],
    [[...place, 'region', 'endColumn'], 5, /empty/],
    [[...place, 'region', 'endLine'], 1, /ends before/],
    [[...place, 'artifactLocation', 'uri'], '/etc/passwd', /uri/],
    [[...place, 'artifactLocation', 'uri'], 'https://a.example/x', /uri/],
    [[...place, 'artifactLocation', 'uri'], 'a/../b', /uri/],
    [[...place, 'artifactLocation', 'uri'], 'a b', /uri/],
    [[...place, 'artifactLocation', 'uri'], 'a%zz', /uri/],
    [['runs', 0, 'results', 1], JSON.parse(text([finding])).runs[0].results[0], /fingerprint of another/],
  ];
  for (const [path, value, fault] of cases)
    t.match(githubIngestionFaults(broken(path, value)).join('; '), fault, path.join('.'));
  const run = JSON.parse(text([finding])).runs[0];
  t.match(githubIngestionFaults(broken(['runs'], [run, run])).join(), /two runs/);
});

t.test('reports every violation of the SARIF schema', async (t) => {
  const result = ['runs', 0, 'results', 0];
  const cases: readonly (readonly [path: readonly (string | number)[], value: unknown, fault: RegExp])[] = [
    [['bomFormat'], 'CycloneDX', /^schema: {2}must NOT have additional/],
    [['runs', 0, 'columnKind'], 'bytes', /^schema: \/runs\/0\/columnKind must be equal/],
    [['runs', 0, 'invocations', 0, 'executionSuccessful'], undefined, /^schema: .*executionSuccessful/],
    [['runs', 0, 'invocations', 0, 'toolExecutionNotifications'], [{}], /^schema: .*message/],
    [[...result, 'kind'], 'bad', /^schema: .*kind/],
    [[...result, 'partialFingerprints', 'other'], 7, /^schema: .*other must be string/],
    [[...result, 'locations', 0, 'physicalLocation', 'region', 'startColumn'], 0, /^schema: .*startColumn/],
  ];
  for (const [path, value, fault] of cases) {
    const found = githubIngestionFaults(broken(path, value)).filter((one) => one.startsWith('schema:'));
    t.match(found.join('; '), fault, path.join('.'));
  }
});

t.test('documents from `buildSarif` have no faults even with hostile input', async (t) => {
  const hostile = [
    'a b#c?d%.js',
    'we"ird\tü.js',
    '\ud800.js',
    'https:/x.js',
    '%2e%2e/x.js',
    '../../etc/passwd',
    '/etc//passwd',
    '/',
    "it's(1)!.js",
  ];
  const findings = hostile.flatMap((path) => [
    { ...finding, path, message: `\u0000\ud800[x](y) ${path}` },
    { ...finding, path, line: 0, column: 0 },
    { rule: 'we ird\u202e', severity: 'warning', message: 'x'.repeat(9000), path } as const,
    {
      ...finding,
      path,
      lineText: '  pickle.loads(x)',
      detail: { row: 'sast/python-unsafe-deserialization' },
    },
  ]);
  t.strictSame(githubIngestionFaults(text(findings, { described: describedRows })), []);
  t.strictSame(
    githubIngestionFaults(text([], { ruleIds: describedRows.map(({ id }) => id), described: describedRows })),
    [],
  );
});

long('25,000 incompressible results stay below the size limit and the rest is left out', async (t) => {
  let seed = 1;
  const noise = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed.toString(36);
  };
  const many = Array.from({ length: 26_000 }, (_, line) => ({
    ...finding,
    line: line + 1,
    message: Array.from({ length: 120 }, noise).join(''),
  }));
  const document = text(many);
  t.strictSame(githubIngestionFaults(document), []);
  t.match(JSON.parse(document).runs[0].invocations, [{ executionSuccessful: false }]);
});

t.test('lists a duplicate finding once and describes a row as one rule', async (t) => {
  const row = { ...finding, detail: { row: 'sast/python-unsafe-deserialization', cwe: 'CWE-502' } };
  const { results, tool } = JSON.parse(text([row, row, { ...row, line: 9 }], { described: describedRows }))
    .runs[0];
  t.match(
    results.map((result: { ruleId: string }) => result.ruleId),
    ['sast/python-unsafe-deserialization', 'sast/python-unsafe-deserialization'],
  );
  t.equal(results.length, 2);
  const [described] = tool.driver.rules.filter(({ id }: { id: string }) => id === row.detail.row);
  t.match(described, { properties: { tags: ['security', 'external/cwe/cwe-502'] }, help: { text: /JSON/ } });
});
