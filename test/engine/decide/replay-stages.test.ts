import t from 'tap';
import { compareStages, type StagesQuestion } from '../../../engine/decide/replay-run.ts';
import type { DecidedStage, DecisionInput } from '../../../engine/record/decision-input.ts';

type Json = { [key: string]: unknown };

const warning = { rule: 'scope', severity: 'warning', path: 'a.js', line: 3, message: 'm' };
const sha = (letter: string): string => letter.repeat(64);

/** Evidence of a fast stage in which one check ran, and of a release stage without checks. */
const wholeFast: Json = {
  stage: 'fast',
  status: 'passed',
  summary: '1 of 1 checks ran',
  findings: [warning],
  made_by: [{ sha256: sha('b'), plugin: 'p' }],
  asked: [{ name: 'n' }],
};
const checkFast: Json = {
  stage: 'fast',
  check_id: 'unit',
  status: 'failed',
  required: true,
  tolerated: true,
  command: 'node --test',
  exit_code: 1,
  tests: { passed: 1 },
  carried: ['x'],
  wrote_outside: { count: 1 },
  at_policy: 'p',
  with_base_tests: 'b',
  findings: [warning],
  reports: [{ sha256: sha('a') }],
};
const wholeRelease: Json = {
  stage: 'release',
  status: 'skipped',
  summary: '0 of 0 checks ran',
  findings: [],
};

const reportedCheck: Json = {
  id: 'unit',
  command: 'node --test',
  exitCode: 1,
  tests: { passed: 1 },
  carried: ['x'],
  wroteOutside: { count: 1 },
  atPolicy: 'p',
  withBaseTests: 'b',
  findings: [warning],
  artifacts: [{ sha256: sha('a') }],
};
const report = {
  stages: [
    { stage: 'fast', findings: [warning], asked: [{ name: 'n' }], checks: [reportedCheck] },
    { stage: 'release', findings: [], checks: [] },
  ],
  artifacts: [
    { stage: 'fast', checkId: 'unit', sha256: sha('a') },
    { stage: 'fast', sha256: sha('b'), plugin: 'p' },
    { stage: 'fast', sha256: sha('c') },
    { stage: 'release', sha256: sha('d'), checkId: 'other', plugin: 'q' },
  ],
};

const notStarted = { status: 'not-started', expected: 0, ran: 0, checks: [], findings: [] } as const;
const stages: readonly DecidedStage[] = [
  {
    stage: 'fast',
    status: 'passed',
    expected: 1,
    ran: 1,
    checks: [{ id: 'unit', status: 'failed', required: true, tolerated: true }],
    findings: [{ rule: 'scope', severity: 'warning', path: 'a.js', line: 3 }],
  },
  { stage: 'integration', ...notStarted },
  { stage: 'security', ...notStarted },
  { stage: 'release', ...notStarted, status: 'skipped' },
];

/** The first difference of a record that agrees but for what is given. */
function difference(more: {
  readonly fast?: Json;
  readonly check?: Json;
  readonly stages?: readonly DecidedStage[];
  readonly evidence?: readonly Json[];
  readonly report?: unknown;
}) {
  const evidence = more.evidence ?? [
    { ...wholeFast, ...more.fast },
    { ...checkFast, ...more.check },
    wholeRelease,
  ];
  const question = {
    file: 'decision-input.json',
    input: { stages: more.stages ?? stages } as unknown as DecisionInput,
    evidence: evidence.map((object, n) => ({ path: `evidence/${n}.json`, object })),
    report: 'report' in more ? more.report : report,
  } as unknown as StagesQuestion;
  const found = compareStages(question);
  return found === undefined ? undefined : `${found.file} ${found.field}`;
}

const withStage = (at: number, more: Partial<DecidedStage>): readonly DecidedStage[] =>
  stages.map((stage, index) => (index === at ? { ...stage, ...more } : stage));

t.test('finds no difference when evidence, report and input agree', async (t) => {
  t.equal(difference({}), undefined);
  t.equal(difference({ report: undefined }), undefined, 'an attempt has no report of its own');
});

t.test('compares the input with the evidence of each stage', async (t) => {
  const input = (field: string) => `decision-input.json ${field}`;
  for (const [name, found, field] of [
    ['status', difference({ fast: { status: 'failed' } }), '/stages/0/status'],
    ['number of checks', difference({ fast: { summary: '1 of 2 checks ran' } }), '/stages/0'],
    ['findings', difference({ fast: { findings: [] } }), '/stages/0/findings'],
    [
      'place of a finding',
      difference({ fast: { findings: [{ ...warning, line: 4 }] } }),
      '/stages/0/findings',
    ],
    [
      'no place',
      difference({ fast: { findings: [{ rule: 'scope', severity: 'warning' }] } }),
      '/stages/0/findings',
    ],
    ['status of a check', difference({ check: { status: 'passed' } }), '/stages/0/checks'],
    ['a check that need not pass', difference({ check: { required: false } }), '/stages/0/checks'],
    ['a failure that is not tolerated', difference({ check: { tolerated: undefined } }), '/stages/0/checks'],
    ['name of a check', difference({ check: { check_id: 'other' } }), '/stages/0/checks'],
    ['a check of another stage', difference({ check: { stage: 'release' } }), '/stages/0/checks'],
    ['no evidence of a stage', difference({ evidence: [wholeRelease] }), '/stages/0/status'],
    [
      'a check of a stage without evidence',
      difference({ evidence: [wholeFast, checkFast, { ...checkFast, stage: 'security' }, wholeRelease] }),
      '/stages/2/status',
    ],
    ['order', difference({ stages: withStage(1, { stage: 'security' }) }), '/stages/1/stage'],
    ['a stage too few', difference({ stages: stages.slice(0, 3) }), '/stages/3/stage'],
    ['a stage too many', difference({ stages: [...stages, ...stages.slice(3)] }), '/stages'],
    [
      'a stage that ran without evidence',
      difference({ stages: withStage(1, { status: 'skipped' }) }),
      '/stages/1/status',
    ],
  ] as const)
    t.equal(found, input(field), name);
});

t.test('compares the evidence of a check with the report', async (t) => {
  for (const [change, field] of [
    [{ command: 'true' }, '/command'],
    [{ exit_code: 2 }, '/exit_code'],
    [{ tests: { passed: 2 } }, '/tests'],
    [{ carried: [] }, '/carried'],
    [{ wrote_outside: undefined }, '/wrote_outside'],
    [{ at_policy: 'q' }, '/at_policy'],
    [{ with_base_tests: undefined }, '/with_base_tests'],
    [{ findings: [] }, '/findings'],
    [{ reports: [] }, '/reports'],
  ] as const)
    t.equal(difference({ check: change }), `evidence/1.json ${field}`);
});

t.test('compares the evidence of a stage with the report', async (t) => {
  t.equal(difference({ fast: { asked: [] } }), 'evidence/0.json /asked');
  t.equal(difference({ fast: { made_by: [] } }), 'evidence/0.json /made_by');
  t.equal(difference({ fast: { made_by: undefined } }), 'evidence/0.json /made_by');
  const other = { ...warning, message: 'other words' };
  t.equal(
    difference({ fast: { findings: [other] } }),
    'evidence/0.json /findings',
    'words are not in the input',
  );
});

t.test('reports a difference when the report lacks a check, a stage or artifacts', async (t) => {
  const [fast, release] = report.stages;
  t.equal(
    difference({ report: { ...report, stages: [{ ...fast, checks: [] }, release] } }),
    'evidence/1.json /command',
  );
  t.equal(
    difference({ report: { ...report, stages: [{ ...fast, checks: undefined }, release] } }),
    'evidence/1.json /command',
  );
  t.equal(difference({ report: { ...report, stages: [fast] } }), 'evidence/2.json /findings');
  t.equal(difference({ report: { stages: report.stages } }), 'evidence/0.json /made_by');
});

t.test('a difference names the expected and the found value', async (t) => {
  const question = { file: 'f', input: { stages: [] }, evidence: [], report: undefined };
  t.strictSame(compareStages(question as unknown as StagesQuestion), {
    file: 'f',
    field: '/stages/0/stage',
    expected: '"fast"',
    found: 'nothing',
  });
});
