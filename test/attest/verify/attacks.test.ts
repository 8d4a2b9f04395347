import { createPublicKey } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { formatBundle, parseBundle } from '../../../attest/bundle/bundle.ts';
import { toSpki } from '../../../attest/encoding/public-key.ts';
import { generateKey, openUserLedgerKey, toSigner } from '../../../attest/keys/key-signer.ts';
import { formatTlogProof, parseCheckpoint, signCheckpoint } from '../../../attest/log/checkpoint.ts';
import { openUserLedger } from '../../../attest/log/internal-ledger-source.ts';
import { leafHash, rootFromInclusion } from '../../../attest/log/merkle.ts';
import { ledgerKeyFor, parseVkey } from '../../../attest/log/note.ts';
import type { ProvenanceStatement } from '../../../attest/statement/run-statements.ts';
import { type VerifyReport, verifyExitCode } from '../../../attest/verify/report.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { long } from '../../rooms/long.ts';
import {
  commitId,
  copyOf,
  type Machine,
  makeMachine,
  rebound,
  removeMachines,
  resealPayload,
  type SealedRun,
  sealRun,
  statementOf,
  troubles,
  verifyAs,
} from './sealed-run.ts';

t.teardown(removeMachines);

const machine = makeMachine();
const sealed = await sealRun(machine);
const bundlePath = 'provenance.sigstore.json';
const proofPath = 'transparency-proof.tlog-proof';

function verify(run: SealedRun): Promise<VerifyReport> {
  return verifyAs(run, { machine });
}

function bytesOf(run: SealedRun, path: string): Buffer {
  return run.run.get(path) ?? run.content.get(path) ?? Buffer.alloc(0);
}

/** A run whose bundle was edited as text or as JSON. */
function withBundle(change: (text: string) => string, of = sealed): SealedRun {
  const copy = copyOf(of);
  copy.run.set(bundlePath, Buffer.from(change(bytesOf(of, bundlePath).toString())));
  return copy;
}

t.test('the unmodified set verifies', async (t) => {
  t.equal((await verify(sealed)).verified, true);
});

t.test('no stored file can be changed, removed or added', async (t) => {
  const expected: Readonly<Record<string, string>> = {
    'spec.json': 'spec failed',
    'patchset.diff': 'subject-patchset failed mismatch',
    [bundlePath]: 'bundle failed malformed',
    [proofPath]: 'log-proof failed malformed',
    'statements/vsa.sigstore.json': 'manifest-complete failed mismatch',
    'evidence-manifest.sigstore.json': 'manifest failed malformed',
  };
  for (const tree of ['run', 'content'] as const) {
    for (const path of sealed[tree].keys()) {
      const changed = copyOf(sealed);
      changed[tree].set(path, Buffer.concat([bytesOf(sealed, path), Buffer.from('x')]));
      const found = troubles(await verify(changed));
      const code = expected[path] ?? `evidence:${path} failed mismatch`;
      t.ok(
        found.some((trouble) => trouble.startsWith(code)),
        `${path} changed: ${found.join(', ')}`,
      );
      const removed = copyOf(sealed);
      removed[tree].delete(path);
      const report = await verify(removed);
      t.notOk(report.verified, `${path} removed`);
      t.equal(verifyExitCode(report), 3, `${path} removed: missing is not refuted`);
    }
    const added = copyOf(sealed);
    added[tree].set('evidence/9999-extra.json', Buffer.from('{}'));
    const expectedOf = { run: ['evidence-stored', 'manifest-complete'], content: ['evidence-stored'] }[tree];
    t.same(
      troubles(await verify(added)),
      expectedOf.map((id) => `${id} failed unlisted`),
      `added to ${tree}`,
    );
  }
  const moved = copyOf(sealed);
  moved.content.set('evidence/0001-unit.json', bytesOf(sealed, 'evidence/0001-unit.json'));
  moved.run.set('artifacts/fast/unit/test-log.txt', bytesOf(sealed, 'artifacts/fast/unit/test-log.txt'));
  const detail = { found: ['artifacts/fast/unit/test-log.txt', 'evidence/0001-unit.json'], count: 2 };
  const failed = (await verify(moved)).checks.filter(({ status }) => status === 'failed');
  t.match(
    failed,
    [{ id: 'evidence-stored', code: 'unlisted', detail }],
    'listed names, each in the other tree',
  );
});

t.test('another commit, tree, trailer or run is refused', async (t) => {
  const raw = sealed.commit.raw.toString();
  const cases: Readonly<Record<string, [string, string, readonly string[]]>> = {
    'another tree': [
      `tree ${'4'.repeat(40)}`,
      `tree ${'5'.repeat(40)}`,
      ['subject-commit failed wrong-subject', 'subject-tree failed wrong-subject'],
    ],
    'another message': ['fix: a thing', 'fix: another', ['subject-commit failed wrong-subject']],
    'another run': [
      'Run-Id: run-1',
      'Run-Id: run-9',
      ['subject-commit failed wrong-subject', 'run failed wrong-run'],
    ],
    'a run twice': [
      'Run-Id: run-1',
      'Run-Id: run-1\nRun-Id: run-1',
      ['subject-commit failed wrong-subject', 'run failed wrong-run'],
    ],
    'another spec': [
      'Intentspec-Digest: ',
      'Intentspec-Digest: 0',
      ['subject-commit failed wrong-subject', 'spec failed mismatch'],
    ],
    'another intent': [
      'Intent-Id: spec-1',
      'Intent-Id: spec-2',
      ['subject-commit failed wrong-subject', 'spec failed mismatch'],
    ],
  };
  for (const [name, [from, to, codes]] of Object.entries(cases)) {
    const copy = copyOf(sealed);
    copy.commit.raw = Buffer.from(raw.replace(from, to));
    copy.commit.id = commitId(copy.commit.raw);
    t.same(troubles(await verify(copy)), codes, name);
  }
  const lying = copyOf(sealed);
  lying.commit.raw = Buffer.from(raw.replace('fix: a thing', 'fix: another'));
  t.same(
    troubles(await verify(lying)),
    ['subject-commit failed mismatch'],
    'bytes that are not the object of that id',
  );
});

t.test('a forger with their own key and ledger is an untrusted signer', async (t) => {
  const forger = makeMachine();
  const forged = await sealRun(forger);
  const report = await verify(forged);
  t.same(troubles(report)[0], 'signature unverified untrusted-signer');
  t.match(report, { verified: false, ran: 1 });
  t.equal(verifyExitCode(report), 3);
  // The same, wearing the key id of the victim.
  const { envelope } = parseBundle(bytesOf(sealed, bundlePath));
  const own = parseBundle(bytesOf(forged, bundlePath));
  const masked = withBundle(
    () => formatBundle({ ...own, envelope: { ...own.envelope, keyId: envelope.keyId } }),
    forged,
  );
  t.same(troubles(await verify(masked))[0], 'signature failed bad-signature');
});

t.test('another run of the same signer does not verify for this commit', async (t) => {
  const other = await sealRun(machine, { runId: 'run-other' });
  const mixed = copyOf(sealed);
  mixed.run.set(bundlePath, bytesOf(other, bundlePath));
  mixed.run.set(proofPath, bytesOf(other, proofPath));
  const found = troubles(await verify(mixed));
  t.ok(found.includes('subject-commit failed wrong-subject'), found.join(', '));
  t.ok(found.includes('run failed wrong-run'));
});

t.test('a payload is verified only as signed bytes and only as an in-toto statement', async (t) => {
  const statement = canonicalize(statementOf(sealed));
  const doubled = statement.replace('"predicateType"', '"predicateType":"x","predicateType"');
  const cases: Readonly<Record<string, [Buffer, string | undefined, string]>> = {
    'another payload type': [Buffer.from(statement), 'application/json', 'statement failed wrong-type'],
    'a duplicate key': [Buffer.from(doubled), undefined, 'statement failed malformed'],
    'no JSON': [Buffer.from('hello'), undefined, 'statement failed malformed'],
    'deep nesting': [
      Buffer.from(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`),
      undefined,
      'statement failed malformed',
    ],
  };
  for (const [name, [payload, type, code]] of Object.entries(cases)) {
    t.same(troubles(await verify(await resealPayload(machine, sealed, payload, type)))[0], code, name);
  }
});

long('a signed statement of another type, subject or content is refused with its own code', async (t) => {
  const good = statementOf(sealed);
  const { buildDefinition: definition, runDetails: details } = good.predicate;
  const subject = (at: number) => good.subject[at] ?? { name: '', digest: {} };
  const predicate = (change: object): object => ({ ...good, predicate: { ...good.predicate, ...change } });
  const decoy = { name: 'commit', digest: { gitCommit: '9'.repeat(40) } };
  const byproducts = (list: ProvenanceStatement['predicate']['runDetails']['byproducts']): object =>
    predicate({ runDetails: { ...details, byproducts: list } });
  const cases: Readonly<Record<string, [object, string]>> = {
    'another statement type': [
      { ...good, _type: 'https://in-toto.io/Statement/v0.1' },
      'statement failed wrong-type',
    ],
    'another predicate type': [
      { ...good, predicateType: 'https://slsa.dev/provenance/v0.2' },
      'statement failed wrong-type',
    ],
    'another build type': [
      predicate({ buildDefinition: { ...definition, buildType: 'urn:x' } }),
      'statement failed wrong-type',
    ],
    'another builder': [
      predicate({ runDetails: { ...details, builder: { id: 'urn:x' } } }),
      'statement failed wrong-type',
    ],
    'an unknown external parameter': [
      predicate({
        buildDefinition: {
          ...definition,
          externalParameters: { ...definition.externalParameters, skip_checks: 'yes' },
        },
      }),
      'statement failed unknown-parameter',
    ],
    'a parameter that is external and internal': [
      predicate({
        buildDefinition: {
          ...definition,
          internalParameters: { ...definition.internalParameters, intentspec_id: 'spec-1' },
        },
      }),
      'statement failed malformed',
    ],
    'only a second commit that matches': [
      { ...good, subject: [decoy, ...good.subject] },
      'statement failed wrong-subject',
    ],
    'another commit': [
      { ...good, subject: [decoy, subject(1), subject(2)] },
      'subject-commit failed wrong-subject',
    ],
    'another tree': [
      { ...good, subject: [subject(0), { name: 'tree', digest: { gitTree: '9'.repeat(40) } }, subject(2)] },
      'subject-tree failed wrong-subject',
    ],
    'another patchset': [
      { ...good, subject: [subject(0), subject(1), { name: 'p', digest: { sha256: '9'.repeat(64) } }] },
      'subject-patchset failed mismatch',
    ],
    'a fourth subject': [
      { ...good, subject: [...good.subject, { name: 'x', digest: { sha512: '9'.repeat(128) } }] },
      'statement failed wrong-subject',
    ],
    'a commit that is no object id': [
      { ...good, subject: [{ name: 'commit', digest: { gitCommit: 'HEAD' } }, ...good.subject.slice(1)] },
      'statement failed wrong-subject',
    ],
    'no tree': [{ ...good, subject: [subject(0), subject(2)] }, 'statement failed wrong-subject'],
    'two digests on a subject': [
      {
        ...good,
        subject: [
          { name: 'x', digest: { ...subject(0).digest, gitTree: '9'.repeat(40) } },
          subject(2),
          decoy,
        ],
      },
      'statement failed wrong-subject',
    ],
    'no evidence at all': [byproducts([]), 'evidence missing missing'],
    'evidence without any check': [
      byproducts(details.byproducts.filter(({ name }) => !name.startsWith('evidence/'))),
      'evidence missing missing',
    ],
    'a decision left out': [
      byproducts(details.byproducts.filter(({ name }) => name !== 'decision.json')),
      'evidence missing missing',
    ],
    'one file left out': [
      byproducts(details.byproducts.filter(({ name }) => name !== 'evidence/0002-fast.json')),
      'evidence-stored failed unlisted',
    ],
    'one file twice': [
      byproducts([...details.byproducts, ...details.byproducts.slice(0, 1)]),
      'statement failed malformed',
    ],
    'another run id': [
      predicate({ runDetails: { ...details, metadata: { ...details.metadata, invocationId: 'run-x' } } }),
      'run failed wrong-run',
    ],
    'another spec digest': [
      predicate({
        buildDefinition: {
          ...definition,
          externalParameters: { intentspec_id: 'spec-1', intentspec_digest: '9'.repeat(64) },
        },
      }),
      'spec failed mismatch',
    ],
    'no spec digest though the spec embeds it': [
      predicate({ buildDefinition: { ...definition, externalParameters: { intentspec_id: 'spec-1' } } }),
      'spec failed mismatch',
    ],
    'another spec id': [
      predicate({
        buildDefinition: {
          ...definition,
          externalParameters: { ...definition.externalParameters, intentspec_id: 'spec-2' },
        },
      }),
      'spec failed mismatch',
    ],
  };
  for (const [name, [statement, code]] of Object.entries(cases)) {
    const report = await verify(await resealPayload(machine, sealed, Buffer.from(canonicalize(statement))));
    t.notOk(report.verified, name);
    t.same(troubles(report)[0], code, name);
  }
});

t.test('a commit with another intent than its spec is refused, even if all of it is signed', async (t) => {
  const copy = copyOf(sealed);
  copy.commit.raw = Buffer.from(
    sealed.commit.raw.toString().replace('Intent-Id: spec-1', 'Intent-Id: spec-2'),
  );
  copy.commit.id = commitId(copy.commit.raw);
  const good = statementOf(sealed);
  const { buildDefinition } = good.predicate;
  const externalParameters = { ...buildDefinition.externalParameters, intentspec_id: 'spec-2' };
  const statement = {
    ...good,
    subject: [{ name: 'commit', digest: { gitCommit: copy.commit.id } }, ...good.subject.slice(1)],
    predicate: { ...good.predicate, buildDefinition: { ...buildDefinition, externalParameters } },
  };
  const signed = await resealPayload(machine, copy, Buffer.from(canonicalize(statement)));
  t.match(troubles(await verify(signed)), ['spec failed mismatch']);
});

t.test('a log entry must match every member of its envelope', async (t) => {
  const bundle = parseBundle(bytesOf(sealed, bundlePath));
  const ledger = openUserLedger(machine.commonDir, { HOME: machine.home }, systemClock);
  const { keyId: logId } = parseVkey(await ledger.vkey());
  const body = (bundle.proof?.body ?? Buffer.alloc(0)).toString();
  const { data, signature } = JSON.parse(body).spec.hashedRekordV002;
  const elsewhere = createPublicKey(toSigner(generateKey('ecdsa-p256-sha256'), false).publicKeyPem);
  const cases: Readonly<Record<string, [string, string]>> = {
    kind: ['"hashedrekord"', '"intoto"'],
    apiVersion: ['"0.0.2"', '"0.0.1"'],
    algorithm: ['"SHA2_256"', '"SHA2_512"'],
    digest: [data.digest, Buffer.alloc(32).toString('base64')],
    signature: [signature.content, Buffer.alloc(70).toString('base64')],
    keyDetails: ['PKIX_ECDSA_P256_SHA_256', 'PKIX_ED25519'],
    publicKey: [signature.verifier.publicKey.rawBytes, toSpki(elsewhere).toString('base64')],
  };
  for (const [member, [from, to]] of Object.entries(cases)) {
    const proof = await ledger.append(Buffer.from(body.replace(from, to)));
    const copy = withBundle(() => formatBundle({ ...bundle, proof: { ...proof, logId } }));
    copy.run.set(proofPath, Buffer.from(formatTlogProof(proof)));
    const report = await verify(await rebound(machine, copy));
    t.same(
      troubles(report),
      ['log-entry failed mismatch', 'log-proof failed mismatch', 'log-history unverified not-run'],
      member,
    );
    t.match(
      report.checks.find(({ id }) => id === 'log-entry'),
      { detail: { member } },
    );
  }
});

t.test('a run without a log proof is not logged, wherever the proof was removed', async (t) => {
  const bundle = parseBundle(bytesOf(sealed, bundlePath));
  const stripped = withBundle(() => formatBundle({ ...bundle, proof: undefined }));
  t.same(troubles(await verify(await rebound(machine, stripped))), [
    'log-entry missing not-logged',
    'log-inclusion missing not-logged',
    'log-history unverified not-run',
  ]);
  stripped.run.delete(proofPath);
  const report = await verify(await rebound(machine, stripped));
  t.same(troubles(report).slice(0, 3), [
    'log-entry missing not-logged',
    'log-inclusion missing not-logged',
    'log-proof missing not-logged',
  ]);
  t.equal(verifyExitCode(report), 3);
});

t.test('a proof of another entry is refused, in the bundle and in the file', async (t) => {
  const other = await sealRun(machine, { runId: 'run-9' });
  const file = copyOf(sealed);
  file.run.set(proofPath, bytesOf(other, proofPath));
  t.same(troubles(await verify(await rebound(machine, file))), [
    'log-proof failed mismatch',
    'log-history unverified not-run',
  ]);
  const { proof } = parseBundle(bytesOf(other, bundlePath));
  const bundle = withBundle(() => formatBundle({ ...parseBundle(bytesOf(sealed, bundlePath)), proof }));
  t.ok(troubles(await verify(await rebound(machine, bundle))).includes('log-entry failed mismatch'));
  const { body } = parseBundle(bytesOf(sealed, bundlePath)).proof ?? { body: Buffer.alloc(0) };
  const swapped = withBundle(() =>
    formatBundle({ ...parseBundle(bytesOf(sealed, bundlePath)), proof: proof && { ...proof, body } }),
  );
  t.ok(troubles(await verify(await rebound(machine, swapped))).includes('log-inclusion failed mismatch'));
});

t.test('a proof file of another tree than that of the bundle is refused', async (t) => {
  const env = { HOME: machine.home };
  const second = await sealRun(machine);
  const held = parseBundle(bytesOf(second, bundlePath)).proof;
  if (held === undefined) throw new Error('the sealed run is in no log');
  const { origin, size } = parseCheckpoint(held.checkpoint);
  const { body, logIndex } = held;
  const withFile = (proof: Pick<typeof held, 'body' | 'logIndex' | 'hashes' | 'checkpoint'>) => {
    const copy = copyOf(second);
    copy.run.set(proofPath, Buffer.from(formatTlogProof({ ...held, ...proof, origin })));
    return rebound(machine, copy);
  };
  const again = await openUserLedger(machine.commonDir, env, systemClock).append(body, { behind: size });
  t.ok(again.logIndex > logIndex);
  t.same(troubles(await verify(await withFile(again))), [
    'log-proof failed mismatch',
    'log-history unverified not-run',
  ]);
  const signer = await openUserLedgerKey(env);
  const key = ledgerKeyFor(origin, createPublicKey(signer.publicKeyPem));
  const hashes = held.hashes.map(() => Buffer.alloc(32, 1));
  const root = rootFromInclusion(logIndex, size, leafHash(body), hashes) ?? Buffer.alloc(0);
  const { source: checkpoint } = await signCheckpoint({ size, root }, signer, key);
  t.same(troubles(await verify(await withFile({ body, logIndex, hashes, checkpoint }))), [
    'log-proof failed forked',
    'log-history unverified not-run',
  ]);
});

t.test('a proof of another size or root than its checkpoint is refused', async (t) => {
  const bundle = parseBundle(bytesOf(sealed, bundlePath));
  const held = bundle.proof;
  if (held === undefined) throw new Error('the sealed run is in no log');
  for (const proof of [
    { ...held, treeSize: held.treeSize + 1 },
    { ...held, rootHash: Buffer.alloc(32, 1) },
  ])
    t.ok(
      troubles(
        await verify(
          await rebound(
            machine,
            withBundle(() => formatBundle({ ...bundle, proof })),
          ),
        ),
      ).includes('log-inclusion failed mismatch'),
    );
});

/** Our envelope in a log of one entry under any name and key. */
async function inLogOf(name: string, signer: ReturnType<typeof toSigner>): Promise<SealedRun> {
  const bundle = parseBundle(bytesOf(sealed, bundlePath));
  const body = bundle.proof?.body ?? Buffer.alloc(0);
  const key = ledgerKeyFor(name, createPublicKey(signer.publicKeyPem));
  const { source, root } = await signCheckpoint({ size: 1, root: leafHash(body) }, signer, key);
  const proof = {
    logIndex: 0,
    treeSize: 1,
    rootHash: root,
    hashes: [],
    checkpoint: source,
    body,
    logId: key.keyId,
  };
  const copy = withBundle(() => formatBundle({ ...bundle, proof }));
  copy.run.set(proofPath, Buffer.from(formatTlogProof({ ...proof, origin: name })));
  return copy;
}

t.test('a proof from another log of the same name is not trusted', async (t) => {
  const { checkpoint } = parseBundle(bytesOf(sealed, bundlePath)).proof ?? { checkpoint: '' };
  const { origin } = parseCheckpoint(checkpoint);
  const stranger = toSigner(generateKey('ed25519'), false);
  const report = await verify(await rebound(machine, await inLogOf(origin, stranger)));
  t.same(troubles(report), [
    'log-inclusion unverified untrusted-log',
    'log-proof unverified untrusted-log',
    'log-history unverified not-run',
  ]);
  t.equal(verifyExitCode(report), 3);
});

/** A machine with the same keys that has forgotten, and what its ledger looked like. */
function twinOf(of: Machine): Machine {
  const twin = makeMachine();
  cpSync(of.root, twin.root, { recursive: true });
  rmSync(join(twin.home, '.config/writ/trust'), { recursive: true, force: true });
  return twin;
}

t.test('a forked log is refused, by size or by a ledger that does not continue', async (t) => {
  const honest = makeMachine();
  await sealRun(honest, { runId: 'run-1' });
  const twin = twinOf(honest);
  const ours = await sealRun(honest, { runId: 'run-2' });
  const theirs = await sealRun(twin, { runId: 'run-2' });
  const verifier = twinOf(honest);
  t.equal((await verifyAs(ours, { machine: verifier })).verified, true);
  const forked = await verifyAs(theirs, { machine: verifier });
  t.same(troubles(forked), ['log-history failed forked']);
  t.equal(verifyExitCode(forked), 1);
  const third = await sealRun(twin, { runId: 'run-3' });
  t.same(troubles(await verifyAs(third, { machine: verifier, ledgerOf: twin })), [
    'log-history failed forked',
  ]);
  t.equal(
    (await verifyAs(third, { machine: twinOf(honest), ledgerOf: twin })).verified,
    true,
    'only memory can tell',
  );
});

t.test('a ledger smaller than the remembered checkpoint is stale', async (t) => {
  const honest = makeMachine();
  const first = await sealRun(honest, { runId: 'run-1' });
  const old = twinOf(honest);
  await sealRun(honest, { runId: 'run-2' });
  const report = await verifyAs(first, { machine: honest, ledgerOf: old });
  t.same(troubles(report), ['log-history failed stale']);
  t.equal(verifyExitCode(report), 1);
  const later = await sealRun(honest, { runId: 'run-3' });
  t.same(
    troubles(await verifyAs(later, { machine: twinOf(old), ledgerOf: old })),
    ['log-history failed stale'],
    'older than the proof itself',
  );
});

t.test('a damaged ledger beside the repository proves no history', async (t) => {
  const honest = makeMachine();
  const first = await sealRun(honest, { runId: 'run-1' });
  await sealRun(honest, { runId: 'run-2' });
  rmSync(join(honest.commonDir, 'writ/ledger/tile/0'), { recursive: true });
  t.same(troubles(await verifyAs(first, { machine: honest, ledgerOf: honest })), [
    'log-history failed malformed',
  ]);
});

t.test('log sizes that cannot be compared without the ledger are reported as not comparable', async (t) => {
  const honest = makeMachine();
  const first = await sealRun(honest, { runId: 'run-1' });
  const second = await sealRun(honest, { runId: 'run-2' });
  const verifier = twinOf(honest);
  t.equal((await verifyAs(second, { machine: verifier })).verified, true);
  const report = await verifyAs(first, { machine: verifier, ledgerOf: machine });
  t.same(troubles(report), ['log-history unverified not-comparable']);
  t.equal(report.verified, true);
  t.same(troubles(await verifyAs(first, { machine: verifier, ledgerOf: honest })), []);
});

t.test('bundles that are truncated, huge, deep or without signatures are malformed', async (t) => {
  const text = bytesOf(sealed, bundlePath).toString();
  const cases: Readonly<Record<string, string>> = {
    cut: text.slice(0, text.length / 2),
    huge: text.replace('"mediaType"', `"x":"${'y'.repeat(5_000_000)}","mediaType"`),
    deep: `${'['.repeat(100_000)}`,
    'without signatures': text.replace(/"signatures":\[.*?\]/, '"signatures":[]'),
    'with a signature twice': text.replace(/"signatures":\[(.*?)\]/, '"signatures":[$1,$1]'),
  };
  for (const [name, bundle] of Object.entries(cases)) {
    const report = await verify(withBundle(() => bundle));
    t.same(troubles(report)[0], 'bundle failed malformed', name);
    t.equal(verifyExitCode(report), 1);
  }
});

t.test('an error while reading the store is thrown, not reported as a verdict', async (t) => {
  const broken = copyOf(sealed);
  broken.run.get = () => {
    throw new Error('EIO');
  };
  await t.rejects(verify(broken), { message: 'EIO' });
});
