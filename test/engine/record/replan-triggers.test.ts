import t from 'tap';
import { replanTriggers } from '../../../core/interfaces/plan.ts';
import type { DecidedFinding, DecidedStage } from '../../../engine/record/decision-input.ts';
import { firedTriggers, type SensedAttempt } from '../../../engine/record/plan-state.ts';

function attempt(more: Partial<SensedAttempt> = {}): SensedAttempt {
  return { patchFindings: [], stages: [], failedTests: [], ...more };
}

function stage(name: DecidedStage['stage'], more: Partial<DecidedStage> = {}): DecidedStage {
  return { stage: name, status: 'failed', expected: 1, ran: 1, checks: [], findings: [], ...more };
}

const scope: DecidedFinding = { rule: 'scope', severity: 'error', path: 'docs/a.md' };
const failed = { id: 'sast', status: 'failed', required: true } as const;
const fails = (...failedTests: string[]) => attempt({ failedTests });

const table: readonly (readonly [
  name: string,
  history: readonly SensedAttempt[],
  fired: readonly string[],
])[] = [
  ['nothing happened', [], []],
  ['an attempt that nothing speaks against', [attempt()], []],
  ['a path out of scope', [attempt({ patchFindings: [scope] })], ['scope-creep']],
  [
    'a path out of scope that a stage found',
    [attempt({ stages: [stage('release', { findings: [scope] })] })],
    ['scope-creep'],
  ],
  ['a warning of the scope', [attempt({ patchFindings: [{ ...scope, severity: 'warning' }] })], []],
  ['another rule that refused', [attempt({ patchFindings: [{ ...scope, rule: 'secrets' }] })], []],
  ['a path out of scope one attempt ago', [attempt({ patchFindings: [scope] }), attempt()], []],
  ['a test that failed once', [fails('a')], []],
  ['a test that failed twice running', [fails('a'), fails('b', 'a')], ['repeated-test-fail']],
  ['two tests that failed in turn', [fails('a'), fails('b'), fails('a')], []],
  ['a test that failed, passed and failed', [fails('a'), attempt(), fails('a')], []],
  ['a test that failed twice and passes now', [fails('a'), fails('a'), attempt()], []],
  ['a test that failed three times running', [fails('a'), fails('a'), fails('a')], ['repeated-test-fail']],
  [
    'a required security check that failed',
    [attempt({ stages: [stage('security', { checks: [failed] })] })],
    ['security-gate-fail'],
  ],
  [
    'a security finding with a place',
    [
      attempt({
        stages: [stage('security', { findings: [{ rule: 'sast', severity: 'error', path: 'a.ts' }] })],
      }),
    ],
    ['security-gate-fail'],
  ],
  [
    'a security finding that no task can address',
    [attempt({ stages: [stage('security', { findings: [{ rule: 'sbom', severity: 'error' }] })] })],
    [],
  ],
  [
    'a security warning with a place',
    [
      attempt({
        stages: [stage('security', { findings: [{ rule: 'sast', severity: 'warning', path: 'a.ts' }] })],
      }),
    ],
    [],
  ],
  [
    'a security check that failed and is not required',
    [
      attempt({
        stages: [stage('security', { status: 'passed', checks: [{ ...failed, required: false }] })],
      }),
    ],
    [],
  ],
  [
    'a required check of another stage',
    [attempt({ stages: [stage('integration', { checks: [failed] })] })],
    [],
  ],
  [
    'several at once, in the order of the contract',
    [
      fails('a'),
      attempt({
        patchFindings: [scope],
        failedTests: ['a'],
        stages: [stage('security', { checks: [failed] })],
      }),
    ],
    ['scope-creep', 'repeated-test-fail', 'security-gate-fail'],
  ],
];

for (const [name, history, fired] of table) {
  t.test(`\`firedTriggers\` returns ${fired.join(', ') || 'none'} (${name})`, async (t) => {
    t.strictSame(firedTriggers(history), fired);
  });
}

t.test('the replan triggers match the triggers of the schema', async (t) => {
  const { default: schema } = await import('../../../spec/intentspec.v1.schema.json', {
    with: { type: 'json' },
  });
  const listed = /"enum":(\[[^\]]*scope-creep[^\]]*\])/.exec(JSON.stringify(schema))?.[1] ?? '[]';
  t.strictSame([...replanTriggers].sort(), (JSON.parse(listed) as string[]).sort());
});
