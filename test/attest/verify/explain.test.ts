import { readFileSync } from 'node:fs';
import t from 'tap';
import { explain } from '../../../attest/verify/explain.ts';

/** Claims of a signer, as of when the log shows the attestation. */
const ofTheAttestation = [
  ...['signature', 'identity', 'statement', 'predicate', 'subject', 'log', 'time'],
  ...['subject-commit', 'subject-tree', 'subject-patchset', 'run', 'policy', 'spec'],
  ...['evidence', 'evidence:patchset.json', 'evidence-stored', 'decision', 'test-result:x', 'approvals'],
  ...['artifact:sbom', 'type:x', 'replay', 'log-entry', 'log-inclusion', 'log-proof'],
];
/** Claims of a signer that were made after it. */
const laterOnes = ['manifest', 'manifest-complete', 'summary', 'verifier-id', 'resource-uri', 'level:x'];
/** What is looked at, whoever signed. */
const ofNobody = ['bundle', 'signer', 'tree-objects', 'log-history'];
const laterOfNobody = ['plain-git', 'not-revoked'];
const all = [...ofTheAttestation, ...laterOnes, ...ofNobody, ...laterOfNobody];

function explained(status: 'passed' | 'expired' | 'failed' | 'unverified') {
  const grounds = {
    signer: { key_id: 'k', anchor: 'own' as const },
    log: { origin: 'o', index: 0, size: 1 },
    digests: new Map<string, string>(),
  };
  const checks = all.map((id) => ({ id, status }));
  return explain({ verified: false, checks, expected: checks.length, ran: checks.length, grounds });
}

t.test('a passed or expired claim names the signer and the log that vouch for it', async (t) => {
  for (const status of ['passed', 'expired'] as const) {
    const claims = explained(status);
    const naming = (member: 'signer' | 'log') =>
      claims.flatMap((claim) => (claim[member] === undefined ? [] : [claim.claim]));
    t.strictSame(naming('signer'), [...ofTheAttestation, ...laterOnes], status);
    t.strictSame(naming('log'), [...ofTheAttestation, ...ofNobody], status);
    for (const { claim, says, rule } of claims) t.ok(says !== '' && rule !== '', claim);
  }
});

t.test('the section that a rule of a claim names exists', async (t) => {
  const named = explained('passed').flatMap(({ rule }) => [
    ...(/writ help (\S+)`, (.+)/.exec(rule)?.slice(1) ?? []),
  ]);
  t.strictSame(named.slice(0, 2), ['verifying', 'What you need']);
  for (let at = 0; at < named.length; at += 2) {
    const [topic = '', section = ''] = named.slice(at);
    t.match(
      readFileSync(new URL(`../../../docs/reference/${topic}.md`, import.meta.url), 'utf8'),
      new RegExp(`^#+ ${section}$`, 'm'),
      section,
    );
  }
});

t.test('a failed or unverified claim names no signer and no log', async (t) => {
  for (const status of ['failed', 'unverified'] as const)
    t.strictSame(
      explained(status).filter(({ signer, log }) => signer !== undefined || log !== undefined),
      [],
    );
});

t.test('a claim about a log entry that was made again names the files that hold it', async (t) => {
  const names = ['provenance.sigstore.json', 'transparency-proof.tlog-proof'];
  const renewed = names.map((name) => `renewed/${name}`);
  const digests = new Map([...names, ...renewed].map((name) => [name, 'd']));
  const checks = ['signature', 'log-inclusion', 'log-history'].map((id) => ({
    id,
    status: 'passed' as const,
  }));
  const claims = explain({ verified: true, checks, expected: 3, ran: 3, grounds: { digests } });
  t.strictSame(
    claims.map(({ evidence }) => evidence.map(({ name }) => name)),
    [[names[0]], renewed, [renewed[1]]],
  );
});
