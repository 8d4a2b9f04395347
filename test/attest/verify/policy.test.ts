import t from 'tap';
import { warningsOf } from '../../../api/verify/verification-data.ts';
import { verifyPolicy } from '../../../attest/verify/certified-source.ts';
import { parseCommit } from '../../../attest/verify/evidence-source.ts';
import { readProvenance } from '../../../attest/verify/provenance-claims.ts';
import type { AttestRequest } from '../../../core/interfaces/sealing.ts';
import {
  makeMachine,
  removeMachines,
  sealRun,
  statementOf,
  toSource,
  troubles,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const base = '2'.repeat(40);
const other = '9'.repeat(40);
const config = '11'.repeat(32);

async function refusals(change: (request: AttestRequest) => AttestRequest): Promise<readonly string[]> {
  const report = await verifyAs(await sealRun(machine, { request: change }), { machine });
  t.equal(report.verified, false);
  return troubles(report).filter((line) => line.startsWith('policy'));
}

t.test('a sealed run reports the policy commit that its decision was made under', async (t) => {
  const report = await verifyAs(await sealRun(machine), { machine });
  t.same(troubles(report), []);
  t.match(
    report.checks.find(({ id }) => id === 'policy'),
    { status: 'passed', detail: { policy_commit: base, how: 'parent' } },
  );
});

t.test('verification fails if the base commit is not the parent of the commit', async (t) => {
  t.match(await refusals((request) => ({ ...request, baseCommit: other })), ['policy failed wrong-subject']);
  t.match(await refusals((request) => ({ ...request, baseCommit: undefined })), [
    'policy failed wrong-subject',
  ]);
});

t.test('verification fails if the policy commit is not the one in the decision', async (t) => {
  t.match(await refusals((request) => ({ ...request, policyCommit: other })), ['policy failed mismatch']);
  const sealed = await sealRun(machine, { request: (request) => ({ ...request, policyCommit: other }) });
  const { checks } = await verifyAs(sealed, { machine });
  t.match(checks.find(({ id }) => id === 'policy')?.detail, {
    member: 'policy',
    expected: other,
    found: base,
  });
});

t.test('verification checks the policy branch and warns about a policy from another branch', async (t) => {
  t.match(await refusals((request) => ({ ...request, policyRef: 'refs/heads/main' })), [
    'policy failed mismatch',
  ]);
  const sealed = await sealRun(machine, {
    request: (request) => ({ ...request, policyRef: 'refs/heads/evil', defaultRef: 'refs/heads/main' }),
    decisionInput: { policyRef: 'refs/heads/evil', defaultRef: 'refs/heads/main' },
  });
  const report = await verifyAs(sealed, { machine });
  t.same(troubles(report), []);
  t.match(warningsOf({ target: 'HEAD', kind: 'run', report }), [
    { code: 'POLICY_FOREIGN', message: /`refs\/heads\/evil`, neither .*`refs\/heads\/main`/ },
  ]);
  for (const [held, trouble] of [
    [true, []],
    [false, ['policy-branch failed mismatch']],
    [undefined, ['policy-branch missing missing']],
  ] as const) {
    const policy = {
      name: 'main',
      holds: async (commit: string) => (commit === base ? held : undefined),
      reaches: async () => undefined,
    };
    t.same(troubles(await verifyAs(sealed, { machine, options: { policy } })), trouble);
  }
});

t.test('the base must be on the required branch; without one, a warning names its authors', async (t) => {
  const sealed = await sealRun(machine);
  for (const [reached, trouble] of [
    [true, []],
    [undefined, []],
    [false, ['policy-branch failed mismatch']],
  ] as const) {
    const policy = { name: 'main', holds: async () => true, reaches: async () => reached };
    t.same(troubles(await verifyAs(sealed, { machine, options: { policy } })), trouble, String(reached));
  }
  const source = toSource(sealed);
  const commit = parseCommit(source.commit.raw);
  const claims = readProvenance(Buffer.from(JSON.stringify(statementOf(sealed))));
  const ahead = { ...claims, policy: other };
  const listPeople = async (from: string | null, to: string) =>
    from === other && to === base ? ['Eve <eve@sample.example>'] : [];
  const readRun = async () => undefined;
  t.match(await verifyPolicy({ ...source, readRun, listPeople }, commit, ahead), {
    how: 'stated',
    beneath: ['Eve <eve@sample.example>'],
  });
  t.notHas(await verifyPolicy({ ...source, listPeople }, commit, claims), { beneath: [] });
  const report = await verifyAs(sealed, { machine });
  const checks = report.checks.map((check) =>
    check.id === 'policy' ? { ...check, detail: { ...check.detail, beneath_by: ['Eve <eve@x>'] } } : check,
  );
  t.match(warningsOf({ target: 'HEAD', kind: 'run', report: { ...report, checks } }), [
    { code: 'BASE_UNJUDGED', message: /Eve <eve@x>/ },
  ]);
});

t.test('verification reports a missing policy commit', async (t) => {
  t.match(await refusals((request) => ({ ...request, policyCommit: undefined })), [
    /^policy missing missing/,
  ]);
});

t.test('verification refuses a run that names two policy commits', async (t) => {
  const twice = { name: 'policy', digest: { gitCommit: other } };
  const report = await verifyAs(
    await sealRun(machine, {
      request: (request) => ({ ...request, resolvedDependencies: [...request.resolvedDependencies, twice] }),
    }),
    { machine },
  );
  t.equal(report.verified, false);
});

t.test('verification fails if the configuration differs from that of the policy commit', async (t) => {
  const withConfig = (request: AttestRequest): AttestRequest => ({
    ...request,
    resolvedDependencies: [{ name: '.writ/config.toml', digest: { sha256: config } }],
  });
  for (const [stated, held, isRefuted] of [
    [true, { bytes: Buffer.from('another') }, 'mismatch'],
    [true, {}, 'mismatch'],
    [false, { bytes: Buffer.from('one') }, true],
    [false, {}, undefined],
    [true, undefined, undefined],
  ] as const) {
    const sealed = await sealRun(machine, stated ? { request: withConfig } : {});
    const source = { ...toSource(sealed), readAt: async () => held };
    const claims = readProvenance(Buffer.from(JSON.stringify(statementOf(sealed))));
    const judged = verifyPolicy(source, parseCommit(source.commit.raw), claims);
    if (!isRefuted) t.match(await judged, { commit: base });
    else await t.rejects(judged, { code: 'VERIFY_REFUTED' }, `${stated} ${JSON.stringify(held)}`);
  }
});
