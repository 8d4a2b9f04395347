import t from 'tap';
import { blame, type Part, placedErrors, toBlame } from '../../../engine/decide/blame.ts';
import { decide } from '../../../engine/decide/decide.ts';
import { blameAgain } from '../../../engine/decide/replay-run.ts';
import {
  type DecidedFinding,
  type DecisionInput,
  inputProblems,
} from '../../../engine/record/decision-input.ts';
import type { StoredObject } from '../../../store/stored-object.ts';

type Change = Part['files'][number];
const modify = (path: string): Change => ({ path, change_type: 'modify' });
const rename = (from: string, path: string): Change => ({ path, old_path: from, change_type: 'rename' });
const part = (key: string, ...files: Change[]): Part => ({ name: `${key}/revision-1/attempt-1`, key, files });
const error = (path?: string): DecidedFinding => ({
  rule: 'sast',
  severity: 'error',
  ...(path === undefined ? {} : { path }),
});

const table: readonly (readonly [
  name: string,
  parts: readonly Part[],
  path: string,
  guilty: readonly string[],
])[] = [
  ['one Task wrote the file', [part('task-1', modify('a')), part('task-2', modify('b'))], 'b', ['task-2']],
  [
    'two Tasks touched the file: both, in the plan’s order',
    [part('task-1', modify('a')), part('task-2', modify('b')), part('task-3', modify('a'))],
    'a',
    ['task-1', 'task-3'],
  ],
  ['no task wrote the file', [part('task-1', modify('a'))], 'package-lock.json', []],
  [
    'renamed by one and edited by another, under the old name',
    [part('task-1', rename('a', 'b')), part('task-2', modify('a'))],
    'b',
    ['task-1', 'task-2'],
  ],
  [
    'renamed twice',
    [part('task-1', modify('a')), part('task-2', rename('a', 'b')), part('task-3', rename('b', 'c'))],
    'c',
    ['task-1', 'task-2', 'task-3'],
  ],
  [
    'renames that go in a circle end',
    [part('task-1', rename('a', 'b')), part('task-2', rename('b', 'a'))],
    'a',
    ['task-1', 'task-2'],
  ],
  ['a file that is found missing: who moved it away', [part('task-1', rename('a', 'b'))], 'a', ['task-1']],
  [
    'a task that moved a file away did not write the file at its old path',
    [part('task-1', rename('a', 'b')), part('task-2', { path: 'a', change_type: 'add' })],
    'a',
    ['task-2'],
  ],
  [
    'a Task that is done on a merged candidate has written what it wrote before as well',
    [part('task-1', modify('a')), part('task-2', modify('b')), part('task-2', modify('c'))],
    'b',
    ['task-2'],
  ],
];

for (const [name, parts, path, guilty] of table)
  t.test(`finds the tasks to blame (${name})`, (t) => {
    const found = blame([error(path)], parts);
    t.strictSame(
      found.tasks.map(({ key }) => key),
      guilty,
    );
    t.equal(found.unwritten.length, guilty.length === 0 ? 1 : 0);
    t.end();
  });

t.test('blames only errors that come from rules and name a file', (t) => {
  const check = (kind: string, path: string, required = true, status = 'failed') => ({
    kind,
    status,
    required,
    findings: [error(path)],
  });
  const found = placedErrors({
    findings: [error('patch'), error(), { ...error('warned'), severity: 'warning' }],
    stages: [
      {
        findings: [error('stage'), error('policy')],
        checks: [
          check('policy', 'policy'),
          check('policy', 'optional', false),
          check('policy', 'passed', true, 'passed'),
          check('command', 'command'),
          check('testSuite', 'suite'),
        ],
      },
    ],
  });
  t.strictSame(
    found.map(({ path }) => path),
    ['patch', 'stage', 'policy'],
    'a rule that judges the stage and is asked by a check as well is told once',
  );
  t.end();
});

t.test('the record of ten thousand findings keeps only the first twenty', (t) => {
  const paths = Array.from({ length: 10_000 }, (_, index) => `src/${index}`);
  const found = toBlame(
    paths.map((path) => error(path)),
    [part('task-1', ...paths.map(modify))],
    () => ({ attempt: 1, maxRetries: 1 }),
  );
  t.match(found.tasks, [{ id: 'task-1', count: 10_000 }]);
  t.equal(found.tasks[0]?.first.length, 20);
  t.end();
});

const sha = 'a'.repeat(64);
const skipped = { status: 'skipped', expected: 0, ran: 0, checks: [], findings: [] } as const;

function input(more: Partial<DecisionInput> = {}): DecisionInput {
  return {
    schema: 'urn:writ:decision-input:v1',
    runId: 'run',
    specId: 'spec-0001',
    specDigest: sha,
    baseCommit: null,
    policyCommit: null,
    patchDigest: sha,
    candidateTree: 'b'.repeat(40),
    gateReportDigest: sha,
    patchFindings: [error('a\u001b[31m')],
    touchesGoverning: false,
    stages: [
      { stage: 'fast', ...skipped },
      { stage: 'integration', ...skipped },
      { stage: 'security', ...skipped },
      { stage: 'release', ...skipped },
    ],
    wallClock: { limitSeconds: 60, exceeded: false },
    refusals: [],
    subject: 'candidate',
    source: 'worker',
    task: { id: 'task-2', attempt: 1, maxRetries: 1 },
    conflicts: [],
    triggers: { enabled: [], fired: [] },
    replans: { count: 0, limit: 5 },
    cost: { limitUnits: 0, usedUnits: 0 },
    human: { required: false, needed: 0, approved: 0, rejected: 0 },
    policy: {
      abandonOnSecurityGateFail: true,
      checkpointBeforeReplan: true,
      rollbackOnProvenanceFail: true,
    },
    ...more,
  };
}

function blaming(...attempts: number[]): Partial<DecisionInput> {
  const parts = attempts.map((_, index) => part(`task-${index + 1}`, modify('a\u001b[31m')));
  const tries = new Map(attempts.map((attempt, index) => [`task-${index + 1}`, attempt]));
  return {
    blame: toBlame([error('a\u001b[31m')], parts, (key) => ({ attempt: tries.get(key) ?? 0, maxRetries: 1 })),
  };
}

t.test('a candidate refused for a file retries and names the tasks that wrote it', (t) => {
  const { next, reasons } = decide(input(blaming(1, 1)));
  t.equal(next, 'retry');
  t.strictSame(reasons, [
    'patch refused by `sast`',
    'task `task-1` wrote `a?[31m` (sast)',
    'task `task-2` wrote `a?[31m` (sast)',
    'those tasks are tried again',
  ]);
  t.end();
});

t.test('a run ends when a blamed task has no retry left', (t) => {
  const { type, next, reasons } = decide(input(blaming(2, 1)));
  t.strictSame([type, next], ['abandon', 'stop']);
  t.equal(reasons.at(-1), 'task `task-1` failed 2 of 2 attempts');
  t.end();
});

t.test('the retry limit of the last task applies only when no task is blamed', (t) => {
  const spent = { task: { id: 'task-2', attempt: 2, maxRetries: 1 } };
  t.equal(decide(input({ ...spent, ...blaming(1) })).next, 'retry');
  const nobody = toBlame([error('lock')], [part('task-1', modify('a'))], () => ({
    attempt: 1,
    maxRetries: 1,
  }));
  t.equal(decide(input({ ...spent, blame: nobody })).next, 'stop');
  const { next, reasons } = decide(input({ blame: nobody }));
  t.equal(next, 'retry');
  t.match(reasons, [
    /./,
    'no task wrote `lock` (sast)',
    /^task `task-2`, the last of the plan, is tried again/,
  ]);
  t.end();
});

t.test('blame is valid only for a worker candidate, with attempts that count from 1', (t) => {
  t.strictSame(inputProblems(input(blaming(1))), []);
  t.match(inputProblems(input({ ...blaming(1), source: 'supplied' })), [/^\/blame:/]);
  t.match(inputProblems(input({ ...blaming(1), subject: 'attempt', worker: 'patch' })), [/^\/blame:/]);
  t.match(inputProblems(input(blaming(0))), [/^\/blame\/tasks:/]);
  t.end();
});

t.test('blames an attempt name without a number as the first attempt', async (t) => {
  const names = ['elsewhere', 'task-1/revision-1', 'task-1/revision-1/attempt-2'];
  const again = names.map((name) =>
    blameAgain({
      input: {
        blame: { merged: [name], tasks: [] },
        replans: { count: 0, limit: 1 },
      } as unknown as DecisionInput,
      findings: [{ rule: 'sast', severity: 'error', message: 'm', path: 'a' }],
      evidence: [],
      maxRetries: 3,
      patchsetOf: () => ({ files: [modify('a')] }) as unknown as StoredObject<'patchset'>,
      inputOf: () => ({ task: { id: 'task-1', attempt: 1, maxRetries: 3 } }),
    }),
  );
  t.strictSame(
    again.map((one) => one?.tasks.map(({ id, attempt }) => [id, attempt])),
    [[['task-1', 1]], [['task-1', 1]], [['task-1', 2]]],
  );
});
