import t from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import { decide } from '../../../core/run/decide.ts';
import type { DecidedStage, DecisionInput } from '../../../core/run/decision-input.ts';

const sha = 'a'.repeat(64);

function stage(name: DecidedStage['stage'], more: Partial<DecidedStage> = {}): DecidedStage {
  return {
    stage: name,
    status: 'passed',
    expected: 1,
    ran: 1,
    checks: [{ id: `${name}-1`, status: 'passed', required: true }],
    findings: [],
    ...more,
  };
}

const empty = { status: 'skipped', expected: 0, ran: 0, checks: [] } as const;
const notStarted = { status: 'not-started', expected: 1, ran: 0, checks: [] } as const;

function input(more: Partial<DecisionInput> = {}): DecisionInput {
  return {
    schema: 'urn:writ:decision-input:v1',
    runId: 'run',
    specId: 'spec-0001',
    specDigest: sha,
    baseCommit: null,
    patchDigest: sha,
    candidateTree: 'b'.repeat(40),
    gateReportDigest: sha,
    patchFindings: [],
    stages: [stage('fast'), stage('integration', empty), stage('security', empty), stage('release', empty)],
    wallClock: { limitSeconds: 60, exceeded: false },
    refusals: [],
    ...more,
  };
}

function stages(...replaced: DecidedStage[]): DecidedStage[] {
  return input().stages.map((one) => replaced.find(({ stage: name }) => name === one.stage) ?? one);
}

const error = { rule: 'scope', severity: 'error' } as const;

const table: readonly (readonly [
  name: string,
  more: Partial<DecisionInput>,
  type: string,
  reasons: readonly string[],
])[] = [
  ['one passed check and nothing against it commits', {}, 'commit', []],
  ['a warning does not stop a commit', { patchFindings: [{ ...error, severity: 'warning' }] }, 'commit', []],
  [
    'a failed check that is not required does not stop a commit',
    { stages: stages(stage('fast', { checks: [{ id: 'a', status: 'failed', required: false }] })) },
    'commit',
    [],
  ],
  [
    'a stage without checks that some rule passed may say passed',
    { stages: stages(stage('release', { ...empty, status: 'passed' })) },
    'commit',
    [],
  ],
  [
    'an error on the patch abandons',
    { patchFindings: [error, error] },
    'abandon',
    ['patch refused by `scope`'],
  ],
  ['a guard that refuses abandons', { refusals: [error] }, 'abandon', ['guard refused by `scope`']],
  [
    'an exceeded wall clock abandons',
    { wallClock: { limitSeconds: 5, exceeded: true } },
    'abandon',
    ['wall clock of 5 s exceeded'],
  ],
  [
    'a failed required check abandons',
    {
      stages: stages(
        stage('fast', { status: 'failed', checks: [{ id: 'a', status: 'failed', required: true }] }),
      ),
    },
    'abandon',
    ['check `a` failed'],
  ],
  [
    'a check that waits for a person does not commit',
    {
      stages: stages(
        stage('release', { status: 'waiting', checks: [{ id: 'a', status: 'waiting', required: true }] }),
      ),
    },
    'abandon',
    ['check `a` waiting'],
  ],
  [
    'a stage that listed a check and ran none has failed',
    { stages: stages(stage('fast', { status: 'passed', ran: 0, checks: [] })) },
    'abandon',
    ['stage `fast` ran 0 of 1 checks'],
  ],
  [
    'a stage that calls itself skipped with a check listed has failed',
    { stages: stages(stage('fast', { status: 'skipped' })) },
    'abandon',
    ['stage `fast` skipped'],
  ],
  [
    'an error that a stage found abandons',
    { stages: stages(stage('security', { ...empty, findings: [error] })) },
    'abandon',
    ['stage `security` refused by `scope`'],
  ],
  [
    'a stage that failed without a reason abandons',
    { stages: stages(stage('fast', { status: 'failed' })) },
    'abandon',
    ['stage `fast` failed'],
  ],
  ['no check at all cannot commit', { stages: stages(stage('fast', empty)) }, 'abandon', ['no check ran']],
  [
    'a missing stage record abandons',
    { stages: stages().slice(1) },
    'abandon',
    ['stage `fast` has 0 records, expected 1'],
  ],
  [
    'a doubled stage record abandons',
    { stages: [...stages(), stage('fast')] },
    'abandon',
    ['stage `fast` has 2 records, expected 1'],
  ],
  [
    'a stage that did not start abandons',
    { stages: stages(stage('release', notStarted)) },
    'abandon',
    ['stage `release` did not start'],
  ],
  [
    'a stage that did not start is no reason beside the one that stopped it',
    {
      stages: stages(
        stage('fast', { checks: [{ id: 'a', status: 'failed', required: true }], status: 'failed' }),
        stage('integration', notStarted),
      ),
    },
    'abandon',
    ['check `a` failed'],
  ],
];

for (const [name, more, type, reasons] of table) {
  t.test(name, async (t) => {
    const record = decide(input(more));
    t.equal(record.type, type);
    t.strictSame(record.reasons, reasons);
  });
}

t.test('the same input gives the same bytes, whatever the order of its keys', async (t) => {
  const one = input({ patchFindings: [error] });
  const other = Object.fromEntries(Object.entries(one).reverse()) as unknown as DecisionInput;
  t.equal(canonicalize(decide(one)), canonicalize(decide(other)));
  t.not(decide(one).inputDigest, decide(input()).inputDigest);
});
