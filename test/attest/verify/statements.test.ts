import t from 'tap';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import {
  copyOf,
  makeMachine,
  removeMachines,
  resealStatement,
  sealRun,
  statementAt,
  troubles,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const sealed = await sealRun(machine);
const manifest = 'evidence-manifest.sigstore.json';
const decision = 'statements/decision.sigstore.json';
const summary = 'statements/vsa.sigstore.json';
const tests = 'statements/test-result-unit.sigstore.json';
const stranger = toSigner(generateKey('ecdsa-p256-sha256'), false);

type Json = Record<string, unknown>;
type Statement = Json & { predicate: Json };
type Change = (statement: Statement) => unknown;

/**
 * Checks that say no, without those that the seals above a changed statement add: its digest is in the provenance and
 * in the summary.
 */
async function refusals(path: string, change: Change, options = {}): Promise<readonly string[]> {
  const report = await verifyAs(await resealStatement(machine, sealed, path, change, options), { machine });
  t.equal(report.verified, false);
  t.not(verifyExitCode(report), 0);
  return troubles(report).filter((line) => !/^evidence:statements|^summary failed mismatch/.test(line));
}

const inPredicate =
  (change: Json): Change =>
  (statement) => ({ ...statement, predicate: { ...statement.predicate, ...change } });

t.test('a sealed run contains all statements, and they verify', async (t) => {
  const report = await verifyAs(sealed, { machine });
  t.same(troubles(report), []);
  const ids = report.checks.map(({ id }) => id);
  for (const id of ['manifest', 'manifest-complete', 'decision', 'summary', `test-result:${tests}`])
    t.ok(ids.includes(id), id);
  t.match(statementAt(sealed, tests).predicate, {
    result: 'PASSED',
    configuration: [{ name: 'intentspec' }, { name: 'evidence/0001-unit.json' }],
  });
});

t.test('verification reports each statement that is missing', async (t) => {
  for (const [path, id] of [
    [manifest, 'manifest missing missing'],
    [decision, 'decision missing missing'],
    [summary, 'summary missing missing'],
    [tests, 'manifest-complete missing missing'],
  ] as const) {
    const cut = copyOf(sealed);
    cut.run.delete(path);
    const report = await verifyAs(cut, { machine });
    t.equal(report.verified, false);
    t.ok(troubles(report).includes(id), `${path}: ${troubles(report)}`);
  }
});

t.test('each statement must have the right signer, type, subjects and run', async (t) => {
  const ids = {
    [manifest]: 'manifest',
    [decision]: 'decision',
    [summary]: 'summary',
    [tests]: `test-result:${tests}`,
  };
  const other =
    (member: 'gitCommit' | 'gitTree' | 'sha256'): Change =>
    (statement) => ({
      ...statement,
      subject: (statement.subject as { digest: Json }[]).map((subject) =>
        member in subject.digest
          ? {
              ...subject,
              digest: {
                [member]: String(subject.digest[member]).replace(/^./, (c) => (c === 'a' ? 'b' : 'a')),
              },
            }
          : subject,
      ),
    });
  for (const [path, id] of Object.entries(ids)) {
    const same: Change = (statement) => statement;
    const cases: readonly (readonly [string, Change, object])[] = [
      ['unverified untrusted-signer', same, { signer: stranger }],
      ['failed wrong-type', same, { payloadType: 'application/json' }],
      ['failed wrong-type', (one) => ({ ...one, predicateType: 'https://example.org/other' }), {}],
      ['failed wrong-type', (one) => ({ ...one, _type: 'https://in-toto.io/Statement/v0.1' }), {}],
      ['failed wrong-subject', other('gitCommit'), {}],
      ['failed wrong-subject', other('gitTree'), {}],
      ['failed wrong-subject', other('sha256'), {}],
      ['failed wrong-subject', (one) => ({ ...one, subject: [] }), {}],
    ];
    for (const [answer, change, options] of cases)
      t.ok((await refusals(path, change, options)).includes(`${id} ${answer}`), `${id}: ${answer}`);
  }
  for (const [path, id] of [
    [manifest, 'manifest'],
    [decision, 'decision'],
  ] as const)
    t.same(await refusals(path, inPredicate({ runId: 'run-2' })), [
      `${id} failed wrong-run`,
      ...(path === manifest ? ['manifest-complete unverified not-run'] : []),
    ]);
});

t.test('the manifest must list exactly the stored files', async (t) => {
  const files = statementAt(sealed, manifest).predicate.files as Json[];
  t.same(await refusals(manifest, inPredicate({ files: files.slice(1) })), [
    'manifest-complete failed unlisted',
  ]);
  t.same(
    await refusals(
      manifest,
      inPredicate({ files: [...files, { name: 'x', digest: { sha256: '0'.repeat(64) } }] }),
    ),
    ['manifest-complete missing missing'],
  );
  t.same(await refusals(manifest, inPredicate({ files: [...files, files[0]] })), [
    'manifest failed malformed',
    'manifest-complete unverified not-run',
  ]);
  t.same(await refusals(manifest, inPredicate({ files: [] })), ['manifest-complete failed unlisted']);
  t.same(
    await refusals(
      manifest,
      inPredicate({ files: files.with(0, { ...files[0], digest: { sha256: '0'.repeat(64) } }) }),
    ),
    ['manifest-complete failed mismatch'],
  );
  const added = copyOf(sealed);
  added.run.set('notes.txt', Buffer.from('x'));
  t.same(troubles(await verifyAs(added, { machine })), [
    'evidence-stored failed unlisted',
    'manifest-complete failed unlisted',
  ]);
});

t.test('a decision counts only if every check that the spec lists ran', async (t) => {
  const stages = statementAt(sealed, decision).predicate.stages as Json[];
  const fast = (change: Json): Json[] => stages.with(0, { ...stages[0], ...change });
  for (const [what, change] of Object.entries<Json>({
    'another decision': { decision: 'abandon' },
    'a check that did not run': { stages: fast({ ran: 0 }) },
    'more ran than had to': { stages: fast({ ran: 2 }) },
    'a failed stage': { stages: fast({ status: 'failed' }) },
    'a stage without checks that passed': { stages: stages.with(1, { ...stages[1], status: 'passed' }) },
    'fewer checks than the contract lists': { stages: fast({ expected: 0, ran: 0, status: 'skipped' }) },
    'half a check': { stages: fast({ expected: 1.5, ran: 1.5 }) },
    'no stage': { stages: [] },
    'a stage twice': { stages: [...stages, stages[0]] },
  }))
    t.same(await refusals(decision, inPredicate(change)), ['decision failed policy-deny'], what);
  for (const member of ['intentspec', 'record', 'input', 'gateReport'])
    t.same(
      await refusals(decision, inPredicate({ [member]: { digest: { sha256: '0'.repeat(64) } } })),
      ['decision failed mismatch'],
      member,
    );
  const empty = await sealRun(makeMachine(), {
    request: (request) => ({ ...request, stages: request.stages.slice(1) }),
  });
  t.equal((await verifyAs(empty, { machine })).verified, false);
});

t.test('a summary counts only if it passed for this spec and exactly these attestations', async (t) => {
  const inputs = statementAt(sealed, summary).predicate.inputAttestations as Json[];
  t.same(await refusals(summary, inPredicate({ verificationResult: 'FAILED' })), [
    'summary failed policy-deny',
  ]);
  t.same(await refusals(summary, inPredicate({ verifiedLevels: [] })), ['summary failed policy-deny']);
  t.same(
    await refusals(
      summary,
      inPredicate({ verifiedLevels: ['WRIT_GATES_PASSED', 'WRIT_TWO_PERSON_APPROVED'] }),
    ),
    ['summary failed policy-deny'],
  );
  const people = inPredicate({ verifiedLevels: ['WRIT_TWO_PERSON_APPROVED'] });
  const report = await verifyAs(await resealStatement(machine, sealed, summary, people), { machine });
  t.match(
    report.checks.find(({ id }) => id === 'summary'),
    { code: 'policy-deny', detail: { expected: 'WRIT_GATES_PASSED' } },
    'of people alone nothing follows',
  );
  const all = async (change: Json): Promise<readonly string[]> =>
    troubles(
      await verifyAs(await resealStatement(machine, sealed, summary, inPredicate(change)), { machine }),
    );
  t.same(await all({ policy: { uri: 'x', digest: { sha256: '0'.repeat(64) } } }), [
    'summary failed mismatch',
  ]);
  t.same(await all({ inputAttestations: inputs.slice(1) }), ['summary failed mismatch']);
  t.same(await all({ inputAttestations: [] }), ['summary failed mismatch']);
  const more = { uri: 'urn:writ:run:run-1:approvals/0001.json', digest: { sha256: '0'.repeat(64) } };
  t.same(await all({ inputAttestations: [...inputs, more] }), ['summary missing missing']);
});

t.test('verification ignores unknown predicate members', async (t) => {
  for (const path of [manifest, decision, summary, tests]) {
    const grown = await resealStatement(machine, sealed, path, (one) => ({
      ...one,
      predicate: { ...one.predicate, later: 1 },
    }));
    const left = troubles(await verifyAs(grown, { machine })).filter(
      (line) => !/^evidence:statements\/|^summary failed mismatch/.test(line),
    );
    t.same(left, [], path);
  }
});
