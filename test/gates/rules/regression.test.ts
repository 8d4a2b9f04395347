import t from 'tap';
import type { CheckBaseline, CheckRecord } from '../../../core/interfaces/stage.ts';
import { judge } from '../../../gates/rules/regression.ts';
import { toRuleInput } from '../../../testing.ts';

type Level = 'none' | 'low' | 'medium';

async function judged(level: Level, baseline: CheckBaseline, more: Partial<CheckRecord> = {}) {
  const { spec, ...input } = toRuleInput({ name: 'regression' });
  const qualityGates = { ...spec.acceptance.qualityGates, maxAllowedRegression: level };
  const check: CheckRecord = {
    id: 'speed',
    kind: 'command',
    stage: 'integration',
    status: 'passed',
    required: true,
    command: 'run',
    expectedExitCode: 0,
    timedOut: false,
    durationMs: 1,
    startedAt: '2025-05-06T00:00:00Z',
    artifacts: [],
    findings: [],
    baseline,
    ...more,
  };
  return judge({
    ...input,
    spec: { ...spec, acceptance: { ...spec.acceptance, qualityGates } },
    stage: { name: 'integration', checks: [check] },
  });
}

const speed = (
  base: readonly number[],
  candidate: readonly number[],
  better: 'lower' | 'higher' = 'lower',
): CheckBaseline => ({
  speed: { measured: [{ name: 'ms', better, base, candidate }], incomparable: [], onlyInCandidate: [] },
});
const errors = async (level: Level, baseline: CheckBaseline, more: Partial<CheckRecord> = {}) =>
  (await judged(level, baseline, more)).filter(({ severity }) => severity === 'error').length;

t.test('level `none` allows no regression beyond the noise of the base', async (t) => {
  t.equal(await errors('none', speed([100, 100, 100], [100, 100, 100])), 0);
  t.equal(await errors('none', speed([100, 100, 100], [100.1, 100.1, 100.1])), 1);
  t.equal(await errors('none', speed([98, 100, 102], [104, 104, 104])), 0, 'as wide as the noise');
  t.equal(await errors('none', speed([98, 100, 102], [104.1, 104.1, 104.1])), 1);
  t.equal(await errors('none', speed([100, 100, 100], [60, 130, 200])), 1, 'its own noise is no excuse');
  t.equal(await errors('none', speed([0.1 + 0.2, 0.3, 0.3], [0.30000000000000004, 0.3, 0.3])), 0);
});

t.test('`low` and `medium` allow 5 % and 20 % of the median, and at least the noise', async (t) => {
  t.equal(await errors('low', speed([100, 100, 100], [105, 105, 105])), 0);
  t.equal(await errors('low', speed([100, 100, 100], [105.1, 105.1, 105.1])), 1);
  t.equal(await errors('medium', speed([100, 100, 100], [120, 120, 120])), 0);
  t.equal(await errors('medium', speed([100, 100, 100], [120.1, 120.1, 120.1])), 1);
  t.equal(await errors('low', speed([90, 100, 110], [119, 119, 119])), 0);
  t.equal(await errors('low', speed([100, 100, 900], [106, 106, 106])), 0, 'noise of 800');
  t.equal(await errors('low', speed([100, 100, 100], [1, 900, 100])), 0, 'one round is not the median');
});

t.test('handles metrics where higher is better and baselines of zero or below', async (t) => {
  t.equal(await errors('low', speed([100, 100, 100], [94, 94, 94], 'higher')), 1);
  t.equal(await errors('low', speed([100, 100, 100], [300, 300, 300], 'higher')), 0);
  t.equal(await errors('medium', speed([0, 0, 0], [1, 1, 1])), 1);
  t.equal(await errors('medium', speed([-100, -100, -100], [-90, -90, -90])), 0);
});

t.test('incomparable metrics fail the rule, while an unmeasured base gives a warning', async (t) => {
  const none = { measured: [], incomparable: [], onlyInCandidate: [] };
  t.equal(await errors('medium', { speed: { ...none, incomparable: [{ name: 'a', reason: 'r' }] } }), 1);
  const unmeasured = (side: 'base' | 'candidate') => ({
    speed: { ...none, unmeasured: { side, reason: 'r' } },
  });
  t.equal(await errors('medium', unmeasured('candidate')), 1);
  t.match(await judged('medium', unmeasured('base')), [{ severity: 'warning' }]);
  t.match(await judged('none', { speed: { ...none, onlyInCandidate: ['a'] } }), [{ severity: 'note' }]);
});

t.test('a new failure is an error, while an old or unknown failure is a warning', async (t) => {
  const failure = (outcome: 'regression' | 'old-failure' | 'unknown') =>
    judged('low', { failure: { outcome, reason: 'r' } }, { status: 'failed' });
  t.match(await failure('regression'), [{ severity: 'error', detail: { outcome: 'regression' } }]);
  t.match(await failure('old-failure'), [{ severity: 'warning', detail: { outcome: 'old-failure' } }]);
  t.match(await failure('unknown'), [{ severity: 'warning', detail: { outcome: 'unknown' } }]);
});

t.test('a regression in a check that is not required is a warning', async (t) => {
  t.match(await judged('none', speed([1, 1, 1], [2, 2, 2]), { required: false }), [{ severity: 'warning' }]);
});

t.test('reports nothing when there is no stage with a baseline', async (t) => {
  const { stage: _, ...input } = toRuleInput({ name: 'regression' });
  t.strictSame(await judge(input), []);
});
