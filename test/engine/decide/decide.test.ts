import t from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import { decide } from '../../../engine/decide/decide.ts';
import type { DecidedStage, DecisionInput } from '../../../engine/record/decision-input.ts';

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
    schema: 'urn:writ:decision-input:v2',
    runId: 'run',
    specId: 'spec-0001',
    specDigest: sha,
    baseCommit: null,
    policyCommit: null,
    patchDigest: sha,
    candidateTree: 'b'.repeat(40),
    gateReportDigest: sha,
    patchFindings: [],
    touchesGoverning: false,
    stages: [stage('fast'), stage('integration', empty), stage('security', empty), stage('release', empty)],
    wallClock: { limitSeconds: 60, exceeded: false },
    refusals: [],
    subject: 'candidate',
    source: 'supplied',
    conflicts: [],
    triggers: { enabled: [], fired: [] },
    replans: { count: 0, limit: 5 },
    cost: { limitUnits: 0, usedUnits: 0 },
    human: { required: false, needed: 0, approved: 0, rejected: 0 },
    citations: { needed: 0, trusted: true },
    policy: {
      abandonOnSecurityGateFail: true,
      checkpointBeforeReplan: true,
      rollbackOnProvenanceFail: true,
    },
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
    {
      stages: stages(
        stage('fast', {
          expected: 2,
          ran: 2,
          checks: [
            { id: 'a', status: 'failed', required: false },
            { id: 'b', status: 'passed', required: true },
          ],
        }),
      ),
    },
    'commit',
    [],
  ],
  [
    'a run in which no check passed cannot commit, although none is required',
    { stages: stages(stage('fast', { checks: [{ id: 'a', status: 'failed', required: false }] })) },
    'abandon',
    ['no check passed'],
  ],
  [
    'fewer checks that passed than the contract wants cited cannot commit',
    { citations: { needed: 2, trusted: true } },
    'abandon',
    ['passed checks to cite: 1, expected at least 2'],
  ],
  ['as many as it wants can', { citations: { needed: 1, trusted: true } }, 'commit', []],
  [
    'checks that passed are no citation where the tier of the repository is not trusted',
    { citations: { needed: 1, trusted: false } },
    'abandon',
    ['passed checks to cite: 0 (the tier `repo` is not trusted), expected at least 1'],
  ],
  [
    'a tolerated old failure of the integration stage does not stop a commit',
    {
      stages: stages(
        stage('integration', { checks: [{ id: 'a', status: 'failed', required: true, tolerated: true }] }),
      ),
    },
    'commit',
    [],
  ],
  [
    'no other stage tolerates a failure',
    {
      stages: stages(
        stage('fast', { checks: [{ id: 'a', status: 'failed', required: true, tolerated: true }] }),
      ),
    },
    'abandon',
    ['check `a` failed'],
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
    'checkpoint',
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

t.test('the same input gives the same decision bytes, whatever the order of its keys', async (t) => {
  const one = input({ patchFindings: [error] });
  const other = Object.fromEntries(Object.entries(one).reverse()) as unknown as DecisionInput;
  t.equal(canonicalize(decide(one)), canonicalize(decide(other)));
  t.not(decide(one).inputDigest, decide(input()).inputDigest);
});

/** A candidate that a worker made, at the second of four attempts. */
function worked(more: Partial<DecisionInput> = {}): DecisionInput {
  return input({
    source: 'worker',
    task: { id: 'task-1', attempt: 2, maxRetries: 3 },
    triggers: { enabled: ['repeated-test-fail', 'security-gate-fail', 'scope-creep'], fired: [] },
    ...more,
  });
}

const failedCheck = (name: DecidedStage['stage']): Partial<DecisionInput> => ({
  stages: stages(stage(name, { status: 'failed', checks: [{ id: 'a', status: 'failed', required: true }] })),
});

const lastAgain = 'task `task-1`, the last of the plan, is tried again: nothing says whose work it is';

const reasonTable: readonly (readonly [
  name: string,
  input: DecisionInput,
  type: string,
  next: string,
  reasons: readonly string[],
])[] = [
  [
    'a supplied patch that would be replanned ends, and the trigger is named',
    input({
      patchFindings: [error],
      triggers: { enabled: ['scope-creep', 'unknown-api'], fired: ['unknown-api', 'scope-creep'] },
    }),
    'abandon',
    'stop',
    ['patch refused by `scope`', 'a supplied patch cannot be replanned for `scope-creep`, `unknown-api`'],
  ],
  [
    'a trigger that the contract does not name has no effect',
    worked({ triggers: { enabled: ['repeated-test-fail'], fired: ['scope-creep'] } }),
    'commit',
    'seal',
    [],
  ],
  [
    'a trigger that somebody sensed replans a candidate that nothing else speaks against',
    worked({ triggers: { enabled: ['evidence-conflict'], fired: ['evidence-conflict'] } }),
    'checkpoint',
    'replan',
    [lastAgain, 'replanned for `evidence-conflict`'],
  ],
  [
    'the replan after the last allowed one is named and does not happen',
    worked({
      triggers: { enabled: ['scope-creep'], fired: ['scope-creep'] },
      replans: { count: 5, limit: 5 },
      patchFindings: [error],
    }),
    'abandon',
    'stop',
    ['patch refused by `scope`', 'replanned 5 times, at most 5; not again for `scope-creep`'],
  ],
  [
    'attempt 3 of 4 is followed by another one',
    worked({ task: { id: 'task-1', attempt: 3, maxRetries: 3 }, ...failedCheck('fast') }),
    'retry',
    'retry',
    ['check `a` failed', lastAgain],
  ],
  [
    'attempt 4 of 4 is the last',
    worked({ task: { id: 'task-1', attempt: 4, maxRetries: 3 }, ...failedCheck('fast') }),
    'abandon',
    'stop',
    ['check `a` failed', 'task `task-1` failed 4 of 4 attempts'],
  ],
  [
    'without a task there is nothing to try again',
    input({ source: 'worker', ...failedCheck('fast') }),
    'abandon',
    'stop',
    ['check `a` failed', 'no task to try again'],
  ],
  [
    'a merge conflict names a few of its paths',
    worked({ conflicts: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }),
    'retry',
    'retry',
    ['merge conflict in `a`, `b`, `c`, `d`, `e` and 2 more', lastAgain],
  ],
  [
    'used up to the cap is not over it',
    worked({ cost: { limitUnits: 10, usedUnits: 10 } }),
    'commit',
    'seal',
    [],
  ],
  [
    'over the cap a person approves the next attempt and sees its reason',
    worked({ cost: { limitUnits: 10, usedUnits: 10.5 }, ...failedCheck('fast') }),
    'checkpoint',
    'wait-for-budget',
    ['check `a` failed', 'used 10.5 of 10 cost units'],
  ],
  [
    'people are counted',
    worked({ human: { required: true, needed: 2, approved: 1, rejected: 0 } }),
    'checkpoint',
    'wait-for-approval',
    ['approved by 1 of 2 people'],
  ],
  [
    'a human loop without a number needs one person',
    worked({ human: { required: true, needed: 0, approved: 0, rejected: 0 } }),
    'checkpoint',
    'wait-for-approval',
    ['approved by 0 of 1 people'],
  ],
  [
    'a change of what governs writ needs two people, also if the contract requires none',
    worked({ touchesGoverning: true, human: { required: false, needed: 0, approved: 1, rejected: 0 } }),
    'checkpoint',
    'wait-for-approval',
    ['what governs writ is changed: approved by 1 of 2 people'],
  ],
  [
    'a change of what governs writ needs more than two people if the contract requires more',
    worked({ touchesGoverning: true, human: { required: true, needed: 3, approved: 2, rejected: 0 } }),
    'checkpoint',
    'wait-for-approval',
    ['what governs writ is changed: approved by 2 of 3 people'],
  ],
  [
    'a rejection is the reason, however many approved',
    worked({ human: { required: true, needed: 2, approved: 3, rejected: 1 } }),
    'abandon',
    'stop',
    ['rejected by 1 person'],
  ],
  [
    'no approval is requested for content that no check has seen',
    input({
      stages: stages(stage('fast', empty)),
      human: { required: true, needed: 1, approved: 0, rejected: 0 },
    }),
    'abandon',
    'stop',
    ['no check ran', 'approved by 0 of 1 people'],
  ],
  [
    'no approval is requested for content that an earlier stage did not evaluate',
    input({
      stages: stages(
        stage('integration', notStarted),
        stage('release', { status: 'waiting', checks: [{ id: 'a', status: 'waiting', required: true }] }),
      ),
    }),
    'abandon',
    'stop',
    ['stage `integration` did not start', 'check `a` waiting'],
  ],
  [
    'a check that waits in a stage that does not is no waiting',
    worked({ stages: stages(stage('fast', { checks: [{ id: 'a', status: 'waiting', required: true }] })) }),
    'abandon',
    'stop',
    ['check `a` waiting'],
  ],
  [
    'a stage that passed with a failed check in it is no failure to try again but a contradiction',
    worked({ stages: stages(stage('fast', { checks: [{ id: 'a', status: 'failed', required: true }] })) }),
    'abandon',
    'stop',
    ['check `a` failed'],
  ],
  [
    'a stage that counts a check without a record of it contradicts itself',
    worked({ stages: stages(stage('fast', { checks: [] })) }),
    'abandon',
    'stop',
    ['stage `fast` ran 1 of 1 checks'],
  ],
  [
    'a swap that was lost is rolled back, whatever the clock says by now',
    input({ sealing: 'swap-lost', wallClock: { limitSeconds: 1, exceeded: true } }),
    'rollback',
    'stop',
    ['the target was moved before the swap'],
  ],
  [
    'a working tree that changed is rolled back',
    input({ sealing: 'changed-under-us' }),
    'rollback',
    'stop',
    ['the working tree was changed before the swap'],
  ],
  [
    'failed provenance is reported if the contract commits without it',
    input({
      sealing: 'provenance-failed',
      policy: { ...input().policy, rollbackOnProvenanceFail: false },
    }),
    'commit',
    'swap',
    ['provenance failed'],
  ],
];

for (const [name, given, type, next, reasons] of reasonTable) {
  t.test(name, async (t) => {
    const record = decide(given);
    t.strictSame({ type: record.type, next: record.next }, { type, next });
    t.strictSame(record.reasons, reasons);
  });
}

t.test('a v1 input without citations needs only one check that ran', async (t) => {
  const old = (...replaced: DecidedStage[]): DecisionInput => {
    const { citations: _, ...kept } = input({ stages: stages(...replaced) });
    return { ...kept, schema: 'urn:writ:decision-input:v1' };
  };
  const failed = stage('fast', { checks: [{ id: 'a', status: 'failed', required: false }] });
  t.strictSame(decide(old(failed)).type, 'commit');
  t.match(decide(old(stage('fast', empty))), { type: 'abandon', reasons: ['no check ran'] });
});

t.test('an invalid decision input is abandoned with a reason that names the path', async (t) => {
  const odd: readonly (readonly [string, Record<string, unknown>])[] = [
    ['/schema', { schema: 'urn:writ:decision-input:v9' }],
    ['/subject', { subject: 'run' }],
    ['/source', { source: undefined }],
    ['/worker', { worker: 'maybe' }],
    ['/worker', { worker: 'nothing' }],
    ['/worker', { subject: 'attempt', source: 'worker' }],
    ['/sealing', { sealing: 'done' }],
    ['/sealing', { subject: 'attempt', sealing: 'swap-lost' }],
    ['/human/approved', { human: { required: true, needed: 1, approved: -1, rejected: 0 } }],
    ['/human', { human: null }],
    ['/triggers/fired/0', { triggers: { enabled: [], fired: ['boredom'] } }],
    ['/replans/limit', { replans: { count: 0 } }],
    ['/cost/usedUnits', { cost: { limitUnits: 1, usedUnits: -1 } }],
    ['/task/attempt', { task: { id: 'task-1', attempt: 0, maxRetries: 3 } }],
    ['/policy', { policy: [] }],
    ['/stages/0/status', { stages: [{ ...stage('fast'), status: 'fine' }] }],
    ['/patchFindings/0/severity', { patchFindings: [{ rule: 'x', severity: 'fatal' }] }],
    ['/wallClock/exceeded', { wallClock: { limitSeconds: 1, exceeded: 'no' } }],
    ['/override', { override: true }],
  ];
  for (const [path, more] of odd) {
    const { source, ...rest } = { ...input(), ...more };
    const given = source === undefined ? rest : { ...rest, source };
    const record = decide(given as unknown as DecisionInput);
    t.strictSame({ type: record.type, next: record.next }, { type: 'abandon', next: 'stop' }, path);
    t.ok(
      record.reasons.every((reason) => reason.startsWith(`decision input ${path}`)),
      `${path}: ${record.rationale}`,
    );
  }
  for (const field of Object.keys(input())) {
    if (field === 'runId') continue;
    const given = Object.fromEntries(Object.entries(input()).filter(([name]) => name !== field));
    t.equal(decide(given as unknown as DecisionInput).type, 'abandon', `without ${field}`);
  }
});

t.test('the rationale of a commit counts the checks that ran and the checks that passed', async (t) => {
  const one = stage('fast', {
    expected: 2,
    ran: 2,
    checks: [
      { id: 'a', status: 'passed', required: true },
      { id: 'b', status: 'failed', required: false },
    ],
  });
  const { rationale } = decide(input({ stages: stages(one, stage('release')) }));
  t.equal(rationale, '2 of 3 checks passed; no rule reported an error');
});
