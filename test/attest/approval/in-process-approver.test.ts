import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type ApprovalInput,
  buildApproval,
  encodeApprovalDocument,
  parseApproval,
  parseApprovalDocument,
} from '../../../attest/approval/approval-statement.ts';
import { readApprovals } from '../../../attest/approval/read-approvals.ts';
import { openInProcessApprover } from '../../../attest/approval/sign-approval.ts';
import { approvalNamespace } from '../../../attest/approval/sshsig.ts';
import { formatOpensshKey } from '../../../bin/demo/people.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { ApprovalGround, ApprovalSubject } from '../../../core/interfaces/approval.ts';
import { handSigner } from './hand-signer.ts';
import { keyKinds, makeKey, publicOf, sshVerify, withoutSshKeygen } from './ssh-tools.ts';

const subject: ApprovalSubject = {
  runId: 'run-1',
  baseCommit: '1'.repeat(40),
  candidateTree: '2'.repeat(40),
  patchDigest: '3'.repeat(64),
  specDigest: '4'.repeat(64),
  gateReportDigest: '5'.repeat(64),
};
const receivedAtMs = Date.UTC(2026, 5, 1);
const [ana, ben] = [handSigner(), handSigner()];
const signers = Buffer.from(`ana@x ${ana.publicKey}\nben@x ${ben.publicKey}\n`);

function approval(by: typeof ana, more: Partial<ApprovalInput> = {}): Uint8Array {
  const statement = buildApproval({ subject, decision: 'approve', signedAtMs: receivedAtMs, ...more });
  return encodeApprovalDocument(statement, by.sign(statement));
}

async function judge(documents: readonly Uint8Array[], ground: Partial<ApprovalGround> = {}) {
  const given = documents.map((bytes, n) => ({ source: String(n + 1), bytes }));
  const verdicts = await readApprovals(given, {
    subject,
    allowedSigners: signers,
    authors: [],
    receivedAtMs,
    ...ground,
  });
  return verdicts.map(({ status, inProcess }) => (inProcess ? `${status}, marked` : status));
}

t.test('an in-process approval counts only where the caller allows it', async (t) => {
  const [marked, plain] = [approval(ana, { inProcess: true }), approval(ben)];
  t.strictSame(await judge([marked, plain]), ['in-process, marked', 'counts']);
  t.strictSame(await judge([marked, plain], { inProcess: false }), ['in-process, marked', 'counts']);
  t.strictSame(await judge([marked, plain], { inProcess: true }), ['counts, marked', 'counts']);
  const allowed = { inProcess: true };
  t.strictSame(await judge([marked], { ...allowed, authors: ['ana@x'] }), ['author, marked']);
  t.strictSame(await judge([marked], { ...allowed, allowedSigners: undefined }), [
    'untrusted-signer, marked',
  ]);
  t.strictSame(await judge([marked], { ...allowed, subject: { ...subject, runId: 'run-2' } }), [
    'wrong-subject, marked',
  ]);
  const other = Buffer.from(approval(ben, { inProcess: true }));
  t.strictSame(await judge([marked, other, approval(ana)], allowed), [
    'duplicate, marked',
    'counts, marked',
    'counts',
  ]);
});

t.test('the in-process mark is `true` or absent', async (t) => {
  const statement = JSON.parse(
    Buffer.from(buildApproval({ subject, decision: 'approve', signedAtMs: 0 })).toString(),
  );
  for (const inProcess of [false, 'true', 1, null, {}]) {
    const bytes = Buffer.from(
      canonicalize({ ...statement, predicate: { ...statement.predicate, inProcess } }),
    );
    t.throws(() => parseApproval(bytes), { code: 'ATTESTATION_MALFORMED' }, JSON.stringify(inProcess));
    t.strictSame(await judge([encodeApprovalDocument(bytes, ana.sign(bytes))], { inProcess: true }), [
      'malformed',
    ]);
  }
});

t.test(
  'approvals signed by OpenSSH and PEM private keys verify with ssh-keygen',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir();
    const openssh = makeKey(dir, 'ana');
    const { privateKey } = generateKeyPairSync('ed25519');
    const [pem, ours] = [join(dir, 'ben.pem'), join(dir, 'ours')];
    writeFileSync(pem, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(ours, formatOpensshKey(privateKey, 'somebody'), { mode: 0o600 });
    const approvers = await Promise.all([openssh, pem, ours].map(openInProcessApprover));
    t.equal(approvers[1]?.keyId, approvers[2]?.keyId, 'one key in two forms');
    for (const [n, approver] of approvers.entries()) {
      const document = await approver.approve(subject, receivedAtMs);
      const { statement, signature } = parseApprovalDocument(document);
      t.equal(parseApproval(statement).predicate.inProcess, true);
      t.strictSame(parseApproval(statement).subject, subject);
      const key = n === 0 ? publicOf(openssh) : undefined;
      const allowed = key === undefined ? publicHalf(dir, ours) : key;
      const given = { allowed: `x ${allowed}\n`, principal: 'x', namespace: approvalNamespace, signature };
      t.equal(sshVerify(dir, { ...given, message: statement }), true);
      t.equal(sshVerify(dir, { ...given, message: Buffer.from('other') }), false);
      const ground = { allowedSigners: Buffer.from(`x ${allowed}\n`), inProcess: true };
      t.strictSame(await judge([document], ground), ['counts, marked']);
    }
  },
);

t.test(
  'an unusable or exposed key file is refused, and the error does not quote it',
  { skip: withoutSshKeygen },
  async (t) => {
    const dir = t.testdir();
    const good = makeKey(dir, 'good');
    const text = readFileSync(good, 'utf8');
    const secret = text.split('\n').slice(3, -2).join('');
    const put = (name: string, content: string): string => {
      writeFileSync(join(dir, name), content, { mode: 0o600 });
      return join(dir, name);
    };
    const open = makeKey(dir, 'open');
    chmodSync(open, 0o644);
    symlinkSync(good, join(dir, 'link'));
    const ecdsa = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    const cases: Readonly<Record<string, readonly [file: string, code: string]>> = {
      'a passphrase': [makeKey(dir, 'locked', keyKinds.ed25519, 'correct horse'), 'KEY_UNUSABLE'],
      'an RSA key': [makeKey(dir, 'rsa', keyKinds['rsa-2048']), 'KEY_UNUSABLE'],
      'an ECDSA key of OpenSSH': [makeKey(dir, 'ecdsa', keyKinds['ecdsa-256']), 'KEY_UNUSABLE'],
      'an ECDSA key in PEM': [
        put('ec.pem', ecdsa.export({ type: 'pkcs8', format: 'pem' }).toString()),
        'KEY_UNUSABLE',
      ],
      'half a file': [
        put('half', `${text.slice(0, 200)}\n-----END OPENSSH PRIVATE KEY-----\n`),
        'KEY_UNUSABLE',
      ],
      'a public key': [`${good}.pub`, 'KEY_INSECURE'],
      nothing: [join(dir, 'absent'), 'KEY_UNUSABLE'],
      'a file that others read': [open, 'KEY_INSECURE'],
      'a link': [join(dir, 'link'), 'KEY_INSECURE'],
    };
    for (const [what, [file, code]] of Object.entries(cases)) {
      const fault = await openInProcessApprover(file).catch((one: unknown) => one);
      t.ok(isWritError(fault, code as 'KEY_UNUSABLE'), `${what}: ${code}`);
      const told = JSON.stringify({ ...(fault as object), message: String(fault) });
      t.notOk(told.includes(secret.slice(0, 20)), what);
    }
  },
);

/** `type base64` of a private key file, by ssh-keygen. */
function publicHalf(dir: string, file: string): string {
  return execFileSync('ssh-keygen', ['-y', '-f', file], { cwd: dir, encoding: 'utf8' })
    .split(' ')
    .slice(0, 2)
    .join(' ')
    .trim();
}
