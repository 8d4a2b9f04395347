import { createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { keyIdOf } from '../../../attest/encoding/public-key.ts';
import { generateKey } from '../../../attest/keys/key-signer.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { troubles } from './sealed-run.ts';
import {
  anchorsOf,
  artifact,
  bundleBy,
  envelopeBy,
  given,
  identity,
  issuer,
  type Loose,
  makeAuthorities,
  rootAnchors,
  signerId,
  signerKey,
  statement,
  verifyStranger,
} from './strangers.ts';

/** `troubles` of a bundle that must not verify, and its exit code. */
async function refusal(bundle: Loose, ...more: Loose[]): Promise<readonly unknown[]> {
  const report = await verifyStranger(bundle, ...more);
  return [verifyExitCode(report), ...troubles(report).filter((one) => !/not-run|not-required/.test(one))];
}

function edited(bundle: Loose, edit: (copy: Loose) => void): Loose {
  const copy = structuredClone(bundle);
  edit(copy);
  return copy;
}

t.test('a bundle and a bare envelope verify with a given key and artifact', async (t) => {
  for (const one of [bundleBy(statement()), envelopeBy(signerKey, statement())]) {
    const report = await verifyStranger(one);
    t.equal(report.verified, true);
    t.same(troubles(report), ['log unverified not-required']);
    t.equal(report.ran, report.expected);
    t.same(report.grounds.signer, { key_id: signerId, anchor: 'given' });
  }
});

t.test('without a hint any given key is tried, but no pinned key', async (t) => {
  const unnamed = bundleBy(statement(), { dsseEnvelope: envelopeBy(signerKey, statement(), undefined, '') });
  unnamed.verificationMaterial.publicKey.hint = '';
  t.equal((await verifyStranger(unnamed)).verified, true);
  const pinned = anchorsOf({
    signers: [{ keyId: signerId, key: createPublicKey(signerKey), from: 'pinned' }],
  });
  t.same(await refusal(unnamed, {}, pinned), [3, 'signature unverified untrusted-signer']);
  t.equal((await verifyStranger(bundleBy(statement()), {}, pinned)).verified, true);
  const cosign = structuredClone(unnamed);
  cosign.verificationMaterial.publicKey.hint = Buffer.from(signerId, 'hex').toString('base64');
  t.equal(
    (await verifyStranger(cosign, {}, pinned)).verified,
    true,
    'base64 of the digest, as cosign writes it',
  );
});

t.test('a bundle or statement with a malformed structure is refused', async (t) => {
  const good = bundleBy(statement());
  const payload = Buffer.from(`{"_type":"x",${JSON.stringify(statement()).slice(1)}`);
  const cases: Record<string, [Loose, string]> = {
    'not JSON': [Buffer.from('{'), 'bundle'],
    empty: [Buffer.from(''), 'bundle'],
    'too deep': [Buffer.from(`{"dsseEnvelope":${'['.repeat(40)}${']'.repeat(40)}}`), 'bundle'],
    'keys twice in the bundle': [
      Buffer.from(JSON.stringify(good).replace('{', '{"mediaType":"x",')),
      'bundle',
    ],
    'no signature': [edited(good, (b) => (b.dsseEnvelope.signatures = [])), 'bundle'],
    'several signatures': [
      edited(good, (b) => b.dsseEnvelope.signatures.push(b.dsseEnvelope.signatures[0])),
      'bundle',
    ],
    'two kinds of signer': [
      edited(good, (b) => (b.verificationMaterial.certificate = { rawBytes: 'AAAA' })),
      'bundle',
    ],
    'no kind of signer': [edited(good, (b) => delete b.verificationMaterial.publicKey), 'bundle'],
    'two kinds of content': [edited(good, (b) => (b.messageSignature = {})), 'bundle'],
    'no content': [edited(good, (b) => delete b.dsseEnvelope), 'bundle'],
    'a hint that is another key': [
      edited(good, (b) => (b.verificationMaterial.publicKey.hint = '0'.repeat(64))),
      'bundle',
    ],
    'another media type': [edited(good, (b) => (b.mediaType = 'application/json')), 'bundle'],
    'white space in base64': [
      edited(good, (b) => (b.dsseEnvelope.payload = ` ${b.dsseEnvelope.payload}`)),
      'bundle',
    ],
    'keys twice in the payload': [bundleBy(payload), 'statement'],
    'no predicate type': [bundleBy(statement({ predicateType: undefined })), 'statement'],
    'upper-case digests': [
      bundleBy(statement({ subject: [{ digest: { sha256: 'A'.repeat(64) } }] })),
      'statement',
    ],
    'a payload that is no statement': [bundleBy(Buffer.from('hello')), 'statement'],
  };
  for (const [name, [bundle, at]] of Object.entries(cases))
    t.same(await refusal(bundle), [1, `${at} failed malformed`], name);
});

t.test('a statement is refused for wrong subjects or a negative predicate', async (t) => {
  const cases: Record<string, [Loose, string]> = {
    'zero subjects': [bundleBy(statement({ subject: [] })), 'statement failed wrong-subject'],
    'a subject without digest': [
      bundleBy(statement({ subject: [{ name: 'app.tgz', digest: {} }] })),
      'statement failed wrong-subject',
    ],
    'another artifact': [
      bundleBy(statement({ subject: [{ name: 'app.tgz', digest: { sha256: '0'.repeat(64) } }] })),
      'subject failed wrong-subject',
    ],
    'a verdict of FAILED': [
      bundleBy(
        statement({
          predicateType: 'https://slsa.dev/verification_summary/v1',
          predicate: { verificationResult: 'FAILED' },
        }),
      ),
      'predicate failed policy-deny',
    ],
    'failed tests': [
      bundleBy(
        statement({
          predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
          predicate: { result: 'FAILED' },
        }),
      ),
      'predicate failed policy-deny',
    ],
    'a decision to abandon': [
      bundleBy(
        statement({ predicateType: 'urn:writ:predicate:decision:v1', predicate: { decision: 'abandon' } }),
      ),
      'predicate failed policy-deny',
    ],
    'a revocation': [
      bundleBy(statement({ predicateType: 'urn:writ:predicate:revocation:v1', predicate: { run_id: 'r' } })),
      'predicate failed revoked',
    ],
    'a provenance without builder': [
      bundleBy(statement({ predicate: { buildDefinition: { buildType: 'x' } } })),
      'predicate failed malformed',
    ],
  };
  for (const [name, [bundle, trouble]] of Object.entries(cases))
    t.same(await refusal(bundle), [1, trouble], name);
});

t.test('unknown types and digests that cannot be compared are unverified, not refuted', async (t) => {
  const typed = (payloadType: string) =>
    bundleBy(statement(), { dsseEnvelope: envelopeBy(signerKey, statement(), payloadType) });
  const about = (digest: Loose) => bundleBy(statement({ subject: [{ name: 'app.tgz', digest }] }));
  const cases: Record<string, [Loose, string]> = {
    'another payload type': [typed('application/json'), 'statement unverified wrong-type'],
    'another statement type': [
      bundleBy(statement({ _type: 'https://example.org/x' })),
      'statement unverified wrong-type',
    ],
    'an unknown predicate': [
      bundleBy(statement({ predicateType: 'https://example.org/p' })),
      'predicate unverified not-judged',
    ],
    'a digest that was not given': [about({ sha512: given.sha256.repeat(2) }), 'subject missing missing'],
    'a hash that nobody relies on': [about({ sha1: '1'.repeat(40) }), 'subject missing missing'],
  };
  for (const [name, [bundle, trouble]] of Object.entries(cases))
    t.same(await refusal(bundle), [3, trouble], name);
  t.equal(
    (await verifyStranger(typed('application/vnd.in-toto.provenance+json'))).verified,
    true,
    'a payload type may name the predicate, and is not relied on',
  );
});

t.test('a requested predicate type must match, and a mismatch reports the type found', async (t) => {
  const other = bundleBy(statement({ predicateType: 'https://example.org/p', predicate: {} }));
  const asked = await verifyStranger(other, { types: ['https://example.org/p'] });
  t.equal(asked.verified, true);
  t.same(troubles(asked), ['log unverified not-required', 'predicate unverified not-judged']);
  t.same(await refusal(other), [3, 'predicate unverified not-judged'], 'nobody asked for it');
  const report = await verifyStranger(bundleBy(statement()), { types: ['https://example.org/p'] });
  t.match(
    report.checks.find(({ id }) => id === 'predicate'),
    {
      code: 'wrong-type',
      detail: { expected: ['https://example.org/p'], found: 'https://slsa.dev/provenance/v1' },
    },
  );
});

t.test('without an artifact, the subject must be a known commit, else nothing is verified', async (t) => {
  const commit = '1'.repeat(40);
  const about = bundleBy(statement({ subject: [{ name: 'c', digest: { gitCommit: commit } }] }));
  const findCommit = async (ids: readonly string[]) => ids.find((id) => id === commit);
  const headCommit = async () => commit;
  t.equal((await verifyStranger(about, { artifacts: [], findCommit, headCommit })).verified, true);
  const nowhere = await verifyStranger(about, { artifacts: [], headCommit: async () => undefined });
  t.equal(verifyExitCode(nowhere), 3);
  t.match(
    nowhere.checks.find(({ id }) => id === 'subject'),
    {
      status: 'missing',
      code: 'missing',
      detail: { found: [`c gitCommit:${commit}`] },
    },
  );
  t.same(await refusal(bundleBy(statement()), { artifacts: [] }), [3, 'subject missing missing']);
  const both = [given, { name: 'b', sha256: '2'.repeat(64) }];
  t.same(
    await refusal(bundleBy(statement()), { artifacts: both }),
    [1, 'subject failed wrong-subject'],
    'every one given',
  );
});

t.test('an unknown signer is untrusted, a wrong signature fails, and no later check runs', async (t) => {
  const other = generateKey('ecdsa-p256-sha256');
  const report = await verifyStranger(bundleBy(statement(), {}, other));
  t.equal(verifyExitCode(report), 3);
  t.match(report.checks[1], {
    id: 'signature',
    code: 'untrusted-signer',
    detail: { key_id: keyIdOf(createPublicKey(other)), tried: [signerId] },
  });
  t.equal(report.ran, 1);
  const forged = edited(bundleBy(statement()), (b) => {
    b.dsseEnvelope.payload = Buffer.from(JSON.stringify(statement({ predicate: {} }))).toString('base64');
  });
  t.same(await refusal(forged), [1, 'signature failed bad-signature']);
  t.same(await refusal(bundleBy(statement()), {}, anchorsOf({ signers: [] })), [
    3,
    'signature unverified untrusted-signer',
  ]);
});

t.test('a bundle alone leaves replay, spec and log requirements as missing', async (t) => {
  t.same(await refusal(bundleBy(statement()), { replay: true }), [3, 'replay missing missing']);
  t.same(await refusal(bundleBy(statement()), { specDigest: '0'.repeat(64) }), [3, 'spec missing missing']);
  t.same(await refusal(bundleBy(statement()), { logged: true }), [3, 'log missing not-logged']);
});

t.test('a message signature is verified over the artifact’s bytes or digest', async (t) => {
  const digest = Buffer.from(given.sha256, 'hex').toString('base64');
  const bundle: Loose = bundleBy(statement(), {
    dsseEnvelope: undefined,
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest },
      signature: sign('sha256', artifact, signerKey).toString('base64'),
    },
  });
  t.equal((await verifyStranger(bundle)).verified, true);
  const byDigest = { name: 'd', sha256: given.sha256 };
  t.equal((await verifyStranger(bundle, { artifacts: [byDigest] })).verified, true);
  const forged = edited(bundle, (b) => {
    b.messageSignature.signature = sign('sha256', Buffer.from('x'), signerKey).toString('base64');
  });
  t.same(await refusal(forged, { artifacts: [byDigest] }), [1, 'signature failed bad-signature']);
  t.same(await refusal(bundle, { artifacts: [] }), [3, 'subject missing missing']);
  t.same(await refusal(bundle, { artifacts: [{ ...byDigest, sha256: '0'.repeat(64) }] }), [
    1,
    'subject failed wrong-subject',
  ]);
  const lying = { ...given, read: async () => Buffer.from('other bytes') };
  t.same(await refusal(bundle, { artifacts: [lying] }), [1, 'signature failed bad-signature']);
});

t.test('a certificate counts only with a valid chain, time and log, and an exact identity', async (t) => {
  const { root, sign: signBy, signMessage } = await makeAuthorities();
  const good = await signBy(statement());
  const report = await verifyStranger(good, {}, rootAnchors(root));
  t.same(troubles(report), []);
  t.equal(report.verified, true);
  t.same(report.grounds.signer, { identity, issuer });
  const message = await signMessage();
  t.equal((await verifyStranger(message, {}, rootAnchors(root))).verified, true);
  t.same(
    await refusal(
      message,
      { artifacts: [{ ...given, read: async () => Buffer.from('x') }] },
      rootAnchors(root),
    ),
    [1, 'signature failed bad-signature'],
  );

  const asIf = (name: string, by = issuer) => rootAnchors(root, { identity: name, issuer: by });
  const nobody = [3, 'identity unverified untrusted-signer'];
  t.same(await refusal(good, {}, asIf('.*')), nobody, 'no pattern');
  t.same(await refusal(good, {}, asIf(identity.replaceAll('.', '?'))), nobody);
  t.same(await refusal(good, {}, asIf(identity.slice(0, -1))), nobody, 'no prefix');
  t.same(await refusal(good, {}, asIf(identity, `${issuer}/`)), nobody);
  t.same(
    await refusal(await signBy(statement(), { by: undefined }), {}, asIf(identity, 'none')),
    nobody,
    'no issuer is nobody',
  );
  t.equal(
    (
      await verifyStranger(
        await signBy(statement(), { name: 'ana@example.org' }),
        {},
        asIf('ana@example.org'),
      )
    ).verified,
    true,
  );

  t.same(
    await refusal(good, {}, anchorsOf()),
    [3, 'signature unverified untrusted-signer'],
    'no root, no trust',
  );
  const told = await verifyStranger(good, {}, anchorsOf());
  t.match(told.checks[1], { detail: { identity, issuer } }, 'and who to ask about is told');
  const others = await makeAuthorities();
  t.same((await refusal(good, {}, rootAnchors(others.root)))[0], 3, 'another authority');
  t.same(await refusal(good, {}, rootAnchors({ ...root, tlogs: others.root.tlogs })), [
    3,
    'log unverified untrusted-log',
  ]);
  const unlogged = edited(good, (b) => (b.verificationMaterial.tlogEntries = []));
  t.same(await refusal(unlogged, {}, rootAnchors(root)), [3, 'signature missing missing'], 'no signed time');
  const stale = await makeAuthorities(new Date(Date.now() - 86_400_000));
  const late = edited(await stale.sign(statement()), (b) => {
    b.verificationMaterial.tlogEntries = good.verificationMaterial.tlogEntries;
  });
  const elder = { ...root, certificateAuthorities: stale.root.certificateAuthorities };
  t.same(
    await refusal(late, {}, rootAnchors(elder)),
    [1, 'signature failed stale'],
    'expired when it signed',
  );
  const swapped = edited(good, (b) => {
    b.dsseEnvelope.payload = Buffer.from(JSON.stringify(statement({ predicate: {} }))).toString('base64');
  });
  t.same(await refusal(swapped, {}, rootAnchors(root)), [1, 'log failed mismatch']);
});

t.test('`parseTrustedRoot` refuses missing validity starts, unusable keys and empty roots', async (t) => {
  const { root } = await makeAuthorities();
  const parse = (edit: (copy: Loose) => void) => () =>
    parseTrustedRoot(Buffer.from(JSON.stringify(edited(root, edit))));
  t.doesNotThrow(parse(() => undefined));
  const cases: Record<string, (copy: Loose) => void> = {
    'a log without start': (r) => delete r.tlogs[0].publicKey.validFor.start,
    'a log without validity': (r) => delete r.tlogs[0].publicKey.validFor,
    'an authority without start': (r) => delete r.certificateAuthorities[0].validFor.start,
    'a log without id': (r) => delete r.tlogs[0].logId,
    'a key that is none': (r) => (r.tlogs[0].publicKey.rawBytes = 'AAAA'),
    nobody: (r) => Object.assign(r, { tlogs: [], certificateAuthorities: [] }),
    'another document': (r) => (r.mediaType = 'application/json'),
  };
  for (const [name, edit] of Object.entries(cases))
    t.throws(parse(edit), { code: 'ATTESTATION_MALFORMED' }, name);
});

t.test('accepts many subjects, and does not refute a predicate that is nested too deep', async (t) => {
  const types = ['https://example.org/p'];
  const typed = { predicateType: types[0] };
  const nested = (depth: number) => {
    const text = JSON.stringify(statement({ ...typed, predicate: { x: 'NESTED' } }));
    return bundleBy(Buffer.from(text.replace('"NESTED"', '['.repeat(depth) + ']'.repeat(depth))));
  };
  t.equal((await verifyStranger(nested(998), { types })).verified, true);
  t.match(
    (await verifyStranger(nested(100_000), { types })).checks.find(({ id }) => id === 'statement'),
    {
      status: 'unverified',
      code: 'unsupported',
    },
  );
  const others = Array.from({ length: 20_000 }, (_, n) => ({
    name: `${n}`,
    digest: { sha256: sha256Hex(Buffer.from(`${n}`)) },
  }));
  const subject = [...others, ...statement().subject];
  t.equal((await verifyStranger(bundleBy(statement({ subject })))).verified, true);
});

t.test('`parseTrustedRoot` reads one root on each line, and names the line that is malformed', async (t) => {
  const [one, two] = [(await makeAuthorities()).root, (await makeAuthorities()).root];
  const parse = (...lines: readonly string[]) => parseTrustedRoot(Buffer.from(lines.join('\n')));
  const { root, members } = parse(JSON.stringify(one), '', JSON.stringify(two), '');
  t.equal(members.length, 2);
  t.equal(root.tlogs.length, 2);
  t.equal(root.certificateAuthorities.length, 2);
  t.equal(parse(JSON.stringify(one, null, 2)).members.length, 1, 'a document on several lines is one');
  t.throws(() => parse(JSON.stringify(one), '{}'), { code: 'ATTESTATION_MALFORMED', message: /^line 2: / });
  t.throws(() => parse(JSON.stringify(one), JSON.stringify({ ...two, tlogs: [{}] })), {
    code: 'ATTESTATION_MALFORMED',
    message: /^line 2: /,
  });
  t.throws(() => parse(...Array(17).fill(JSON.stringify(one))), { code: 'ATTESTATION_MALFORMED' });
});

t.test('`parseTrustedRoot` reads the public root of sigstore with its Ed25519 log', async (t) => {
  const seeds = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('@sigstore/tuf/seeds.json'), 'utf8'),
  );
  const file = seeds['https://tuf-repo-cdn.sigstore.dev'].targets['trusted_root.json'];
  const { ledgers, root } = parseTrustedRoot(Buffer.from(file, 'base64'));
  t.same(
    ledgers.map(({ name }) => name),
    ['log2025-1.rekor.sigstore.dev'],
  );
  t.ok(root.tlogs.length > 1);
});
