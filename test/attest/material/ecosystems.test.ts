/*
 * What other tools hand out, in the forms that they document: each verifies by the anchors that its consumer has, is
 * refuted where it was tampered with, and is exit 3 where it is genuine and cannot be judged by what was given.
 */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { Readable } from 'node:stream';
import t from 'tap';
import { readArtifact } from '../../../api/verify/artifact.ts';
import { preAuthEncoding } from '../../../attest/encoding/dsse.ts';
import { keyIdOf } from '../../../attest/encoding/public-key.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { anchorsOf, artifact, inToto, type Loose, statement, verifyStranger } from '../verify/strangers.ts';
import { believing, builder, edited, github, makeFoundry } from './foundry.ts';
import { digestsBy, pemOf } from './keys.ts';

const foundry = await makeFoundry();
const file = {
  name: 'app.tgz',
  ...digestsBy(artifact, 'sha256', 'sha384', 'sha512'),
  read: async () => artifact,
};
const byDigest = { name: 'd', ...digestsBy(artifact, 'sha256') };
const vendor = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const byVendor: Anchors = anchorsOf({
  signers: [{ keyId: keyIdOf(vendor.publicKey), key: vendor.publicKey, from: 'given' }],
});
const exitOf = async (bundle: Loose, anchors: Anchors, more: Loose = {}) =>
  verifyExitCode(await verifyStranger(bundle, { artifacts: [file], ...more }, anchors));
const other = Buffer.from(JSON.stringify(statement({ predicate: { x: 1 } }))).toString('base64');

t.test('cosign blobs, attestations and old bundle formats verify', async (t) => {
  const keyHint = createHash('sha256')
    .update(vendor.publicKey.export({ format: 'der', type: 'spki' }))
    .digest('base64');
  const key = { privateKey: vendor.privateKey, hint: keyHint };
  const blob = await foundry.make({ message: artifact, key, entry: 'none' });
  t.equal(await exitOf(blob, byVendor), 0);
  t.equal(await exitOf(blob, byVendor, { artifacts: [byDigest] }), 0, 'by digest');
  t.equal(
    await exitOf(
      edited(blob, (b) => {
        b.messageSignature.signature = b.messageSignature.messageDigest.digest;
      }),
      byVendor,
    ),
    1,
    'cosign names its key, and that key did not make it',
  );
  const logged = await foundry.make({ message: artifact, key });
  const both = { ...byVendor, trustedRoot: believing(foundry.root).trustedRoot } as Anchors;
  t.equal(await exitOf(logged, both, { logged: true }), 0, 'with its entry in the public log');
  const custom = statement({
    predicateType: 'https://cosign.sigstore.dev/attestation/v1',
    predicate: { Data: 'ok', Timestamp: '2026-01-01T00:00:00Z' },
  });
  const attestation = await foundry.make({ payload: custom });
  t.equal(await exitOf(attestation, believing(foundry.root)), 3, 'a type that nobody asked for');
  t.equal(await exitOf(attestation, believing(foundry.root), { types: [custom.predicateType] }), 0);
  const first = {
    base64Signature: 'AAAA',
    cert: 'AAAA',
    rekorBundle: { SignedEntryTimestamp: 'AAAA', Payload: {} },
  };
  t.equal(await exitOf(first, both), 3, 'a form that is not read here is no lie');
});

t.test('a GitHub attestation by its own authority, time-stamped and not logged, verifies', async (t) => {
  // Its certificates are in no certificate log.
  const inner = await makeFoundry({ sct: false });
  const { timestampAuthorities, certificateAuthorities } = inner.root;
  const trust = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [],
    certificateAuthorities,
    ctlogs: [],
    timestampAuthorities,
  };
  const payload = statement({
    subject: [{ name: 'app.tgz', digest: digestsBy(artifact, 'sha256') }],
    predicate: {
      buildDefinition: {
        buildType: 'https://actions.github.io/buildtypes/workflow/v1',
        externalParameters: { workflow: { ref: 'refs/tags/v1.0.0', path: '.github/workflows/release.yml' } },
        internalParameters: { github: { runner_environment: 'github-hosted' } },
        resolvedDependencies: [
          {
            uri: 'git+https://github.com/example/app@refs/tags/v1.0.0',
            digest: { gitCommit: '1'.repeat(40) },
          },
        ],
      },
      runDetails: {
        builder: { id: builder },
        metadata: { invocationId: 'https://github.com/example/app/actions/runs/1/attempts/1' },
      },
    },
  });
  const bundle = await inner.make({ payload, entry: 'none', stamped: true });
  t.equal(await exitOf(bundle, believing(trust)), 0);
  t.equal(await exitOf(bundle, believing(trust, { identity: builder, issuer: 'https://x' })), 3);
  t.equal(
    await exitOf(
      edited(bundle, (b) => (b.dsseEnvelope.payload = other)),
      believing(trust),
    ),
    1,
  );
  const unstamped = edited(bundle, (b) => delete b.verificationMaterial.timestampVerificationData);
  t.equal(await exitOf(unstamped, believing(trust)), 3, 'no time, no verdict');
});

t.test('SLSA provenance 0.2 of slsa-github-generator and npm is read whole', async (t) => {
  const repository = 'git+https://github.com/example/app@refs/tags/v1.0.0';
  const digest = { sha1: 'c'.repeat(40) };
  const predicate = {
    builder: { id: builder },
    buildType: 'https://github.com/slsa-framework/slsa-github-generator/go@v1',
    invocation: {
      configSource: { uri: repository, digest, entryPoint: '.github/workflows/release.yml' },
      parameters: {},
      environment: { github_run_id: '7', github_event_payload: { size: 1 } },
    },
    buildConfig: { steps: [], version: 1 },
    metadata: {
      buildInvocationID: '7-1',
      buildStartedOn: '2026-01-01T00:00:00Z',
      buildFinishedOn: '2026-01-01T00:01:00Z',
      completeness: { parameters: true, environment: false, materials: false },
      reproducible: false,
    },
    materials: [{ uri: repository, digest }, { uri: 'https://example.org/runner' }],
  };
  const answer = async (changes: Loose) => {
    const payload = statement({
      _type: 'https://in-toto.io/Statement/v0.1',
      predicateType: 'https://slsa.dev/provenance/v0.2',
      predicate: { ...predicate, ...changes },
    });
    const bundle = await foundry.make({ payload });
    return verifyStranger(bundle, { artifacts: [file] }, believing(foundry.root));
  };
  t.equal(verifyExitCode(await answer({})), 0);
  const minimal = { invocation: null, buildConfig: undefined, metadata: null, materials: null };
  t.equal(verifyExitCode(await answer(minimal)), 0, 'without what is optional');
  const source = (configSource: Loose) => ({ invocation: { configSource } });
  const metadata = (changes: Loose) => ({ metadata: { ...predicate.metadata, ...changes } });
  const wrong: Record<string, Loose> = {
    'no builder': { builder: undefined },
    'a builder without id': { builder: {} },
    'a builder that is no URI': { builder: { id: 'x' } },
    'no build type': { buildType: '' },
    'parameters that are no object': { invocation: { parameters: ['x'] } },
    'an invocation that is text': { invocation: 'x' },
    'a source with a short digest': source({ uri: repository, digest: { sha1: 'c' } }),
    'a source that is no URI': source({ uri: 7 }),
    'an entry point of two lines': source({ uri: repository, entryPoint: 'a\nb' }),
    'a material without uri and digest': { materials: [{}] },
    'materials that are no list': { materials: { uri: repository } },
    'an end before the start': metadata({ buildFinishedOn: '2025-01-01T00:00:00Z' }),
    'a time that the calendar lacks': metadata({ buildStartedOn: '2026-02-30T00:00:00Z' }),
    'completeness that is text': metadata({ completeness: { materials: 'yes' } }),
    'both names of the invocation': metadata({ buildInvocationId: '8' }),
  };
  for (const [name, changes] of Object.entries(wrong)) {
    const report = await answer(changes);
    t.equal(verifyExitCode(report), 1, name);
    t.match(
      report.checks.find(({ id }) => id === 'predicate'),
      { status: 'failed', code: 'malformed' },
      name,
    );
  }
  const late = metadata({ buildFinishedOn: new Date(Date.now() + 86_400_000).toISOString() });
  t.equal(verifyExitCode(await answer(late)), 3, 'a time that has not come');
  t.equal(verifyExitCode(await answer({ Materials: [] })), 1, 'materials under two names');
});

t.test('a subject with an identifier instead of a hash is compared as text', async (t) => {
  const cwd = t.testdir({ 'file_id:1': 'x' });
  const source = { cwd, stdin: Readable.from([]), signal: new AbortController().signal };
  const payload = statement({ subject: [{ name: '_', digest: { image_id: '8970' } }] });
  const bundle = await foundry.make({ payload });
  const answer = async (name: string) =>
    exitOf(bundle, believing(foundry.root), { artifacts: [await readArtifact(source, name)] });
  t.equal(await answer('image_id:8970'), 0);
  t.equal(await answer('image_id:89701'), 1, 'another identifier');
  t.equal(await answer('other_id:8970'), 3, 'an identifier of another kind');
  t.equal(await exitOf(bundle, believing(foundry.root)), 3, 'a file');
  const message = await foundry.make({ message: artifact });
  const named = [await readArtifact(source, 'image_id:8970')];
  t.equal(await exitOf(message, believing(foundry.root), { artifacts: named }), 3, 'a message signature');
  t.ok((await readArtifact(source, 'file_id:1')).sha256, 'a file of that name is the file');
  for (const name of ['sha_256:aa', 'sha265:aa', 'git_commit:aa', 'x:1', 'an_id:a/b'])
    await t.rejects(readArtifact(source, name), { code: 'INPUT_UNREADABLE' }, name);
});

t.test('a gitsign attestation about a commit verifies by the hash of the commit', async (t) => {
  const commit = 'c'.repeat(40);
  const predicateType = 'https://gitsign.sigstore.dev/predicate/git/v0.1';
  const payload = statement({
    _type: 'https://in-toto.io/Statement/v0.1',
    subject: [{ name: 'git@example.org:app.git', digest: { sha1: commit } }],
    predicateType,
    predicate: {
      source: { tree: 'd'.repeat(40), author: { name: 'Ana', email: 'ana@example.org' } },
      signature: '',
    },
  });
  const bundle = await foundry.make({
    payload,
    name: 'https://github.com/ana',
    issuer: 'https://github.com/login/oauth',
  });
  const anchors = believing(foundry.root, {
    identity: 'https://github.com/ana',
    issuer: 'https://github.com/login/oauth',
  });
  const asked = { artifacts: [], types: [predicateType] };
  const findCommit = async (ids: readonly string[]) => ids.find((id) => id === commit);
  const headCommit = async () => commit;
  t.equal(await exitOf(bundle, anchors, { ...asked, findCommit, headCommit }), 0);
  t.equal(
    await exitOf(bundle, anchors, { ...asked, headCommit: async () => undefined }),
    3,
    'a commit that is not at hand',
  );
  t.equal(await exitOf(bundle, anchors, { types: [predicateType] }), 3, 'a file cannot be compared with it');
});

t.test('a witness envelope with certificates and time stamps in its signatures verifies', async (t) => {
  const collection = statement({
    _type: 'https://in-toto.io/Statement/v0.1',
    subject: [
      {
        name: 'https://witness.dev/attestations/product/v0.1/file:app.tgz',
        digest: digestsBy(artifact, 'sha256'),
      },
      { name: 'https://witness.dev/attestations/git/v0.1/commithash:x', digest: { sha1: 'e'.repeat(40) } },
    ],
    predicateType: 'https://witness.testifysec.com/attestation-collection/v0.1',
    predicate: { name: 'build', attestations: [] },
  });
  const payload = Buffer.from(JSON.stringify(collection));
  const pem = pemOf(vendor.publicKey);
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: inToto,
    signatures: [
      {
        keyid: createHash('sha256').update(pem).digest('hex'),
        sig: sign('sha256', preAuthEncoding(inToto, payload), vendor.privateKey).toString('base64'),
        certificate: Buffer.from(pem).toString('base64'),
        intermediates: null,
        timestamps: [{ type: 'tsp', data: 'AAAA' }],
      },
    ],
  };
  const types = [collection.predicateType];
  t.equal(await exitOf(envelope, byVendor, { types }), 0);
  t.equal(await exitOf(envelope, byVendor), 3);
  t.equal(
    await exitOf(envelope, byVendor, { types: ['https://example.org/p'] }),
    1,
    'another type than was asked for',
  );
  t.equal(
    await exitOf({ ...envelope, payload: other }, byVendor, { types }),
    3,
    'its key id names nobody: perhaps another’s',
  );
  const missing = statement({ ...collection, subject: [collection.subject[0]] });
  const wrong = { name: 'x', ...digestsBy(Buffer.from('x'), 'sha256', 'sha384', 'sha512') };
  const alone = await foundry.make({
    payload: missing,
    key: { privateKey: vendor.privateKey, hint: '' },
    entry: 'none',
  });
  t.equal(await exitOf(alone, byVendor, { types, artifacts: [wrong] }), 1, 'another file');
});

t.test('in-toto metadata without an envelope is unsupported, not refuted', async (t) => {
  const link = {
    signed: { _type: 'link', name: 'build', materials: {}, products: {} },
    signatures: [{ keyid: 'a', sig: 'b' }],
  };
  const report = await verifyStranger(link, { artifacts: [file] }, byVendor);
  t.equal(verifyExitCode(report), 3);
  t.match(report.checks[0], { id: 'bundle', status: 'unverified', code: 'unsupported' });
});

t.test('a GitHub attestation of a public repository verifies, with or without its time stamp', async (t) => {
  const bundle = await foundry.make({ stamped: true });
  t.equal(await exitOf(bundle, believing(foundry.root)), 0);
  const unknowing = believing({ ...foundry.root, timestampAuthorities: null });
  t.equal(await exitOf(bundle, unknowing), 0, 'a root that knows the log and not the time-stamp authority');
  t.equal(await exitOf(bundle, believing(foundry.root, { identity: builder, issuer: `${github}x` })), 3);
});

t.test('requirements for a statement are reported as missing for a signed message', async (t) => {
  const key = { privateKey: vendor.privateKey, hint: '' };
  const blob = await foundry.make({ message: artifact, key, entry: 'none' });
  const report = await verifyStranger(
    blob,
    {
      artifacts: [file],
      specDigest: 'ab',
      types: ['https://example.org/p'],
      summary: {
        verifierId: 'https://example.org/v',
        resourceUri: 'pkg:npm/a',
        levels: ['SLSA_BUILD_LEVEL_2'],
      },
    },
    byVendor,
  );
  const asked = ['spec', 'predicate', 'verifier-id', 'resource-uri', 'level:SLSA_BUILD_LEVEL_2'];
  for (const id of asked)
    t.match(
      report.checks.find((check) => check.id === id),
      { status: 'missing', code: 'missing' },
      id,
    );
  t.equal(verifyExitCode(report), 3);
});
