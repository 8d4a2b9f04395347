import t from 'tap';
import type { CheckOutcome } from '../../../../core/interfaces/check.ts';
import type { CarriedPath } from '../../../../core/interfaces/stage.ts';
import type { OpeningWorkspace, WorkspaceSide } from '../../../../engine/evaluate/open-workspace.ts';
import {
  type CheckByPolicy,
  evaluateByPolicy,
} from '../../../../engine/evaluate/second-run/run-by-policy.ts';
import type { Attempt } from '../../../../engine/state/open-run.ts';
import { toRuleInput } from '../../../../testing.ts';

const attemptOf = (maxAllowedRegression: 'none' | 'low', isLeft = true, isFirst = false): Attempt => {
  const { spec } = toRuleInput({
    name: 'x',
    files: {},
    spec: { acceptance: { qualityGates: { maxAllowedRegression } } },
  });
  const left = { rule: 'judge-changed', severity: 'warning', message: 'm', detail: { judgedBy: 'policy' } };
  const parts = {
    identity: { contract: { effective: spec } },
    environment: { config: { redaction: {}, workspace: { prepare: [] } } },
    services: { secrets: { values: [] } },
    patch: isFirst ? {} : { baseCommit: '0'.repeat(40) },
    patchFindings: isLeft ? [left] : [],
    box: { add: async () => ({ name: 'policy-judge-log', sha256: 'd' }) },
  };
  return parts as unknown as Attempt;
};
const side = {} as WorkspaceSide;
const workspace = {
  over: () => side,
  policyJudge: async () => ({
    tree: 't',
    laid: [{ path: 'a.js' }, { path: 'package.json', parts: ['jest'] }],
    judges: (id: string) => id === 'unit',
  }),
} as unknown as OpeningWorkspace;
const taskOf = (
  id: string,
  stage: 'fast' | 'integration',
  more: Partial<CheckByPolicy> = {},
): CheckByPolicy =>
  ({ stage, check: { id, expectedExitCode: 0 }, received: [], ...more }) as unknown as CheckByPolicy;
const outcome = (exitCode: number): CheckOutcome =>
  ({
    findings: exitCode === 0 ? [] : [{ rule: 'check-outcome', severity: 'error', message: 'it failed' }],
    result: { exitCode, durationMs: 3.4, timedOut: false, combined: { bytes: Buffer.from('x') } },
    reports: [],
  }) as unknown as CheckOutcome;

/** Codes of what is told, and what the second run was handed. */
async function judged(attempt: Attempt, task: CheckByPolicy, ran: CheckOutcome, second = outcome(0)) {
  const asked: (readonly CarriedPath[])[] = [];
  const told = await evaluateByPolicy(attempt, workspace, task, ran, async (_, received) => {
    asked.push(received);
    return second;
  });
  return { codes: told.findings.map(({ severity, detail }) => `${severity} ${detail?.code}`), asked, told };
}

t.test('a passed check runs again under the policy commit only if its judge files changed', async (t) => {
  const low = attemptOf('low');
  t.same((await judged(low, taskOf('unit', 'fast'), outcome(0))).codes, ['note POLICY_JUDGE_PASSES']);
  for (const [attempt, id] of [
    [low, 'lint'],
    [attemptOf('low', false), 'unit'],
  ] as const)
    t.match(await judged(attempt, taskOf(id, 'fast'), outcome(0)), { codes: [], asked: [] });
  const ran: CheckOutcome = { findings: [], reports: [] };
  t.same((await judged(low, taskOf('unit', 'fast'), ran)).asked, [], 'no command ran');
  const carried = [{ path: 'dist', sha256: 'e', entries: 1, bytes: 1 }];
  const handed = await judged(low, taskOf('lint', 'fast', { receivedAtPolicy: carried }), outcome(0));
  t.same([handed.codes, handed.asked], [['note POLICY_JUDGE_PASSES'], [carried]]);
});

t.test('a check that fails with the files of the policy commit fails and names those files', async (t) => {
  const { codes, told } = await judged(attemptOf('low'), taskOf('unit', 'fast'), outcome(0), outcome(3));
  t.same(codes, ['error POLICY_JUDGE_FAILS']);
  t.match(
    told.findings[0]?.message,
    /^the check passes as the change has it, and fails with `a\.js`, `package\.json` \(`jest`\) as the policy commit has it: exit code 3, expected 0$/,
  );
  t.match(told.run, { status: 'failed', exitCode: 3, tree: 't', log: 'd', durationMs: 3 });
  const first = await judged(attemptOf('low', true, true), taskOf('unit', 'fast'), outcome(0), outcome(3));
  t.match(first.told.findings[0]?.message, /no commit exists yet: make the first one with `git commit`/);
});

t.test('a check that passes with all files restored runs again with the judge files alone', async (t) => {
  const trees: string[] = [];
  const judgedApart = async (whole: number, apart: number) => {
    trees.length = 0;
    const two = {
      over: (tree: string) => tree,
      policyJudge: async () => ({
        ...(await workspace.policyJudge()),
        apart: { tree: 'apart', laid: [{ path: 'a.js' }] },
      }),
    } as unknown as OpeningWorkspace;
    const ran = async (side: WorkspaceSide): Promise<CheckOutcome> => {
      trees.push(String(side));
      return outcome(trees.length === 1 ? whole : apart);
    };
    return evaluateByPolicy(attemptOf('low'), two, taskOf('unit', 'fast'), outcome(0), ran);
  };
  t.match(await judgedApart(0, 3), {
    findings: [{ severity: 'error' }],
    run: { tree: 'apart', laid: [{ path: 'a.js' }], exitCode: 3 },
  });
  t.same(trees, ['t', 'apart']);
  t.match(await judgedApart(0, 0), { findings: [{ severity: 'note' }], run: { tree: 'apart' } });
  t.match(await judgedApart(3, 0), { findings: [{ severity: 'error' }], run: { tree: 't', exitCode: 3 } });
  t.same(trees, ['t'], 'what has failed is not run again');
});

t.test('a failure under changed judge files is not tolerated as an old failure', async (t) => {
  const failed = (level: 'none' | 'low', stage: 'fast' | 'integration', id = 'unit') =>
    judged(attemptOf(level), taskOf(id, stage), outcome(1)).then(({ codes }) => codes);
  t.same(await failed('low', 'integration'), ['error POLICY_JUDGE_NOT_ASKED']);
  t.same(await failed('low', 'integration', 'lint'), []);
  t.same(await failed('low', 'fast'), []);
  t.same(await failed('none', 'integration'), []);
});
