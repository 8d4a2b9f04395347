import t from 'tap';
import { canonicalize } from '../../../core/base/canonical.ts';
import type { GateReport } from '../../../store/record/gate-report.ts';
import {
  daysLater,
  makeMachine,
  removeMachines,
  resealPayload,
  resealStatement,
  sealRun,
  statementOf,
  troubles,
  verifyAs,
} from '../../attest/verify/sealed-run.ts';
import type { Loose } from '../../attest/verify/strangers.ts';
import { rich } from '../rich-set.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const sealed = await sealRun(machine, { ...rich, runId: 'run-1' });

function withAt(of: Loose, path: string, value: unknown): Loose {
  const copy = structuredClone(of);
  const keys = path.split('.');
  let at = copy;
  for (const key of keys.slice(0, -1)) at = at[key];
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

/** What is said against a set in which the signer's own key signed a statement that is changed in one place. */
async function besides(path: string, at: string, value: unknown): Promise<readonly string[]> {
  const run = await resealStatement(machine, sealed, path, (statement) =>
    withAt(statement, `predicate.${at}`, value),
  );
  return troubles(await verifyAs(run, { machine })).filter((one) => !one.endsWith('per-repository'));
}

const summaryPath = 'statements/vsa.sigstore.json';
const testPath = 'statements/test-result-unit.sigstore.json';
const decisionPath = 'statements/decision.sigstore.json';

t.test('the sealed set verifies', async (t) => {
  t.same(await besides(summaryPath, 'slsaVersion', '1.2'), []);
});

t.test('a run or summary with a future time is not verified', async (t) => {
  t.same(await besides(summaryPath, 'timeVerified', '2099-01-01T00:00:00Z'), ['summary unverified not-yet']);
  const early = await verifyAs(sealed, { machine, options: { clock: daysLater(-1) } });
  t.ok(troubles(early).includes('statement unverified not-yet'), String(troubles(early)));
});

t.test('a signed summary of writ that does not match its run is refused', async (t) => {
  for (const [at, value, code] of [
    ['verifier', undefined, 'malformed'],
    ['verifier.id', 'urn:writ:verifier:other:v1', 'mismatch'],
    ['resourceUri', undefined, 'malformed'],
    ['resourceUri', 'urn:writ:repository:other', 'mismatch'],
    ['policy.uri', 'urn:writ:intentspec:other', 'mismatch'],
    ['policy.uri', undefined, 'malformed'],
    ['policy.digest', { sha256: '7'.repeat(64) }, 'mismatch'],
    ['timeVerified', undefined, 'malformed'],
    ['timeVerified', 'soon', 'malformed'],
    ['timeVerified', '1999-01-01T00:00:00Z', 'malformed'],
    ['timeVerified', '2026-01-01T10:00:30Z', 'malformed'],
    ['verifiedLevels', ['WRIT_GATES_PASSED', 'SLSA_BUILD_LEVEL_3'], 'policy-deny'],
    ['verifiedLevels', ['WRIT_GATES_PASSED', 'WRIT_GATES_PASSED'], 'malformed'],
    ['verifiedLevels', ['WRIT_GATES_PASSED', 'FAILED'], 'malformed'],
    ['verifiedLevels', 'WRIT_GATES_PASSED', 'malformed'],
    ['slsaVersion', 'newest', 'malformed'],
    ['dependencyLevels', { SLSA_BUILD_LEVEL_3: -1 }, 'malformed'],
    ['inputAttestations', undefined, 'mismatch'],
  ] as const)
    t.same(
      await besides(summaryPath, at, value),
      [`summary failed ${code}`],
      `${at} ${JSON.stringify(value)}`,
    );
});

t.test('malformed or mismatched test results and decisions are refused', async (t) => {
  for (const [path, at, value, code] of [
    [testPath, 'configuration', undefined, `test-result:${testPath} failed malformed`],
    [testPath, 'configuration', [{ name: 'nothing' }], `test-result:${testPath} failed malformed`],
    [testPath, 'failedTests', ['a'], `test-result:${testPath} failed malformed`],
    [decisionPath, 'baseCommit', '3'.repeat(40), 'decision failed mismatch'],
    [decisionPath, 'baseCommit', null, 'decision failed mismatch'],
    [decisionPath, 'record.digest', { sha256: '3'.repeat(40) }, 'decision failed malformed'],
    [decisionPath, 'approvals.0.keyId', 7, 'decision failed malformed'],
  ] as const)
    t.ok((await besides(path, at, value)).includes(code), `${at} ${JSON.stringify(value)}`);
});

t.test('a run has a FAILED test result only for an optional check that failed', async (t) => {
  t.same(
    (await besides(testPath, 'result', 'FAILED')).filter((one) => one.startsWith('test-result')),
    [`test-result:${testPath} failed mismatch`],
    'the required check passed',
  );
  t.same(
    (await besides('statements/test-result-e2e.sigstore.json', 'result', 'FAILED')).filter((one) =>
      one.startsWith('test-result'),
    ),
    ['test-result:statements/test-result-e2e.sigstore.json failed mismatch'],
    'another one that passed',
  );
  const types = ['https://in-toto.io/attestation/test-result/v0.1'];
  for (const [what, required, reported, trouble] of [
    ['not required', false, 'failed', []],
    ['required', true, 'failed', [`test-result:${testPath} failed policy-deny`]],
    ['passed in the report', false, 'passed', [`test-result:${testPath} failed mismatch`]],
  ] as const) {
    const change = <S extends Pick<GateReport, 'stages'>>(of: S, status: 'passed' | 'failed'): S => ({
      ...of,
      stages: of.stages.map((stage) => ({
        ...stage,
        checks: stage.checks.map((one) => ({ ...one, status, required })),
      })),
    });
    const run = await sealRun(machine, {
      runId: `run-${required}-${reported}`,
      request: (request) => change(request, 'failed'),
      report: (report) => change(report, reported),
    });
    const report = await verifyAs(run, { machine, options: { types } });
    const found = troubles(report).filter((one) => one.startsWith('test-result'));
    t.same(found, trouble, what);
    t.equal(report.verified, trouble.length === 0, `${what}: ${troubles(report).join('; ')}`);
  }
});

t.test('a test result must match the gate report of its check', async (t) => {
  const inReport = (tests: Loose, more: Loose) => (report: GateReport) => ({
    ...report,
    stages: report.stages.map((stage) => ({
      ...stage,
      checks: stage.checks.map((one) => ({ ...one, tests, ...more })),
    })),
  });
  const failed = { passed: 1, failed: 1, skipped: 0, failedTests: [{ name: 'adds' }] };
  const passed = { passed: 1, failed: 0, skipped: 0 };
  for (const [what, tests, more, said] of [
    ['PASSED of what failed', failed, { status: 'failed', required: false }, 'failed mismatch'],
    ['PASSED of what ended badly', passed, { status: 'failed', required: false }, 'failed mismatch'],
    ['PASSED of what was tolerated', failed, { status: 'failed', tolerated: true }, 'failed mismatch'],
    ['PASSED beside a test that failed', failed, { status: 'passed' }, 'failed mismatch'],
    ['PASSED of what ran no test', undefined, { status: 'passed' }, 'failed policy-deny'],
    ['PASSED of a check that is not there', passed, { id: 'other' }, 'failed policy-deny'],
  ] as const) {
    const run = await sealRun(machine, { runId: 'run-7', report: inReport(tests, more) });
    const found = troubles(await verifyAs(run, { machine })).filter((one) => one.startsWith('test-result'));
    t.same(found, [`test-result:${testPath} ${said}`], what);
  }
  const honest = { tests: failed, status: 'failed', tolerated: true } as const;
  const change = (of: Loose): Loose => ({
    ...of,
    stages: of.stages.map((stage: Loose) => ({
      ...stage,
      checks: stage.checks.map((one: Loose) => ({ ...one, ...honest })),
    })),
  });
  const run = await sealRun(machine, { runId: 'run-8', request: change, report: change });
  t.same(troubles(await verifyAs(run, { machine })), [], 'WARNED of an old failure, and its tests');
  const less = await resealStatement(machine, run, testPath, (statement) =>
    withAt(statement, 'predicate.failedTests', undefined),
  );
  t.ok(troubles(await verifyAs(less, { machine })).includes(`test-result:${testPath} failed mismatch`));
});

t.test('a malformed or mismatched provenance of writ is refused', async (t) => {
  const statement: Loose = statementOf(sealed);
  const definition = 'predicate.buildDefinition';
  const dependencies: readonly Loose[] = statement.predicate.buildDefinition.resolvedDependencies;
  const base = dependencies[0];
  const spec = dependencies.findIndex(({ name }) => name === 'intentspec');
  for (const [at, value, code] of [
    [`${definition}.resolvedDependencies`, ['x'], 'statement failed malformed'],
    [`${definition}.resolvedDependencies`, [{ name: 'x' }], 'statement failed malformed'],
    [
      `${definition}.resolvedDependencies.0`,
      { ...base, digest: { gitCommit: '1'.repeat(41) } },
      'statement failed malformed',
    ],
    [
      `${definition}.resolvedDependencies.0`,
      { ...base, uri: `urn:x@${'9'.repeat(40)}` },
      'statement failed malformed',
    ],
    [`${definition}.resolvedDependencies.1`, base, 'statement failed malformed'],
    [`${definition}.resolvedDependencies.${spec}.digest`, { sha256: '7'.repeat(64) }, 'spec failed mismatch'],
    [`${definition}.internalParameters`, undefined, 'statement failed malformed'],
    [`${definition}.internalParameters.writ_sandbox`, 7, 'statement failed malformed'],
    ['predicate.runDetails.builder.version', ['x'], 'statement failed malformed'],
    [
      'predicate.runDetails.builder.builderDependencies',
      [{ digest: { sha256: 'x' } }],
      'statement failed malformed',
    ],
    ['predicate.runDetails.metadata.finishedOn', '2025-12-31T00:00:00Z', 'statement failed malformed'],
    ['predicate.runDetails.metadata.startedOn', '2026-02-31T00:00:00Z', 'statement failed malformed'],
  ] as const) {
    const run = await resealPayload(machine, sealed, Buffer.from(canonicalize(withAt(statement, at, value))));
    const said = troubles(await verifyAs(run, { machine }));
    t.ok(said.includes(code), `${at} ${JSON.stringify(value)}: ${said.slice(0, 4).join('; ')}`);
  }
});

t.test('`--type` matches every verified statement of the set and no other', async (t) => {
  const types = [
    'https://slsa.dev/provenance/v1',
    'https://slsa.dev/verification_summary/v1',
    'https://in-toto.io/attestation/test-result/v0.1',
    'urn:writ:predicate:decision:v1',
    'urn:writ:predicate:evidence-manifest:v1',
  ];
  const found = await verifyAs(sealed, { machine, options: { types } });
  t.equal(found.verified, true, troubles(found).join());
  const approval = 'urn:writ:predicate:approval:v1';
  const unjudged = await verifyAs(sealed, { machine, options: { types: [approval] } });
  t.ok(troubles(unjudged).includes(`type:${approval} failed wrong-type`), 'nobody judged the approvals');
  const { people } = await import('../rich-set.ts');
  const judged = await verifyAs(sealed, { machine, options: { types: [approval], allowedSigners: people } });
  t.equal(judged.verified, true, troubles(judged).join());
  const failed = await resealStatement(machine, sealed, decisionPath, (statement) =>
    withAt(statement, 'predicate.record.digest', { sha256: '3'.repeat(64) }),
  );
  const report = await verifyAs(failed, { machine, options: { types: [types[3] ?? ''] } });
  t.ok(troubles(report).includes(`type:${types[3]} failed wrong-type`), 'one that does not hold is none');
});

t.test('the summary of a run must match the requested verifier, resource and level', async (t) => {
  const good = {
    verifierId: 'urn:writ:verifier:gates:v1',
    resourceUri: 'urn:writ:repository:local',
    levels: ['WRIT_GATES_PASSED'],
  };
  t.equal((await verifyAs(sealed, { machine, options: { summary: good } })).verified, true);
  for (const [summary, code] of [
    [{ ...good, verifierId: 'https://other.example' }, 'verifier-id failed mismatch'],
    [{ ...good, resourceUri: 'git+https://example.org/x' }, 'resource-uri failed mismatch'],
    [{ levels: ['SLSA_BUILD_LEVEL_1'] }, 'level:SLSA_BUILD_LEVEL_1 failed policy-deny'],
  ] as const)
    t.ok(troubles(await verifyAs(sealed, { machine, options: { summary } })).includes(code), code);
});
