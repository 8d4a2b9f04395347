import t from 'tap';
import type { Finding } from '../../../../core/interfaces/finding.ts';
import { findPolicyInputs, leavesJudging } from '../../../../engine/evaluate/second-run/policy-inputs.ts';
import type { Attempt } from '../../../../engine/state/open-run.ts';

const left: Finding = {
  rule: 'judge-changed',
  severity: 'warning',
  message: 'm',
  detail: { judgedBy: 'policy', lay: [{ path: 'a.js' }], checks: ['unit'] },
};
const attemptOf = (patchFindings: readonly Finding[], answer: readonly Finding[]): Attempt => {
  const rule = { id: 'judge-changed', outside: async () => answer };
  const parts = {
    patchFindings,
    services: { engine: {}, settings: { clock: { now: () => 0 } } },
    identity: { contract: { effective: {} } },
    environment: {
      rules: new Map([['judge-changed', rule]]),
      config: { rules: {}, approvals: { groups: {} }, workspace: { prepare: [] } },
      repository: { root: '/' },
      base: { tree: 'a' },
      policy: { tree: 'a' },
      waivers: [],
    },
    patch: { files: [] },
    box: { unmade: () => ({}) },
    approvals: [],
  };
  return parts as unknown as Attempt;
};

t.test('`findPolicyInputs` finds nothing if no finding leaves judging to the policy commit', async (t) => {
  for (const findings of [[], [{ ...left, rule: 'scope' }], [{ ...left, detail: {} }]]) {
    t.notOk(leavesJudging({ patchFindings: findings }));
    t.equal(await findPolicyInputs(attemptOf(findings, [left])), undefined);
  }
  t.notOk(leavesJudging({}));
});

t.test('a rule that changes its answer on the second call stops the run with INTERNAL', async (t) => {
  for (const answer of [
    [],
    [{ ...left, rule: 'judge-changed', detail: { code: 'RULE_FAULT' } }],
    [left, left],
  ])
    await t.rejects(findPolicyInputs(attemptOf([left], answer)), { code: 'INTERNAL' });
});
