import { constants, createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { preAuthEncoding } from '../../../attest/encoding/dsse.ts';
import { canVerifyBy, keyIdOf, parsePublicKeys } from '../../../attest/encoding/public-key.ts';
import type { GivenArtifact } from '../../../attest/verify/given-artifact.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { signatureVerdict, signedDigests } from '../../../attest/verify/signature-verdict.ts';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';
import {
  anchorsOf,
  artifact,
  envelopeBy,
  given,
  inToto,
  type Loose,
  statement,
  verifyStranger,
} from '../verify/strangers.ts';
import { believing, edited, makeFoundry } from './foundry.ts';
import { digestsBy, pemOf, type Scheme, schemes, signAs } from './keys.ts';

const root = mkdtempSync(join(tmpdir(), 'writ-material-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const env = { HOME: join(root, 'home'), PATH: process.env.PATH ?? '' };

const believingKeys = (...keys: readonly KeyObject[]) =>
  anchorsOf({ signers: keys.map((key) => ({ keyId: keyIdOf(key), key, from: 'given' as const })) });

function envelopeOf(scheme: Scheme, key: KeyObject, payload: Loose = statement()): Loose {
  const bytes = Buffer.from(JSON.stringify(payload));
  const sig = signAs(scheme, key, preAuthEncoding(inToto, bytes)).toString('base64');
  return { payload: bytes.toString('base64'), payloadType: inToto, signatures: [{ sig, keyid: '' }] };
}

function messageOf(signature: Buffer, over = artifact, hash = 'sha256'): Loose {
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: '' }, tlogEntries: [] },
    messageSignature: {
      messageDigest: {
        algorithm: `SHA2_${hash.slice(3)}`,
        digest: createHash(hash).update(over).digest('base64'),
      },
      signature: signature.toString('base64'),
    },
  };
}

/** Ed25519 and PSS do not verify over a digest alone. */
const needsBytes = ({ hash, options }: Scheme): boolean =>
  hash === null || options?.padding === constants.RSA_PKCS1_PSS_PADDING;

async function exitOf(bundle: Loose, artifacts: readonly GivenArtifact[], anchors: Loose): Promise<number> {
  return verifyExitCode(await verifyStranger(bundle, { artifacts }, anchors));
}

t.test('every key type and signature format in use verifies, and a flipped bit never does', async (t) => {
  for (const [name, scheme] of Object.entries(schemes)) {
    const { publicKey, privateKey } = scheme.make();
    const anchors = believingKeys(publicKey);
    const envelope = envelopeOf(scheme, privateKey);
    t.equal(await exitOf(envelope, [given], anchors), 0, `${name}: envelope`);
    const signature = signAs(scheme, privateKey, artifact);
    t.equal(await exitOf(messageOf(signature), [given], anchors), 0, `${name}: message, by file`);
    const forged = Buffer.from(signature);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    t.equal(await exitOf(messageOf(forged), [given], anchors), 3, `${name}: by nobody known`);
    const named = edited(messageOf(forged), (b) => {
      b.verificationMaterial.publicKey.hint = keyIdOf(publicKey);
    });
    t.equal(await exitOf(named, [given], anchors), 1, `${name}: not by the key that it names`);
  }
});

long('a message signature verifies by digests alone where the key type allows it', async (t) => {
  for (const [name, scheme] of Object.entries(schemes)) {
    const { publicKey, privateKey } = scheme.make();
    const anchors = believingKeys(publicKey);
    const bundle = messageOf(signAs(scheme, privateKey, artifact));
    const all = { name: 'd', ...digestsBy(artifact, 'sha256', 'sha384', 'sha512') };
    t.equal(await exitOf(bundle, [all], anchors), needsBytes(scheme) ? 3 : 0, name);
    if (scheme.hash === null || scheme.hash === 'sha256') continue;
    const short = { name: 'd', ...digestsBy(artifact, 'sha256') };
    const named = edited(bundle, (b) => {
      b.verificationMaterial.publicKey.hint = keyIdOf(publicKey);
    });
    t.equal(await exitOf(named, [short], anchors), 3, `${name}: a digest by another hash refutes nothing`);
  }
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
  const bundle = messageOf(
    signAs(schemes['P-384, SHA-384, DER'] as Scheme, privateKey, artifact),
    artifact,
    'sha384',
  );
  t.equal(
    await exitOf(bundle, [{ name: 'd', ...digestsBy(artifact, 'sha384') }], believingKeys(publicKey)),
    0,
  );
  t.equal(
    await exitOf(bundle, [{ name: 'd', ...digestsBy(artifact, 'sha256') }], believingKeys(publicKey)),
    3,
  );
});

long('verification by digest agrees with verification by bytes', async (t) => {
  const random = seededRandom(toldSeed(t));
  for (const [name, scheme] of Object.entries(schemes)) {
    if (scheme.hash === null) continue;
    for (let n = 0; n < 8; n += 1) {
      const { publicKey, privateKey } = scheme.make();
      const bytes = Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256)));
      const digests = await signedDigests(
        new Map(
          ['sha256', 'sha384', 'sha512'].map((hash) => [hash, createHash(hash).update(bytes).digest()]),
        ),
      );
      const good = signAs(scheme, privateKey, bytes);
      const broken = Buffer.from(good);
      const at = (n * 7) % broken.length;
      broken[at] = (broken[at] ?? 0) ^ (1 << n);
      t.equal(signatureVerdict(publicKey, bytes, good), 'holds', name);
      t.equal(signatureVerdict(publicKey, digests, good), needsBytes(scheme) ? 'cannot' : 'holds', name);
      t.equal(signatureVerdict(publicKey, bytes, broken), 'does-not', `${name} ${n}`);
      t.not(signatureVerdict(publicKey, digests, broken), 'holds', `${name} ${n}`);
      if (scheme.make.name === 'rsa') break;
    }
  }
});

t.test('base64 of either alphabet verifies with and without padding', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const scheme = schemes['P-256, SHA-256, r‖s'] as Scheme;
  const forms: Record<string, (text: string) => string> = {
    'URL-safe': (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
    'URL-safe without padding': (text) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    'without padding': (text) => text.replace(/=+$/, ''),
  };
  for (const [name, form] of Object.entries(forms))
    for (let n = 0; n < 20; n += 1) {
      const envelope = envelopeOf(scheme, privateKey, statement({ n }));
      const written = edited(envelope, (e) => {
        e.payload = form(e.payload);
        e.signatures[0].sig = form(e.signatures[0].sig);
      });
      t.equal(await exitOf(written, [given], believingKeys(publicKey)), 0, name);
    }
});

t.test('an envelope with several signatures verifies by the trusted one', async (t) => {
  const scheme = schemes['P-256, SHA-256, DER'] as Scheme;
  const [ana, ben, eve] = [scheme.make(), scheme.make(), scheme.make()];
  const by = (...keys: readonly { readonly privateKey: KeyObject }[]): Loose => {
    const [first, ...more] = keys.map(({ privateKey }) => envelopeBy(privateKey, statement()));
    return { ...first, signatures: [first, ...more].flatMap(({ signatures }) => signatures) };
  };
  for (const envelope of [by(ana, ben), by(ben, ana), by(eve, ben, ana)])
    t.equal(await exitOf(envelope, [given], believingKeys(ana.publicKey)), 0);
  t.equal(
    await exitOf(by(ana, ben), [given], believingKeys(ana.publicKey, eve.publicKey)),
    0,
    'any one of those given',
  );
  t.equal(
    await exitOf(by(ben, eve), [given], believingKeys(ana.publicKey)),
    3,
    'others are nobody, and no lie',
  );
  const broken = edited(by(ana, ben), (e) => {
    e.signatures[0].sig = e.signatures[1].sig;
  });
  t.equal(
    await exitOf(broken, [given], believingKeys(ana.publicKey)),
    1,
    'one that names a believed key and is not its',
  );
  t.equal(
    await exitOf(broken, [given], believingKeys(ana.publicKey, ben.publicKey)),
    0,
    'beside one that is',
  );
  const many = by(...Array.from({ length: 33 }, () => ana));
  t.equal(await exitOf(many, [given], believingKeys(ana.publicKey)), 1, 'at most 32');
});

t.test('a key file may hold several keys of any kind, and an unusable key is refused', async (t) => {
  const pairs = Object.values(schemes).map((scheme) => scheme.make());
  const text = `# release keys\n${pemOf(...pairs.map(({ publicKey }) => publicKey))}`;
  t.equal(parsePublicKeys(text).length, pairs.length);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  t.equal(parsePublicKeys(String(publicKey.export({ format: 'pem', type: 'pkcs1' }))).length, 1);
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const other = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey;
  const private_ = String(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  t.notOk(canVerifyBy(small) || canVerifyBy(other));
  for (const [name, pem] of Object.entries({
    'a private key': private_,
    'a private key behind a public one': `${pemOf(publicKey)}${private_}`,
    'RSA of 1,024 bits': pemOf(small),
    'another curve': pemOf(other),
    'a block without end': pemOf(publicKey).replace(/-----END.*/s, ''),
    'no key': 'hello\n',
    'a key that is none': '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
  }))
    t.throws(() => parsePublicKeys(pem), { code: 'KEY_UNUSABLE' }, name);
});

t.test('`writ verify` accepts a file of keys and digests in three hashes or lockfile form', async (t) => {
  const scheme = schemes['P-384, SHA-384, DER'] as Scheme;
  const [one, two] = [scheme.make(), scheme.make()];
  writeFileSync(join(root, 'keys.pem'), pemOf(one.publicKey, two.publicKey));
  writeFileSync(join(root, 'app.tgz'), artifact);
  const subject = [{ name: 'pkg:npm/app@1.0.0', digest: digestsBy(artifact, 'sha512') }];
  writeFileSync(
    join(root, 'app.json'),
    JSON.stringify(envelopeOf(scheme, two.privateKey, statement({ subject }))),
  );
  const { sha256, sha384, sha512 } = digestsBy(artifact, 'sha256', 'sha384', 'sha512');
  const sri = `sha512-${createHash('sha512').update(artifact).digest('base64')}`;
  const verify = async (value: string) => {
    const line = ['--json', 'verify', 'app.json', '--key', 'keys.pem', '--artifact', value];
    return (await runLine(line, commands, { cwd: root, env })).code;
  };
  t.equal(await verify('app.tgz'), 0);
  t.equal(await verify(`sha512:${sha512}`), 0);
  t.equal(await verify(sri), 0);
  t.equal(await verify(`sha256:${sha256}`), 3, 'nothing to compare with');
  t.equal(await verify(`sha384:${sha384}`), 3);
  t.equal(await verify(`sha512:${'0'.repeat(128)}`), 1);
  t.equal(await verify(sri.replace(/^sha512-./, 'sha512-!')), 129);
  t.equal(await verify(`sha512:${sha256}`), 129, 'digits of another hash');
  t.equal(await verify(`sha512:${String(sha512).toUpperCase()}`), 129);
});

t.test('an npm package verifies by its publish attestation and by its provenance', async (t) => {
  const foundry = await makeFoundry();
  const registry = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const keyId = `SHA256:${createHash('sha256')
    .update(
      createPublicKey(registry.publicKey.export({ format: 'pem', type: 'spki' })).export({
        format: 'der',
        type: 'spki',
      }),
    )
    .digest('base64')}`;
  const subject = [{ name: 'pkg:npm/%40example/app@1.0.0', digest: digestsBy(artifact, 'sha512') }];
  const publishOf = (version: string) =>
    foundry.make({
      version: '0.2',
      entry: 'intoto',
      key: { privateKey: registry.privateKey, hint: keyId },
      payload: {
        _type: 'https://in-toto.io/Statement/v0.1',
        subject,
        predicateType: 'https://github.com/npm/attestation/tree/main/specs/publish/v0.1',
        predicate: { name: '@example/app', version, registry: 'https://registry.example.org' },
      },
    });
  const publish = await publishOf('1.0.0');
  const provenance = await foundry.make({ version: '0.3', entry: 'dsse', payload: statement({ subject }) });
  const file: GivenArtifact = { name: 'app.tgz', ...digestsBy(artifact, 'sha256', 'sha384', 'sha512') };
  const npm = { ...believing(foundry.root), ...believingKeys(registry.publicKey) };
  const report = await verifyStranger(provenance, { artifacts: [file] }, believing(foundry.root));
  t.same(
    report.checks.filter(({ status }) => status !== 'passed'),
    [],
  );
  t.equal(await exitOf(publish, [file], npm), 0);
  t.equal(
    await exitOf(await publishOf('2.0.0'), [file], npm),
    1,
    'a version that is not that of its subject',
  );
  const types = ['https://github.com/npm/attestation/tree/main/specs/publish/v0.1'];
  t.equal((await verifyStranger(publish, { artifacts: [file], types }, npm)).verified, true);
  const other = { name: 'x', ...digestsBy(Buffer.from('x'), 'sha256', 'sha384', 'sha512') };
  t.equal(await exitOf(provenance, [other], believing(foundry.root)), 1, 'another tarball');
});
