import t from 'tap';
import { judge } from '../../../gates/rules/sca.ts';
import { gateTester, toRuleInput } from '../../../testing.ts';
import { artifact, ruleOf, stageOf, withArtifacts } from './stage-case.ts';

const error = { rule: 'sca', severity: 'error' } as const;
const warning = { rule: 'sca', severity: 'warning' } as const;
const note = { rule: 'sca', severity: 'note' } as const;
const report = (document: unknown, options: object = {}) => ({
  ...stageOf('security'),
  ...withArtifacts(artifact('sca-report', document, { stage: 'security' })),
  options: { ...options },
});

const purl = 'pkg:npm/shaky@2.0.0';
const vulnerability = (severity: string | undefined, changes: object = {}) => ({
  id: 'GHSA-1',
  references: [{ id: 'CVE-1', source: { name: 'CVE' } }],
  ...(severity === undefined ? {} : { ratings: [{ severity }] }),
  affects: [{ ref: 'c', versions: [{ version: '2.0.0', status: 'affected' }] }],
  ...changes,
});
const properties = (age: string, extra: Readonly<Record<string, string>> = {}) =>
  Object.entries({ 'writ:advisories:newest': age, 'writ:packages': '1', ...extra }).map(([name, value]) => ({
    name,
    value,
  }));
const vdr = (vulnerabilities: unknown, metadata: object = {}) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  metadata: { timestamp: '2026-01-20T12:00:00Z', ...metadata },
  components: [
    {
      type: 'library',
      name: 'shaky',
      'bom-ref': 'c',
      purl,
      properties: [{ name: 'writ:declared-in', value: 'web/package-lock.json' }],
    },
  ],
  ...(vulnerabilities === undefined ? {} : { vulnerabilities }),
});
const atBase = (state: string) => ({ properties: [{ name: 'writ:baseline-state', value: state }] });
/** A report that a scanner supplies: no check made it. */
const supplied = (document: unknown) => {
  const made = artifact('sca-report', document, { stage: 'security' });
  const { checkId: _, ...record } = made.record;
  return { ...stageOf('security'), ...withArtifacts({ ...made, record }) };
};
const ignore = (changes: object = {}) => ({
  ignore: [{ id: 'CVE-1', until: '2026-01-20', reason: 'not reachable', ...changes }],
});

await gateTester(t, ruleOf('sca'), {
  valid: [
    { name: 'no vulnerability', ...report(vdr([])), expect: [] },
    { name: 'one below the threshold', ...report(vdr([vulnerability('medium')])), expect: [warning] },
    {
      name: 'one that the base has, too, in the report of a scanner',
      ...supplied(vdr([vulnerability('critical', atBase('unchanged'))])),
      expect: [
        {
          ...note,
          message: 'GHSA-1 (critical) affects `pkg:npm/shaky@2.0.0` (the base has it, too)',
        },
      ],
    },
    { name: 'one that is none', ...report(vdr([vulnerability('info')])), expect: [warning] },
    {
      name: 'high where only critical fails',
      ...report(vdr([vulnerability('high')]), { fail_on: 'critical' }),
      expect: [warning],
    },
    {
      name: 'one that is ignored, by its alias',
      ...report(vdr([vulnerability('critical')]), ignore()),
      expect: [
        {
          ...note,
          detail: {
            artifact: 'sca-report',
            id: 'GHSA-1',
            aliases: ['CVE-1'],
            level: 'critical',
            packages: [purl],
            suppressed: true,
            reason: 'config',
            until: '2026-01-20',
            justification: 'not reachable',
          },
        },
      ],
    },
    {
      name: 'one that is ignored for that package',
      ...report(vdr([vulnerability('critical')]), ignore({ package: 'pkg:npm/shaky' })),
      expect: [note],
    },
    {
      name: 'advisories that are old',
      ...report(vdr([], { properties: properties('2025-12-01T00:00:00Z') })),
      expect: [warning],
    },
    {
      name: 'advisories that may be that old',
      ...report(vdr([], { properties: properties('2025-12-01T00:00:00Z') }), { max_age_days: 60 }),
      expect: [],
    },
    {
      name: 'no package at all',
      ...report(vdr([], { properties: properties('2026-01-10T00:00:00Z', { 'writ:packages': '0' }) })),
      expect: [note],
    },
    { name: 'a report of another tool is not evaluated', ...report({ Results: [] }), expect: [note] },
    { name: 'a list of another tool', ...report([]), expect: [note] },
  ],
  invalid: [
    { name: 'no report', ...stageOf('security'), expect: [error] },
    { name: 'an empty report', ...report(''), expect: [error] },
    { name: 'text', ...report('no vulnerabilities found'), expect: [error] },
    { name: 'null', ...report('null'), expect: [error] },
    { name: 'a number', ...report('0'), expect: [error] },
    {
      name: 'no content',
      ...stageOf('security'),
      artifacts: [artifact('sca-report').record],
      expect: [error],
    },
    {
      name: 'critical',
      ...report(vdr([vulnerability('critical')])),
      expect: [{ ...error, path: 'web/package-lock.json' }],
    },
    { name: 'high', ...report(vdr([vulnerability('high')])), expect: [error] },
    {
      name: 'low where low fails',
      ...report(vdr([vulnerability('low')]), { fail_on: 'low' }),
      expect: [error],
    },
    { name: 'not rated', ...report(vdr([vulnerability(undefined)])), expect: [error] },
    { name: 'rated as unknown', ...report(vdr([vulnerability('unknown')])), expect: [error] },
    {
      name: 'the worst of several ratings',
      ...report(vdr([vulnerability(undefined, { ratings: [{ severity: 'low' }, { severity: 'high' }] })])),
      expect: [error],
    },
    {
      name: 'perhaps affected',
      ...report(
        vdr([
          vulnerability('high', {
            affects: [{ ref: 'c', versions: [{ range: 'vers:npm/*', status: 'unknown' }] }],
          }),
        ]),
      ),
      expect: [{ ...error, message: 'GHSA-1 (high) may affect `pkg:npm/shaky@2.0.0`' }],
    },
    {
      name: 'called harmless by the report itself',
      ...report(vdr([vulnerability('critical', { analysis: { state: 'not_affected' } })])),
      expect: [error],
    },
    {
      name: 'ignored until yesterday',
      ...report(vdr([vulnerability('critical')]), ignore({ until: '2026-01-19' })),
      expect: [
        {
          ...error,
          message:
            'GHSA-1 (critical) affects `pkg:npm/shaky@2.0.0` (was ignored until 2026-01-19, which is past)',
        },
      ],
    },
    {
      name: 'a new one in the report of a scanner',
      ...supplied(vdr([vulnerability('critical', atBase('new'))])),
      expect: [error],
    },
    {
      name: 'one of which the report of a check says that the base has it',
      ...report(vdr([vulnerability('critical', atBase('unchanged'))])),
      expect: [error],
    },
    {
      name: 'ignored, in a report without a time',
      ...report(vdr([vulnerability('critical')], { timestamp: undefined }), ignore()),
      expect: [error],
    },
    {
      name: 'ignored for another package',
      ...report(vdr([vulnerability('critical')]), ignore({ package: 'pkg:npm/shak' })),
      expect: [error],
    },
    {
      name: 'another id is ignored',
      ...report(vdr([vulnerability('critical')]), ignore({ id: 'CVE-2' })),
      expect: [error],
    },
    {
      name: 'an ecosystem without advisories',
      ...report(
        vdr([], {
          properties: properties('2026-01-10T00:00:00Z', {
            'writ:packages:pypi': '3',
            'writ:advisories:pypi': '0',
          }),
        }),
      ),
      expect: [error],
    },
    { name: 'a bill of materials that was not scanned', ...report(vdr(undefined)), expect: [error] },
    { name: 'vulnerabilities that are no list', ...report(vdr({})), expect: [error] },
    { name: 'a vulnerability without id', ...report(vdr([{}])), expect: [error] },
    {
      name: 'ratings that are no list',
      ...report(vdr([vulnerability('low', { ratings: {} })])),
      expect: [error],
    },
    {
      name: 'no CycloneDX after all',
      ...report({ bomFormat: 'CycloneDX', vulnerabilities: [] }),
      expect: [error],
    },
    { name: 'a threshold that is none', ...report(vdr([]), { fail_on: 'worst' }), expect: [error] },
    { name: 'an option that is none', ...report(vdr([]), { failon: 'low' }), expect: [error] },
    {
      name: 'an ignored advisory without a reason',
      ...report(vdr([]), ignore({ reason: '' })),
      expect: [error],
    },
    {
      name: 'an ignored advisory without an end',
      ...report(vdr([]), ignore({ until: '2026-02-30' })),
      expect: [error],
    },
  ],
});

const caseOf = (document: unknown) => toRuleInput({ name: 'x', ...report(document), expect: [] });

t.test('a missing report is an error that gives the reason', async (t) => {
  const unmade = { 'sca-report': 'no advisories are imported here: `writ sca import FILE`' };
  const [finding] = await judge({ ...caseOf(vdr([])), artifacts: [], unmade });
  t.match(finding, { ...error, message: /found none: .*`writ sca import FILE`$/ });
});

t.test('lists 200 of 1,000 vulnerabilities, errors first, and counts the rest', async (t) => {
  const many = Array.from({ length: 1000 }, (_, at) =>
    vulnerability(at === 999 ? 'critical' : 'low', { id: `A-${at}` }),
  );
  const findings = await judge(caseOf(vdr(many)));
  t.equal(findings.length, 201);
  t.match(findings[0], error);
  t.match(findings.at(-1), { severity: 'warning', message: '800 more findings are not listed' });
});

t.test('counts ignored vulnerabilities that are not listed', async (t) => {
  const notes = Array.from({ length: 201 }, () => vulnerability('critical'));
  const left = await judge(toRuleInput({ name: 'x', ...report(vdr(notes), ignore()), expect: [] }));
  t.equal(left.length, 201);
  t.match(left.at(-1), { severity: 'note', message: '1 more findings are not listed' });
});
