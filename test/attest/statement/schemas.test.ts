import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { buildApproval } from '../../../attest/approval/approval-statement.ts';
import { buildEquivalence, buildRevocation } from '../../../attest/statement/run-statements.ts';
import { formatEvidenceFile } from '../../../attest/verify/evidence-file.ts';
import { ajv } from '../../bin/faults-of.ts';
import {
  makeMachine,
  removeMachines,
  sealRun,
  statementAt,
  statementOf,
  toSource,
} from '../verify/sealed-run.ts';
import type { Loose } from '../verify/strangers.ts';

t.teardown(removeMachines);

const folder = new URL('../../../docs/schemas/', import.meta.url);
const sealed = await sealRun(makeMachine());
const copy = (value: unknown): Loose => JSON.parse(JSON.stringify(value));

const approval = JSON.parse(
  Buffer.from(
    buildApproval({
      subject: {
        runId: 'run-1',
        baseCommit: null,
        candidateTree: '2'.repeat(40),
        patchDigest: '3'.repeat(64),
        specDigest: '4'.repeat(64),
        gateReportDigest: '5'.repeat(64),
      },
      decision: 'approve',
      signedAtMs: 0,
    }),
  ).toString(),
);

const equivalence = buildEquivalence({
  runId: 'run-1',
  commit: '6'.repeat(40),
  tree: '7'.repeat(40),
  baseCommit: '8'.repeat(40),
  patchDigest: '3'.repeat(64),
  specDigest: '4'.repeat(64),
  approvals: [
    {
      source: 'refs/ai/approvals/run-1/1',
      digest: '9'.repeat(64),
      decision: 'approve',
      principal: 'ana@example.org',
      keyId: 'SHA256:key',
      signedAt: '2026-01-01T10:00:00.000Z',
      status: 'counts',
      earlier: {
        baseCommit: '1'.repeat(40),
        candidateTree: '2'.repeat(40),
        gateReportDigest: '5'.repeat(64),
      },
    },
  ],
});

/** What is emitted, by the schema that must take it. */
const emitted: Readonly<Record<string, Loose>> = {
  'approval-equivalence.v1': copy(equivalence),
  'approval.v1': approval,
  'decision.v1': statementAt(sealed, 'statements/decision.sigstore.json'),
  'evidence-manifest.v1': statementAt(sealed, 'evidence-manifest.sigstore.json'),
  'revocation.v1': copy(buildRevocation(statementOf(sealed).subject, 'run-1')),
  'sealed-change.v1': copy(statementOf(sealed).predicate.buildDefinition),
  'evidence.v1': JSON.parse(await formatEvidenceFile('run-1', toSource(sealed))),
};

t.test('every published schema has an emitted document', async (t) => {
  t.same(
    readdirSync(folder).sort(),
    Object.keys(emitted)
      .map((name) => `${name}.json`)
      .sort(),
  );
});

/** Every way to take one member of an object away, exchange it for nonsense, or add one, at any depth. */
function* mutants(value: Loose, at = ''): Generator<readonly [string, Loose]> {
  if (Array.isArray(value)) {
    for (const [n, item] of value.entries())
      for (const [where, mutant] of mutants(item, `${at}/${n}`))
        yield [where, value.map((one, m) => (m === n ? mutant : one))];
    return;
  }
  if (typeof value !== 'object' || value === null) {
    yield [at, typeof value === 'number' ? 'x' : 1];
    return;
  }
  yield [`${at}+`, { ...value, surplus: 1 }];
  for (const key of Object.keys(value)) {
    for (const [where, mutant] of mutants(value[key], `${at}/${key}`))
      yield [where, { ...value, [key]: mutant }];
    if (optional.has(key)) continue;
    const { [key]: _gone, ...rest } = value;
    yield [`${at}/${key}-`, rest];
  }
}

/** Members that a document may go without. */
const optional = new Set(['intentspec_digest', 'writ_ledger', 'resolvedDependencies']);

for (const [name, document] of Object.entries(emitted)) {
  t.test(`${name} accepts the emitted document and rejects each mutant of it`, async (t) => {
    const schema = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
    // Another test of this process may have compiled it.
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
    t.ok(validate(document), JSON.stringify(validate.errors));
    let count = 0;
    for (const [where, mutant] of mutants(document)) {
      // The build definition holds SLSA's own members beside the parameters.
      if (
        name === 'sealed-change.v1' &&
        !/^\/(?:buildType|externalParameters|internalParameters)/.test(where)
      )
        continue;
      count += 1;
      if (validate(mutant)) t.fail(`took the mutant at ${where}`);
    }
    t.ok(count > 5, `${count} mutants`);
  });
}

t.test('the schema allows null, but not an empty list, for removed content', async (t) => {
  const validate = ajv.getSchema('urn:writ:schema:evidence:v1');
  t.ok(validate?.({ ...emitted['evidence.v1'], content: null }));
  t.notOk(validate?.({ ...emitted['evidence.v1'], content: [] }));
});
