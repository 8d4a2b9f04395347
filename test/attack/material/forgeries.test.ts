/*
 * The mirror of what is lenient towards genuine material: each leniency, and the forgery that it must not let pass. 0
 * is what a forger wants; 1 and 3 are as good.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { preAuthEncoding } from '../../../attest/encoding/dsse.ts';
import { keyIdOf } from '../../../attest/encoding/public-key.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { parseTrustedRoot } from '../../../attest/public/trusted-root.ts';
import { requireSubject } from '../../../attest/verify/given-artifact.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { signatureVerdict, signedDigests } from '../../../attest/verify/signature-verdict.ts';
import { believing, builder, edited, github, makeFoundry } from '../../attest/material/foundry.ts';
import { digestsBy, schemes, signAs } from '../../attest/material/keys.ts';
import {
  forCode,
  fulcioIssuer,
  makeAuthority,
  rootOf,
  withoutOpenssl,
} from '../../attest/material/openssl.ts';
import {
  anchorsOf,
  artifact,
  bundleBy,
  envelopeBy,
  inToto,
  type Loose,
  signerKey,
  statement,
  verifyStranger,
} from '../../attest/verify/strangers.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(400_000);
const directory = mkdtempSync(join(tmpdir(), 'writ-forgeries-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

const file = {
  name: 'app.tgz',
  ...digestsBy(artifact, 'sha256', 'sha384', 'sha512'),
  read: async () => artifact,
};
const exitOf = async (bundle: Loose, ...more: Loose[]) =>
  verifyExitCode(await verifyStranger(bundle, ...more));

t.test('a subject with digests of two files matches neither, and weak digests match nothing', async (t) => {
  const other = digestsBy(Buffer.from('something else'), 'sha256', 'sha512');
  const mine = digestsBy(artifact, 'sha256', 'sha512', 'sha1', 'md5');
  const about = (digest: Loose) => bundleBy(statement({ subject: [{ name: 'app.tgz', digest }] }));
  const artifacts = [file];
  t.equal(await exitOf(about({ sha256: mine.sha256, sha512: mine.sha512 }), { artifacts }), 0);
  t.equal(await exitOf(about({ sha256: mine.sha256, sha512: other.sha512 }), { artifacts }), 1);
  t.equal(await exitOf(about({ sha256: other.sha256, sha512: mine.sha512 }), { artifacts }), 1);
  t.equal(await exitOf(about({ sha1: mine.sha1 }), { artifacts }), 3);
  t.equal(await exitOf(about({ md5: mine.md5 }), { artifacts }), 3);
  t.equal(await exitOf(about({ sha256: mine.sha512?.slice(0, 64) }), { artifacts }), 1);
  t.equal(await exitOf(about({ gitBlob: mine.sha1 }), { artifacts }), 1, 'no file is an object of git');
});

t.test('a bare hash names a commit only if it is the commit asked for or checked out', async (t) => {
  const id = '1'.repeat(40);
  const subjects = [{ name: 'c', digest: new Map([['sha1', id]]) }];
  const findCommit = async (ids: readonly string[]) => ids.find((one) => one === id);
  const headCommit = async () => id;
  t.same(await requireSubject(subjects, { artifacts: [], findCommit, headCommit }), { commit: id });
  const elsewhere = { artifacts: [], findCommit, headCommit: async () => '2'.repeat(40) };
  await t.rejects(requireSubject(subjects, elsewhere), { code: 'VERIFY_NOTHING' }, 'not checked out');
  await t.rejects(requireSubject(subjects, { artifacts: [] }), { code: 'VERIFY_NOTHING' });
  t.same(await requireSubject(subjects, { artifacts: [], commits: [id] }), { commit: id });
  await t.rejects(
    requireSubject(subjects, { artifacts: [], commits: ['2'.repeat(40)], findCommit, headCommit }),
    { code: 'VERIFY_REFUTED' },
    'another commit was asked for',
  );
  await t.rejects(
    requireSubject(subjects, { artifacts: [file], findCommit, headCommit }),
    { code: 'VERIFY_NOTHING' },
    'an artifact was asked for',
  );
});

/** DER of two integers, however they are written. */
const der = (...numbers: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(numbers.flatMap((one) => [Buffer.of(2, one.length), one]));
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
};

t.test('invalid ECDSA numbers are rejected, by bytes and by digest', async (t) => {
  const n = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const good = sign('sha256', artifact, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const [r, s] = [good.subarray(0, 32), good.subarray(32)];
  const [zero, one] = [Buffer.alloc(32), Buffer.concat([Buffer.alloc(31), Buffer.of(1)])];
  const over = (number: Buffer) =>
    Buffer.from(
      (BigInt(`0x${number.toString('hex')}`) + BigInt(`0x${n.toString('hex')}`))
        .toString(16)
        .padStart(66, '0'),
      'hex',
    );
  const cases: Record<string, Buffer> = {
    'all zero': Buffer.alloc(64),
    'r is 0': Buffer.concat([zero, s]),
    's is 0': Buffer.concat([r, zero]),
    'both 1': Buffer.concat([one, one]),
    'r is the order': Buffer.concat([n, s]),
    's is the order': Buffer.concat([r, n]),
    'r and s exchanged': Buffer.concat([s, r]),
    'one octet more': Buffer.concat([good, Buffer.of(0)]),
    'one octet less': good.subarray(0, 63),
    nothing: Buffer.alloc(0),
    'DER of zeroes': der(Buffer.of(0), Buffer.of(0)),
    'DER of one number': Buffer.from('3003020101', 'hex'),
    'DER of three numbers': der(Buffer.of(1), Buffer.of(1), Buffer.of(1)),
    'DER with r beyond the order': der(over(r), Buffer.from(s)),
    'DER of an indefinite length': Buffer.concat([
      Buffer.from('3080', 'hex'),
      der(r, s).subarray(2),
      Buffer.alloc(2),
    ]),
    'DER with something behind it': Buffer.concat([sign('sha256', artifact, privateKey), Buffer.of(0)]),
    'DER with leading zeroes': der(Buffer.concat([Buffer.alloc(3), r]), Buffer.concat([Buffer.alloc(3), s])),
  };
  const digests = await signedDigests(new Map([['sha256', createHash('sha256').update(artifact).digest()]]));
  for (const [name, signature] of Object.entries(cases)) {
    t.equal(signatureVerdict(publicKey, artifact, signature), 'does-not', `${name}, by bytes`);
    t.equal(signatureVerdict(publicKey, digests, signature), 'does-not', `${name}, by digest`);
  }
});

/** The least number whose cube is not below. */
function cubeRoot(value: bigint): bigint {
  let [low, high] = [0n, 1n << BigInt(Math.ceil(value.toString(2).length / 3) + 1)];
  while (low < high) {
    const middle = (low + high) / 2n;
    if (middle ** 3n < value) low = middle + 1n;
    else high = middle;
  }
  return low;
}

t.test('RSA signatures forged without the private key are rejected', async (t) => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });
  const digest = createHash('sha256').update(artifact).digest();
  const info = Buffer.concat([Buffer.from('3031300d060960864801650304020105000420', 'hex'), digest]);
  const head = Buffer.concat([Buffer.from('0001ffffffffffffffff00', 'hex'), info]);
  const rest = 256 - head.length;
  const forged = cubeRoot(BigInt(`0x${head.toString('hex')}`) << BigInt(8 * rest));
  t.ok(
    (forged ** 3n).toString(16).padStart(512, '0').startsWith(head.toString('hex')),
    'it would pass a careless reader',
  );
  const asOctets = (number: bigint) => Buffer.from(number.toString(16).padStart(512, '0'), 'hex');
  const digests = await signedDigests(
    new Map(['sha256', 'sha384', 'sha512'].map((hash) => [hash, createHash(hash).update(artifact).digest()])),
  );
  const modulus = BigInt(
    `0x${Buffer.from(String(publicKey.export({ format: 'jwk' }).n), 'base64url').toString('hex')}`,
  );
  for (const [name, number] of Object.entries({
    forged,
    zero: 0n,
    one: 1n,
    'minus one': modulus - 1n,
    'the modulus': modulus,
  })) {
    t.equal(signatureVerdict(publicKey, artifact, asOctets(number)), 'does-not', `${name}, by bytes`);
    t.equal(signatureVerdict(publicKey, digests, asOctets(number)), 'does-not', `${name}, by digest`);
  }
});

t.test('a valid signature covers only the payload and payload type that were signed', async (t) => {
  for (const [name, scheme] of Object.entries(schemes)) {
    const { publicKey, privateKey } = scheme.make();
    const anchors = anchorsOf({ signers: [{ keyId: keyIdOf(publicKey), key: publicKey, from: 'given' }] });
    const bytes = Buffer.from(JSON.stringify(statement()));
    const bundle = (signed: Buffer, payloadType = inToto) => ({
      payload: bytes.toString('base64'),
      payloadType,
      signatures: [{ sig: signAs(scheme, privateKey, signed).toString('base64'), keyid: keyIdOf(publicKey) }],
    });
    t.equal(await exitOf(bundle(preAuthEncoding(inToto, bytes)), {}, anchors), 0, name);
    t.equal(await exitOf(bundle(bytes), {}, anchors), 1, `${name}: the payload without its type`);
    t.equal(
      await exitOf(
        bundle(preAuthEncoding(inToto, bytes), 'application/vnd.in-toto.provenance+json'),
        {},
        anchors,
      ),
      1,
      `${name}: another payload type`,
    );
  }
});

t.test(
  'several signatures cannot cover another payload, and a copied signature counts for no other key',
  async (t) => {
    const [mallory, stranger] = [1, 2].map(
      () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
    );
    const evil = statement({ predicate: { evil: true } });
    const good = envelopeBy(signerKey, statement());
    const theirs = envelopeBy(mallory as KeyObject, evil);
    const mixed = { ...theirs, signatures: [...theirs.signatures, ...good.signatures] };
    t.equal(await exitOf(mixed), 1, 'a signature of the right key, over something else');
    const unnamed = edited(mixed, (e) => {
      for (const one of e.signatures) one.keyid = '';
    });
    t.equal(await exitOf(unnamed), 3);
    const pinned = anchorsOf({
      signers: [
        { keyId: keyIdOf(createPublicKey(signerKey)), key: createPublicKey(signerKey), from: 'pinned' },
      ],
    });
    const lying = envelopeBy(stranger as KeyObject, evil, inToto, keyIdOf(createPublicKey(signerKey)));
    t.equal(await exitOf(lying, {}, pinned), 1, 'a name is no signature');
  },
);

t.test('ambiguous or malformed base64 is refused', async (t) => {
  const good = envelopeBy(signerKey, statement());
  const { payload } = good;
  for (const [name, text] of Object.entries({
    'both alphabets': `${payload.slice(0, -8)}+-/_${payload.slice(-8)}`,
    'white space': `${payload.slice(0, 10)}\n${payload.slice(10)}`,
    'bits behind the end': Buffer.from('a').toString('base64').replace('YQ==', 'YR=='),
    'padding in the middle': `YQ==${payload}`,
    'too much padding': `${payload.replace(/=+$/, '')}====`,
    'one letter': 'A',
  }))
    t.equal(await exitOf({ ...good, payload: text }), 1, name);
});

t.test('times and entries of a log that is not trusted do not count', async (t) => {
  const foundry = await makeFoundry();
  const stranger = await makeFoundry();
  const bundle = await foundry.make({ message: artifact });
  const theirs = await stranger.make({ message: artifact });
  const swapped = edited(bundle, (b) => {
    b.verificationMaterial.tlogEntries = theirs.verificationMaterial.tlogEntries;
  });
  t.equal(await exitOf(swapped, {}, believing(foundry.root)), 3);
  t.equal(
    await exitOf(bundle, {}, believing({ ...foundry.root, tlogs: [] })),
    3,
    'a root without logs does not take the time of any',
  );
  const past = await makeFoundry({ at: new Date(Date.now() - 86_400_000) });
  const trust = {
    ...foundry.root,
    certificateAuthorities: past.root.certificateAuthorities,
    ctlogs: past.root.ctlogs,
  };
  const stale = edited(await past.make({ message: artifact }), (b) => {
    b.verificationMaterial.tlogEntries.push(...bundle.verificationMaterial.tlogEntries);
  });
  t.not(
    await exitOf(stale, {}, believing(trust)),
    0,
    'the good time of an unknown log beside the bad one of a known',
  );
  const beside = edited(bundle, (b) => {
    b.verificationMaterial.tlogEntries.push(...theirs.verificationMaterial.tlogEntries);
  });
  t.equal(
    await exitOf(beside, {}, believing(foundry.root)),
    0,
    'beside the entry of a known log it does no harm',
  );
});

t.test('null members of a bundle count as unset', async (t) => {
  const foundry = await makeFoundry();
  const bundle = await foundry.make({ message: artifact });
  const nulled = edited(bundle, (b) => {
    b.dsseEnvelope = null;
    b.verificationMaterial.publicKey = null;
    b.verificationMaterial.x509CertificateChain = null;
    b.verificationMaterial.timestampVerificationData = null;
  });
  t.equal(await exitOf(nulled, {}, believing(foundry.root)), 0);
  for (const [name, edit] of Object.entries<(b: Loose) => unknown>({
    'no entries': (b) => (b.verificationMaterial.tlogEntries = null),
    'no promise': (b) => (b.verificationMaterial.tlogEntries[0].inclusionPromise = null),
    'no proof': (b) => (b.verificationMaterial.tlogEntries[0].inclusionProof = null),
    'no certificate': (b) => (b.verificationMaterial.certificate = null),
    'no digest': (b) => (b.messageSignature.messageDigest = null),
    'no body': (b) => (b.verificationMaterial.tlogEntries[0].canonicalizedBody = null),
  }))
    t.not(await exitOf(edited(bundle, edit), {}, believing(foundry.root)), 0, name);
});

long(
  'a certificate counts only for the name it was issued to and only for code signing',
  { skip: withoutOpenssl },
  async (t) => {
    const authority = makeAuthority(directory, 'one');
    const root = rootOf([authority], { tlogs: null });
    const foundry = await makeFoundry();
    const exit = async (extensions: readonly string[], wanted = { identity: builder, issuer: github }) => {
      const holder = authority.issue(extensions);
      const bundle = await foundry.make({ certified: holder, entry: 'none' });
      const signature = Buffer.from(bundle.dsseEnvelope.signatures[0].sig, 'base64');
      const stamped = edited(bundle, (b) => {
        b.verificationMaterial.timestampVerificationData = {
          rfc3161Timestamps: [{ signedTimestamp: authority.stamp(signature).toString('base64') }],
        };
      });
      return exitOf(stamped, {}, believing(root, wanted));
    };
    const san = `subjectAltName=URI:${builder}`;
    const by = fulcioIssuer(github);
    t.equal(await exit([san, ...by, ...forCode]), 0);
    t.equal(await exit([san, ...by]), 0, 'without any restriction of its use');
    t.equal(await exit([san, ...by, 'extendedKeyUsage=serverAuth']), 3, 'a certificate of a web server');
    t.equal(await exit([san, ...by, 'extendedKeyUsage=timeStamping']), 3);
    t.equal(await exit([san, ...by, 'keyUsage=keyEncipherment']), 3, 'one that may not sign');
    t.equal(
      await exit([`subjectAltName=URI:${builder},URI:https://evil.example.org`, ...by, ...forCode]),
      3,
      'one of several names',
    );
    t.equal(
      await exit([`subjectAltName=otherName:1.3.6.1.4.1.57264.1.9;UTF8:${builder}`, ...by, ...forCode]),
      3,
      'a name of another kind',
    );
    t.equal(await exit([`subjectAltName=DNS:${builder.slice(8, 18)}`, ...by, ...forCode]), 3);
    t.equal(
      await exit([...by, ...forCode], { identity: 'none', issuer: github }),
      3,
      'nobody is not somebody called so',
    );
    t.equal(await exit([san, ...forCode], { identity: builder, issuer: 'none' }), 3);
    t.equal(await exit([san, ...by, '1.3.6.1.4.1.57264.1.1=DER:41', ...forCode]), 3, 'two issuers');
  },
);

long('a changed byte in a certificate, a signature or a log entry is always detected', async (t) => {
  const foundry = await makeFoundry();
  const anchors = believing(foundry.root);
  const bundle = await foundry.make({ message: artifact, entry: 'v2', stamped: true });
  const logged = await foundry.make({ message: artifact });
  t.equal(await exitOf(bundle, {}, anchors), 0);
  const places: Record<string, [Loose, (b: Loose) => [Loose, string], boolean]> = {
    certificate: [logged, (b) => [b.verificationMaterial.certificate, 'rawBytes'], true],
    signature: [logged, (b) => [b.messageSignature, 'signature'], true],
    'body of the entry': [logged, (b) => [b.verificationMaterial.tlogEntries[0], 'canonicalizedBody'], true],
    // Status and certificates of a response are not signed, so that some of its octets may be anything.
    'time stamp': [
      bundle,
      (b) => [b.verificationMaterial.timestampVerificationData.rfc3161Timestamps[0], 'signedTimestamp'],
      false,
    ],
  };
  for (const [name, [good, find, isWhole]] of Object.entries(places)) {
    const [holder, member] = find(good);
    const length = Buffer.from(holder[member], 'base64').length;
    const step = Math.max(1, Math.floor(length / 60));
    let passed = 0;
    for (let at = 0; at < length; at += step) {
      const changed = edited(good, (b) => {
        const [place] = find(b);
        const bytes = Buffer.from(place[member], 'base64');
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        place[member] = bytes.toString('base64');
      });
      if ((await exitOf(changed, {}, anchors)) === 0) passed += 1;
    }
    if (isWhole) t.equal(passed, 0, name);
    else t.ok(passed < length / step / 4, `${name}: ${passed}`);
  }
});

t.test('a bundle without an entry in the required log is not verified, whoever signed it', async (t) => {
  const foundry = await makeFoundry();
  const [logged, unlogged] = [await foundry.make({}), await foundry.make({ entry: 'none', stamped: true })];
  const nowhere = { ...foundry.root, tlogs: [] };
  const exitBy = async (bundle: Loose, root: Loose, options: Loose, changes: Loose = {}) =>
    exitOf(bundle, { artifacts: [file], ...options }, { ...believing(root), ...changes });
  const name = 'my.example/log';
  const ledgers = [{ ...ledgerKeyFor(name, generateKeyPairSync('ed25519').publicKey), from: 'given' }];
  const required = { logged: true, logRequired: true };
  t.equal(await exitBy(logged, foundry.root, required), 0);
  t.equal(await exitBy(unlogged, nowhere, { logged: true }), 0, 'a time stamp stands for a log');
  t.equal(await exitBy(unlogged, nowhere, required), 3, 'unless a log is asked for by name');
  t.equal(await exitBy(unlogged, nowhere, required, { ledgers }), 3);
  t.equal(await exitBy(logged, foundry.root, required, { ledgers }), 3, 'it stands in another log');
  const rootOfCa = { ...nowhere, timestampAuthorities: [] };
  const keyed = bundleBy(statement());
  const byKey = async (options: Loose, root = rootOfCa) =>
    exitOf(
      keyed,
      { artifacts: [file], ...options },
      anchorsOf({ trustedRoot: parseTrustedRoot(Buffer.from(JSON.stringify(root))) }),
    );
  t.equal(await byKey({ logged: true }), 0);
  t.equal(await byKey(required), 3, 'by a key');
  t.equal(await byKey(required, nowhere), 3, 'nor by time');
});
