import t from 'tap';
import type { CheckRecord, StageRecord } from '../../../core/interfaces/stage.ts';
import type { GateReport } from '../../../store/record/gate-report.ts';
import { type Verdict, verdictDifferences, verdictDigest, verdictOf } from '../../../store/record/verdict.ts';

const unit: CheckRecord = {
  id: 'unit',
  kind: 'testSuite',
  stage: 'fast',
  status: 'passed',
  required: true,
  command: 'node --test',
  expectedExitCode: 0,
  exitCode: 0,
  timedOut: false,
  durationMs: 12,
  startedAt: '2026-01-01T00:00:00Z',
  tests: { passed: 12, failed: 0, skipped: 1, durationMs: 80, slowest: [{ name: 'a', durationMs: 40 }] },
  artifacts: [
    {
      name: 'test-log',
      stage: 'fast',
      path: 'artifacts/fast/unit/test-log.txt',
      sha256: '1'.repeat(64),
      sizeBytes: 9,
      contentType: 'text/plain',
    },
  ],
  findings: [
    { rule: 'check-outcome', severity: 'warning', message: 'slow: 3.5 s at 2026-01-01T00:00:01.5Z', line: 3 },
  ],
};
const people: CheckRecord = {
  ...unit,
  id: 'people',
  kind: 'policy',
  stage: 'release',
  status: 'waiting',
  tests: { passed: 0, failed: 0, skipped: 0 },
  artifacts: [],
  findings: [{ rule: 'require-approvers', severity: 'note', message: '0 of 2', detail: { waiting: true } }],
};
const stage = (
  name: StageRecord['stage'],
  status: StageRecord['status'],
  checks: readonly CheckRecord[],
) => ({
  stage: name,
  status,
  expected: checks.length,
  ran: checks.length,
  checks,
  findings: [],
});
const report: GateReport = {
  schema: 'urn:writ:gate-report:v1',
  runId: 'run-1',
  threadId: 'thread-1',
  startedAt: '2026-01-01T00:00:00Z',
  spec: {
    id: 's',
    digest: '2'.repeat(64),
    summary: 'x',
    changeType: 'bugfix',
    riskLevel: 'low',
    objectives: [],
  },
  targetRef: 'refs/heads/main',
  sandbox: 'bubblewrap',
  authorship: { authors: ['Ann <ann@x>'], committers: [] },
  stages: [stage('fast', 'passed', [unit]), stage('release', 'waiting', [people])],
  findings: [],
  artifacts: unit.artifacts,
};

/** The report with another first check. */
function withUnit(change: Partial<CheckRecord>): GateReport {
  return {
    ...report,
    stages: [stage('fast', 'passed', [{ ...unit, ...change }]), ...report.stages.slice(1)],
  };
}

t.test('reports that differ only in times, messages and other incidental data have the same verdict', (t) => {
  const [log] = unit.artifacts;
  const again: GateReport = {
    ...withUnit({
      startedAt: '2026-02-02T02:02:02Z',
      durationMs: 900,
      tests: { passed: 12, failed: 0, skipped: 1, flaky: 1, durationMs: 700 },
      artifacts: log
        ? [{ ...log, sha256: '7'.repeat(64), sizeBytes: 12, expiresAt: '2027-01-01T00:00:00Z' }]
        : [],
      findings: unit.findings.map((one) => ({ ...one, message: 'slow: 911 ms at 2026-02-02T02:02:02Z' })),
      network: { opened: [], uses: [] } as unknown as NonNullable<CheckRecord['network']>,
    }),
    startedAt: '2026-02-02T02:00:00Z',
    sandbox: 'unshare',
    notices: ['the base lags behind'],
  };
  t.equal(verdictDigest(again), verdictDigest(report));
  t.strictSame(verdictDifferences(verdictOf(report), verdictOf(again)), []);
  t.end();
});

t.test('any other difference is reported by stage, check, finding and count', (t) => {
  const cases: Readonly<Record<string, readonly [GateReport, RegExp]>> = {
    'a test less': [
      withUnit({ tests: { passed: 11, failed: 0, skipped: 1 } }),
      /check `unit` \(fast\): `11` tests passed, were `12`/,
    ],
    'a status': [withUnit({ status: 'failed' }), /`status` is `failed`, was `passed`/],
    'an exit code': [withUnit({ exitCode: 3 }), /`exitCode` is `3`, was `0`/],
    'a failed test': [
      withUnit({ tests: { passed: 12, failed: 0, skipped: 1, failedTests: [{ name: 'adds' }] } }),
      /failed test: `adds` is new/,
    ],
    'an artifact': [withUnit({ artifacts: [] }), /`test-log` is gone/],
    'a finding': [withUnit({ findings: [] }), /no longer found: warning of `check-outcome`/],
    'another line': [
      withUnit({ findings: unit.findings.map((one) => ({ ...one, line: 4 })) }),
      /new: warning of `check-outcome`/,
    ],
    'a check': [
      { ...report, stages: [stage('fast', 'passed', []), ...report.stages.slice(1)] },
      /`unit` \(fast\) is gone/,
    ],
    'a stage': [{ ...report, stages: report.stages.slice(1) }, /stage `fast` is gone/],
    'a finding of the patch': [
      { ...report, findings: [{ rule: 'scope', severity: 'note', message: 'wide', path: 'a.ts' }] },
      /^new: note of `scope` at `a.ts`: wide/,
    ],
    'the target': [{ ...report, targetRef: 'refs/heads/release' }, /target is `refs\/heads\/release`/],
    'an author': [
      { ...report, authorship: { authors: ['Eve <eve@x>'], committers: [] } },
      /author: `Ann <ann@x>` is gone/,
    ],
  };
  for (const [what, [other, told]] of Object.entries(cases)) {
    t.not(verdictDigest(other), verdictDigest(report), what);
    t.match(verdictDifferences(verdictOf(report), verdictOf(other)).join('\n'), told, what);
    t.not(
      verdictDifferences(verdictOf(report), verdictOf(other), { goesOn: true }).length,
      0,
      `${what}, later`,
    );
  }
  t.end();
});

t.test('a resumed run may decide waiting checks but must keep everything before them', (t) => {
  const signed: CheckRecord = { ...people, status: 'passed', findings: [] };
  const on: Verdict = verdictOf({
    ...report,
    stages: [...report.stages.slice(0, 1), stage('release', 'passed', [signed])],
  });
  t.strictSame(verdictDifferences(verdictOf(report), on, { goesOn: true }), []);
  t.not(verdictDifferences(verdictOf(report), on).length, 0);
  const early: GateReport = {
    ...report,
    stages: [stage('fast', 'waiting', [people]), { ...stage('release', 'skipped', []), expected: 1 }],
  };
  const late = verdictOf({
    ...early,
    stages: [stage('fast', 'passed', [signed]), stage('release', 'passed', [unit])],
  });
  t.strictSame(verdictDifferences(verdictOf(early), late, { goesOn: true }), []);
  const other = { ...signed, command: 'require-approvers --min 0' };
  const swapped = verdictOf({
    ...early,
    stages: [stage('fast', 'passed', [other]), stage('release', 'passed', [unit])],
  });
  t.match(verdictDifferences(verdictOf(early), swapped, { goesOn: true }).join(), /`command`/);
  t.end();
});
