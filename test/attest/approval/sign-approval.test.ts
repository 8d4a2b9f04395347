import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { buildApproval, parseApprovalDocument } from '../../../attest/approval/approval-statement.ts';
import { readApprovals } from '../../../attest/approval/read-approvals.ts';
import { type SigningWith, signApproval } from '../../../attest/approval/sign-approval.ts';
import { approvalNamespace } from '../../../attest/approval/sshsig.ts';
import type { ApprovalSubject } from '../../../core/interfaces/approval.ts';
import { execFileBounded } from '../../../workspace/process/spawn.ts';
import { until } from '../../waiting/until.ts';
import { keyKinds, makeKey, publicOf, sshVerify, withoutSshKeygen } from './ssh-tools.ts';

const dir = mkdtempSync(join(tmpdir(), 'writ-sign-'));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const subject: ApprovalSubject = {
  runId: 'run-1',
  baseCommit: null,
  candidateTree: '2'.repeat(40),
  patchDigest: '3'.repeat(64),
  specDigest: '4'.repeat(64),
  gateReportDigest: '5'.repeat(64),
};
const statement = buildApproval({ subject, decision: 'approve', signedAtMs: 0 });
const path = { PATH: process.env.PATH ?? '' };
const using = (keyFile: string, env: Record<string, string> = {}): SigningWith => ({
  run: execFileBounded,
  keyFile,
  cwd: dir,
  env: { ...path, HOME: dir, SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force', ...env },
});

async function statusOf(document: Uint8Array, allowed: string) {
  const ground = { subject, allowedSigners: Buffer.from(allowed), authors: [], receivedAtMs: 1 };
  return (await readApprovals([{ source: 'x', bytes: document }], ground))[0]?.status;
}

t.test(
  'a signature by every supported key type counts and verifies with ssh-keygen',
  { skip: withoutSshKeygen },
  async (t) => {
    for (const [name, kind] of Object.entries(keyKinds)) {
      const file = makeKey(dir, name, kind);
      const allowed = `me ${publicOf(file)}\n`;
      const { document, keyId } = await signApproval(statement, using(file));
      t.equal(await statusOf(document, allowed), 'counts', name);
      t.ok(execFileSync('ssh-keygen', ['-lf', file]).toString().includes(keyId), 'the fingerprint is ssh’s');
      const { statement: message, signature } = parseApprovalDocument(document);
      t.strictSame(message, Buffer.from(statement), 'the exact bytes');
      const oracle = (namespace: string) =>
        sshVerify(dir, { allowed, principal: 'me', namespace, signature, message });
      t.ok(oracle(approvalNamespace), `${name}, ssh-keygen`);
      t.notOk(oracle('file'), `${name}, ssh-keygen in another namespace`);
    }
  },
);

t.test(
  'a key in the agent signs when the public key file is given',
  { skip: withoutSshKeygen },
  async (t) => {
    const file = makeKey(dir, 'agent-key');
    const socket = join(dir, 'agent.sock');
    const agent: ChildProcess = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    t.teardown(() => agent.kill());
    await until(() => existsSync(socket), 'the agent');
    const env = { SSH_AUTH_SOCK: socket };
    execFileSync('ssh-add', ['-q', file], { env: { ...path, ...env }, stdio: 'ignore' });
    const allowed = `me ${publicOf(file)}\n`;
    rmSync(file);
    const { document } = await signApproval(statement, using(`${file}.pub`, env));
    t.equal(await statusOf(document, allowed), 'counts');
    await t.rejects(signApproval(statement, using(`${file}.pub`)), {
      code: 'SIGNER_FAILED',
      hints: [/passphrase/, /agent/],
    });
  },
);

t.test('ssh-keygen prompts for a passphrase through SSH_ASKPASS', { skip: withoutSshKeygen }, async (t) => {
  const file = makeKey(dir, 'locked', keyKinds.ed25519, 'open sesame');
  const askpass = join(dir, 'askpass');
  writeFileSync(askpass, '#!/bin/sh\necho open sesame\n', { mode: 0o755 });
  await signApproval(statement, using(file, { SSH_ASKPASS: askpass }));
  await t.rejects(signApproval(statement, using(file)), { code: 'SIGNER_FAILED' });
});

t.test('a key that cannot sign is reported with an error code', { skip: withoutSshKeygen }, async (t) => {
  const weak = makeKey(dir, 'weak', ['-t', 'rsa', '-b', '1024']);
  await t.rejects(signApproval(statement, using(weak)), { code: 'KEY_UNUSABLE' });
  const text = join(dir, 'text');
  writeFileSync(text, 'no key', { mode: 0o600 });
  await t.rejects(signApproval(statement, using(text)), { code: 'SIGNER_FAILED' });
  await t.rejects(signApproval(statement, using(join(dir, 'absent'))), { code: 'SIGNER_FAILED' });
  const stopped = { ...using(weak), signal: AbortSignal.abort(new Error('stopped')) };
  await t.rejects(signApproval(statement, stopped), /stopped/);
});

t.test('without ssh-keygen the error hint names OpenSSH', async (t) => {
  const nowhere = { ...using(join(dir, 'any')), env: { PATH: join(dir, 'nowhere') } };
  await t.rejects(signApproval(statement, nowhere), { code: 'SIGNER_FAILED', hints: [/OpenSSH/] });
});

t.test('output of ssh-keygen that is malformed or signed by another key is refused', async (t) => {
  const bin = mkdtempSync(join(dir, 'bin-'));
  const fake = (answer: string) =>
    writeFileSync(join(bin, 'ssh-keygen'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${path.PATH}` };
  fake('exit 0');
  await t.rejects(signApproval(statement, using(join(dir, 'any'), env)), { code: 'ATTESTATION_MALFORMED' });
  if (withoutSshKeygen !== false) return;
  const { document } = await signApproval(
    buildApproval({ subject, decision: 'reject', signedAtMs: 0 }),
    using(makeKey(dir, 'other')),
  );
  writeFileSync(join(bin, 'answer'), parseApprovalDocument(document).signature);
  fake(`cat ${join(bin, 'answer')}`);
  await t.rejects(signApproval(statement, using(join(dir, 'any'), env)), { code: 'SIGNER_FAILED' });
});

t.test('signing leaves no temporary file behind', async (t) => {
  t.strictSame(
    readdirSync(dir).filter((name) => name.endsWith('.sig') && name !== 'oracle.sig'),
    [],
  );
});
