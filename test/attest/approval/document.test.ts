import { readFileSync } from 'node:fs';
import t from 'tap';
import { buildApproval } from '../../../attest/approval/approval-statement.ts';
import { attesting } from '../../../attest/attestor/attesting.ts';
import { ajv } from '../../bin/faults-of.ts';

const subject = {
  runId: 'run-1',
  baseCommit: '1'.repeat(40),
  candidateTree: '2'.repeat(64),
  patchDigest: '3'.repeat(64),
  specDigest: '4'.repeat(64),
  gateReportDigest: '5'.repeat(64),
};

t.test('the published schema accepts built approvals and rejects other statements', async (t) => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../docs/schemas/approval.v1.json', import.meta.url), 'utf8'),
  );
  const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
  const built = (more: object) =>
    JSON.parse(
      Buffer.from(buildApproval({ subject, decision: 'approve', signedAtMs: 0, ...more })).toString(),
    );
  const whole = built({
    principal: 'ana@x',
    role: 'api',
    comment: 'ä\n',
    expiresAtMs: 1,
    decision: 'reject',
  });
  for (const statement of [built({}), whole, built({ subject: { ...subject, baseCommit: null } })])
    t.ok(validate(statement), JSON.stringify(validate.errors));
  for (const change of [
    { predicateType: 'x' },
    { more: 1 },
    { subject: whole.subject.slice(1) },
    { subject: [...whole.subject, whole.subject[0]] },
    { predicate: { ...whole.predicate, decision: 'maybe' } },
    { predicate: { ...whole.predicate, nonce: undefined } },
    { predicate: { ...whole.predicate, urgent: true } },
  ])
    t.notOk(validate(JSON.parse(JSON.stringify({ ...whole, ...change }))), JSON.stringify(change));
});

t.test('the attest plugin provides a reader for approvals', async (t) => {
  const { approvals: reader } = attesting;
  const ground = { subject, allowedSigners: undefined, authors: [], receivedAtMs: 0 };
  t.match(await reader.read([{ source: 'x', bytes: Buffer.from('x') }], ground), [
    { source: 'x', status: 'malformed' },
  ]);
});
