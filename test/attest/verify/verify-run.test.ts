import { createPublicKey } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createSlsaAttestor } from '../../../attest/attestor/attesting.ts';
import { inTotoPayloadType, signEnvelope } from '../../../attest/encoding/dsse.ts';
import { generateKey, openUserSigningKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { noMemory } from '../../../attest/log/checkpoint-memory.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { buildLogEntry } from '../../../attest/log/log-entry.ts';
import { ledgerKeyFor, witnessKeyFor } from '../../../attest/log/note.ts';
import { formatEntry, type LedgerFileReader, parseEntries, readFrom } from '../../../attest/log/tiles.ts';
import { buildRevocation } from '../../../attest/statement/run-statements.ts';
import { loadAnchors } from '../../../attest/verify/anchors.ts';
import type { EvidenceSource } from '../../../attest/verify/evidence-source.ts';
import { CheckList, verifyExitCode } from '../../../attest/verify/report.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { canonicalDigest, canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { AttestRequest } from '../../../core/interfaces/sealing.ts';
import {
  copyOf,
  daysLater,
  makeMachine,
  removeMachines,
  type SealedRun,
  sealRun,
  specDocument,
  statementOf,
  toSource,
  troubles,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const author = makeMachine();
const sealed = await sealRun(author);

async function exported(machine = author): Promise<{ readonly pem: string; readonly vkey: string }> {
  const file = join(makeMachine().root, 'signer.pem');
  writeFileSync(file, (await openUserSigningKey({ HOME: machine.home })).publicKeyPem);
  return {
    pem: file,
    vkey: await openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock).vkey(),
  };
}

t.test('a sealed run verifies on the machine that made it, with and without its ledger', async (t) => {
  for (const ledgerOf of [author, undefined]) {
    const report = await verifyAs(sealed, { machine: author, ...(ledgerOf ? { ledgerOf } : {}) });
    t.same(troubles(report), []);
    t.equal(report.verified, true);
    t.equal(report.expected, report.checks.length);
    t.equal(report.ran, report.expected);
    t.equal(verifyExitCode(report), 0);
    const { run } = sealed;
    t.equal(
      report.checks.filter(({ id }) => id.startsWith('evidence:')).length,
      // All but bundle, proof, summary and manifest; of the content, the log.
      run.size - 4 + 1,
      'each listed file is counted',
    );
  }
});

t.test('a run in a SHA-256 repository verifies', async (t) => {
  const machine = makeMachine();
  t.equal((await verifyAs(await sealRun(machine, { hash: 'sha256' }), { machine })).verified, true);
});

t.test('with another HOME the signer is untrusted until its key is given', async (t) => {
  const stranger = makeMachine();
  const report = await verifyAs(sealed, { machine: stranger });
  t.equal(report.verified, false);
  t.equal(verifyExitCode(report), 3);
  t.ok(report.expected > report.ran);
  const { keyId } = await openUserSigningKey({ HOME: author.home });
  const [bundle, signature, ...rest] = report.checks;
  t.match(bundle, { id: 'bundle', status: 'passed' });
  t.match(signature, {
    id: 'signature',
    status: 'unverified',
    code: 'untrusted-signer',
    detail: { key_id: keyId },
  });
  t.ok(rest.every(({ status, code }) => status === 'unverified' && code === 'not-run'));

  const { pem, vkey } = await exported();
  t.equal((await verifyAs(sealed, { machine: stranger, keyFiles: [pem] })).verified, true);
  t.equal(
    (await verifyAs(sealed, { machine: makeMachine(), keyFiles: [pem], ledgerKeys: [vkey] })).verified,
    true,
  );
});

t.test('the user’s own key is not trusted when another key is given', async (t) => {
  const other = makeMachine();
  await sealRun(other);
  const { pem } = await exported(other);
  t.same(
    troubles(await verifyAs(sealed, { machine: author, keyFiles: [pem] }))[0],
    'signature unverified untrusted-signer',
  );
});

t.test('a ledger key other than the given one is untrusted', async (t) => {
  const other = makeMachine();
  await sealRun(other);
  const { vkey } = await exported(other);
  const report = await verifyAs(sealed, { machine: author, ledgerKeys: [vkey] });
  t.same(troubles(report), [
    'log-inclusion unverified untrusted-log',
    'log-proof unverified untrusted-log',
    'log-history unverified not-run',
  ]);
  t.equal(verifyExitCode(report), 3);
});

t.test('without an attestation nothing is verified', async (t) => {
  const bare = copyOf(sealed);
  bare.run.delete('provenance.sigstore.json');
  const report = await verifyAs(bare, { machine: author });
  t.match(report, { verified: false, ran: 0 });
  t.ok(report.expected > 10);
  t.match(report.checks[0], { id: 'bundle', status: 'missing', code: 'missing' });
  t.equal(verifyExitCode(report), 3);
});

t.test('the given run id and spec digest must match the run', async (t) => {
  const right = { runId: 'run-1', specDigest: canonicalDigest(specDocument()) };
  t.equal((await verifyAs(sealed, { machine: author, options: right })).verified, true);
  const wrongRun = await verifyAs(sealed, { machine: author, options: { runId: 'run-2' } });
  t.same(troubles(wrongRun), ['run failed wrong-run']);
  const wrongSpec = await verifyAs(sealed, { machine: author, options: { specDigest: '0'.repeat(64) } });
  t.same(troubles(wrongSpec), ['spec failed mismatch']);
  t.equal(verifyExitCode(wrongSpec), 1);
});

t.test('a given artifact must be subject or evidence of the run', async (t) => {
  const diff = sha256Hex(sealed.content.get('patchset.diff') ?? '');
  const log = sha256Hex(sealed.content.get('artifacts/fast/unit/test-log.txt') ?? '');
  t.equal((await verifyAs(sealed, { machine: author, options: { artifacts: [diff, log] } })).verified, true);
  const foreign = sha256Hex('something else');
  const report = await verifyAs(sealed, { machine: author, options: { artifacts: [foreign] } });
  t.same(troubles(report), [`artifact:${foreign} failed wrong-subject`]);
});

t.test('content past its retention is expired and counts as run, before that it is missing', async (t) => {
  const dropped = copyOf(sealed);
  dropped.content.clear();
  const late = await verifyAs(dropped, { machine: author, options: { clock: daysLater(31) } });
  t.same(troubles(late), ['subject-patchset expired', 'evidence:artifacts/fast/unit/test-log.txt expired']);
  t.match(late, { verified: true, ran: late.expected });
  const early = await verifyAs(dropped, { machine: author, options: { clock: daysLater(29) } });
  t.same(troubles(early), [
    'subject-patchset missing missing',
    'evidence:artifacts/fast/unit/test-log.txt missing missing',
  ]);
  t.equal(verifyExitCode(early), 3);
  const never = await sealRun(makeMachineAs(author), { artifactDays: 0, runId: 'run-0' });
  never.content.clear();
  t.equal((await verifyAs(never, { machine: author })).verified, true, 'zero days: gone at the decision');
});

function makeMachineAs(machine: typeof author): typeof author {
  return { ...machine, commonDir: makeMachine().commonDir };
}

t.test('the permanent record never expires', async (t) => {
  const cut = copyOf(sealed);
  cut.run.delete('evidence/0001-unit.json');
  const report = await verifyAs(cut, { machine: author, options: { clock: daysLater(4000) } });
  t.same(troubles(report), [
    'manifest-complete missing missing',
    'evidence:evidence/0001-unit.json missing missing',
  ]);
  t.equal(report.verified, false);
});

t.test('log mode `none` requires no proof and leaves the log checks out of the count', async (t) => {
  const machine = makeMachine();
  const unlogged = await sealRun(machine, { provenance: { transparencyLog: { mode: 'none' } } });
  const report = await verifyAs(unlogged, { machine });
  t.equal(report.verified, true);
  t.same(troubles(report), [
    'log-entry unverified not-required',
    'log-inclusion unverified not-required',
    'log-proof unverified not-required',
    'log-history unverified not-required',
  ]);
  t.equal(report.expected, report.checks.length - 4);
});

t.test('a spec without evidence digests requires no evidence checks', async (t) => {
  const machine = makeMachine();
  const bindings = { embedIntentSpecDigest: false, embedEvidenceDigests: false };
  const report = await verifyAs(await sealRun(machine, { provenance: { bindings } }), { machine });
  t.equal(report.verified, true);
  t.same(troubles(report), ['evidence unverified not-required', 'evidence-stored unverified not-required']);
});

/** Seals a run and revokes it, as the engine does when the swap is lost. */
async function revokedRun(machine: typeof author): Promise<SealedRun> {
  let request: AttestRequest | undefined;
  const revoked = await sealRun(machine, {
    request: (given) => {
      request = given;
      return given;
    },
  });
  if (request === undefined) throw new Error('nothing was attested');
  const env = { HOME: machine.home };
  const log = openUserLedger(machine.commonDir, env, systemClock);
  const signer = await openUserSigningKey(env);
  const attestor = createSlsaAttestor();
  const parties = { signer, log };
  const envelope = await attestor.signRevocation(request, parties, 'the target moved');
  const revocation = await attestor.log(envelope, parties, await log.size());
  t.match(revocation, { logIndex: 1 });
  revoked.run.set('revocation.sigstore.json', Buffer.from(revocation.bundle));
  revoked.run.set('rollback.json', Buffer.from('{"type":"rollback"}'));
  return revoked;
}

t.test('a revoked run is refused, and its rollback file is not reported as unlisted', async (t) => {
  const machine = makeMachine();
  const revoked = await revokedRun(machine);
  const report = await verifyAs(revoked, { machine });
  t.same(troubles(report), ['not-revoked failed revoked']);
  t.equal(verifyExitCode(report), 1);
  const bytes = revoked.run.get('revocation.sigstore.json') ?? Buffer.alloc(0);
  const other = await sealRun(machine, { runId: 'run-2' });
  other.run.set('revocation.sigstore.json', bytes);
  t.same(
    troubles(await verifyAs(other, { machine })),
    ['manifest-complete failed unlisted', 'not-revoked failed unlisted'],
    'of another run',
  );
  const garbled = copyOf(other);
  for (const text of ['', '{}', bytes.toString('utf8').slice(1)]) {
    garbled.run.set('revocation.sigstore.json', Buffer.from(text));
    t.same(
      troubles(await verifyAs(garbled, { machine })),
      ['manifest-complete failed unlisted', 'not-revoked failed unlisted'],
      'what cannot be read revokes nothing',
    );
  }
  other.run.set('rollback.json', Buffer.from('{}'));
  t.same(
    troubles(await verifyAs(other, { machine })),
    ['evidence-stored failed unlisted', 'manifest-complete failed unlisted', 'not-revoked failed unlisted'],
    'a rollback without a revocation that holds',
  );
  const misplaced = copyOf(sealed);
  misplaced.run.set('revocation.sigstore.json', bytes);
  t.same(troubles(await verifyAs(misplaced, { machine: author })), [
    'manifest-complete failed unlisted',
    'not-revoked failed unlisted',
  ]);
});

t.test('a revocation missing from the run is found in the ledger for that run only', async (t) => {
  const machine = makeMachine();
  const revoked = await revokedRun(machine);
  const others = [];
  for (let n = 2; n < 5; n += 1) others.push(await sealRun(machine, { runId: `run-${n}` }));
  const dropped = copyOf(revoked);
  dropped.run.delete('revocation.sigstore.json');
  dropped.run.delete('rollback.json');
  const report = await verifyAs(dropped, { machine, ledgerOf: machine });
  t.same(troubles(report), ['not-revoked failed revoked']);
  t.match(
    report.checks.find(({ id }) => id === 'not-revoked'),
    { detail: { index: 1 } },
  );
  t.equal(verifyExitCode(report), 1);
  for (const other of others) {
    const fine = await verifyAs(other, { machine, ledgerOf: machine });
    t.same(troubles(fine), []);
    t.ok(fine.checks.some(({ id, status }) => id === 'not-revoked' && status === 'passed'));
    t.equal(fine.verified, true);
  }
});

t.test('a revocation without a trusted signature revokes nothing', async (t) => {
  const machine = makeMachine();
  const fine = await sealRun(machine);
  const env = { HOME: machine.home };
  const log = openUserLedger(machine.commonDir, env, systemClock);
  const subject = statementOf(fine).subject;
  const statement = Buffer.from(canonicalize(buildRevocation(subject, 'run-1')));
  const stranger = toSigner(generateKey('ecdsa-p256-sha256'), false);
  const envelope = await signEnvelope(inTotoPayloadType, statement, stranger);
  await log.append(buildLogEntry(envelope, createPublicKey(stranger.publicKeyPem)));
  const { publicKeyPem } = await openUserSigningKey(env);
  await log.append(buildLogEntry(envelope, createPublicKey(publicKeyPem)));
  await log.append(Buffer.from('not an entry of ours'));
  t.same(troubles(await verifyAs(fine, { machine, ledgerOf: machine })), []);
});

t.test('verification detects a revocation that was removed from the ledger', async (t) => {
  const machine = makeMachine();
  const revoked = await revokedRun(machine);
  await sealRun(machine, { runId: 'run-2' });
  revoked.run.delete('revocation.sigstore.json');
  revoked.run.delete('rollback.json');
  const file = join(machine.commonDir, 'writ/ledger/tile/entries/000.p/3');
  const whole = readFileSync(file);
  const entries = parseEntries(whole) ?? [];
  t.equal(entries.length, 3);
  const [first = Buffer.alloc(0), , third = Buffer.alloc(0)] = entries;
  for (const left of [[first, third, third], [first], []]) {
    writeFileSync(file, Buffer.concat(left.map(formatEntry)));
    const report = await verifyAs(revoked, { machine, ledgerOf: machine });
    t.same(troubles(report), ['log-history failed malformed'], `${left.length} entries`);
    t.equal(report.verified, false);
  }
});

t.test('an empty check list is not verified, and a waived check is not counted', async (t) => {
  const list = new CheckList();
  t.match(list.report(), { verified: false, expected: 0, ran: 0 });
  list.expect('signature', 'other');
  list.settle('signature', 'passed');
  t.match(list.report(), { verified: false, expected: 2, ran: 1 });
  list.waive('other', 'not-required');
  t.match(list.report(), { verified: true, expected: 1, ran: 1 });
  t.throws(() => list.settle('signature', 'passed'), { code: 'INTERNAL' });
  t.throws(() => list.settle('unexpected', 'passed'), { code: 'INTERNAL' });
  const failing = new CheckList();
  failing.expect('signature', 'one', 'two', 'three');
  failing.settle('signature', 'passed');
  failing.settle('one', 'failed');
  failing.settle('two', 'expired');
  failing.settle('three', 'missing');
  t.match(failing.report(), { verified: false, expected: 4, ran: 3 }, 'what failed was looked at');
});

t.test('a read-only home does not stop verification, and the report says so', async (t) => {
  const readOnly = Object.assign(new Error('read-only file system'), { code: 'EROFS' });
  const memory = {
    at: async () => undefined,
    latest: async () => undefined,
    near: async () => [],
    remember: () => Promise.reject(readOnly),
  };
  const report = await verifyAs(sealed, { machine: author, options: { memory } });
  t.equal(report.verified, true);
  t.match(
    report.checks.find(({ id }) => id === 'log-history'),
    { status: 'passed', detail: { remembered: 'no' } },
  );
  const broken = { ...memory, remember: () => Promise.reject(new Error('disk')) };
  await t.rejects(verifyAs(sealed, { machine: author, options: { memory: broken } }), { message: 'disk' });
});

t.test('a ledger that is older than its copy in git does not refute a valid run', async (t) => {
  const machine = makeMachine();
  const ledgerDirectory = join(machine.commonDir, 'writ', 'ledger');
  const restored = join(machine.home, 'restored');
  const first = await sealRun(machine);
  cpSync(ledgerDirectory, restored, { recursive: true });
  const second = await sealRun(machine, { runId: 'run-2' });
  const anchors = await loadAnchors({ keyFiles: [], ledgerKeys: [] }, { HOME: machine.home });
  const verify = (sealed: SealedRun, more: Partial<EvidenceSource>) =>
    verifyRun({ ...toSource(sealed), ...more }, anchors, { clock: daysLater(1), memory: noMemory });
  const readLedger = readFrom(restored);
  const readMirror = readFrom(ledgerDirectory);
  t.same(troubles(await verify(second, { readLedger })), ['log-history failed stale']);
  t.same(troubles(await verify(second, { readLedger, readMirror })), []);
  const damaged: LedgerFileReader = async (path) => (path === 'checkpoint' ? readMirror(path) : undefined);
  t.same(troubles(await verify(first, { readLedger, readMirror: damaged })), [], 'a copy without its tiles');
  t.same(troubles(await verify(second, { readLedger, readMirror: damaged })), ['log-history failed stale']);
});

t.test('if witnesses are required, a proof without their quorum is unverified', async (t) => {
  const machine = makeMachine();
  const run = await sealRun(machine);
  const witness = toSigner(generateKey('ed25519'), false);
  const key = witnessKeyFor('alice.example', createPublicKey(witness.publicKeyPem));
  const ledger = openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock);
  const { origin } = (await ledger.head()) ?? { origin: '' };
  const trust = join(machine.home, '.config/writ/trust');
  const policy = (log: string) =>
    writeFileSync(join(trust, 'w.tlog-policy'), `${log}witness alice ${key.vkey}\nquorum alice\n`);
  policy('');
  const report = await verifyAs(run, { machine });
  t.equal(verifyExitCode(report), 3);
  t.match(troubles(report), ['log-inclusion unverified no-quorum', 'log-proof unverified no-quorum']);
  const elsewhere = ledgerKeyFor('other.example/log', createPublicKey(witness.publicKeyPem));
  policy(`log ${elsewhere.vkey}\n`);
  t.equal((await verifyAs(run, { machine })).verified, true, 'a policy about another log');
  t.not(origin, '');
});
