/*
 * The shape of sigstore-conformance (`verify-bundle` of its clients): one row is one directory of that suite, with a
 * bundle, an artifact, a trusted root or a key; every row is asked twice, once with the file and once with its digest
 * alone. All material is made here, in the documented formats.
 */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { runLine } from '../../bin/host.ts';
import { artifact, type Loose, statement } from '../verify/strangers.ts';
import { builder, edited, github, makeFoundry } from './foundry.ts';

t.setTimeout(400_000);
const root = mkdtempSync(join(tmpdir(), 'writ-conformance-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const env = { HOME: join(root, 'home'), PATH: process.env.PATH ?? '' };

const foundry = await makeFoundry();
const other = await makeFoundry();
const past = await makeFoundry({ at: new Date(Date.now() - 86_400_000) });
const unlisted = await makeFoundry({ sct: false });
const managed = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const byKey = { privateKey: managed.privateKey, hint: '' };
const keyPem = String(managed.publicKey.export({ format: 'pem', type: 'spki' }));
const strangerPem = String(
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).publicKey.export({ format: 'pem', type: 'spki' }),
);

interface Row {
  readonly bundle: Loose;
  /** JSON, or the text of the file. */
  readonly root?: Loose;
  readonly key?: string;
  readonly identity?: string;
  readonly issuer?: string;
  readonly artifact?: Buffer;
  /** 0 where it must verify; 1 where it is refuted, 3 where there is nobody to verify by, or nothing. */
  readonly exit: 0 | 1 | 3;
}

const flip = (text: string): string => {
  const bytes = Buffer.from(text, 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes.toString('base64');
};
const entryOf = (bundle: Loose): Loose => bundle.verificationMaterial.tlogEntries[0];
const message = { message: artifact };
const plain = await foundry.make(message);
const dsse = await foundry.make();
const v2 = await foundry.make({ ...message, entry: 'v2', stamped: true });
const v2dsse = await foundry.make({ entry: 'v2', stamped: true });
const later = await makeFoundry({ at: new Date(Date.now() + 86_400_000) });
const v2signature = Buffer.from(v2.messageSignature.signature, 'base64');
const laterStamp = await later.stamp(v2signature);
const otherStamp = await foundry.stamp(v2signature);
const keyed = await foundry.make({ ...message, key: byKey });
const tampered = (bundle: Loose, edit: (entry: Loose, bundle: Loose) => unknown): Loose =>
  edited(bundle, (copy) => edit(entryOf(copy), copy));
/** The body, changed and put into a log of its own anew: its leaf, and nothing else, is what the log never saw. */
const rewritten = (bundle: Loose, change: (body: Loose) => unknown): Loose =>
  tampered(bundle, (entry) => {
    const body = JSON.parse(Buffer.from(entry.canonicalizedBody, 'base64').toString());
    change(body);
    entry.canonicalizedBody = Buffer.from(JSON.stringify(body)).toString('base64');
  });
const rootWith = (change: (copy: Loose) => unknown): Loose => edited(foundry.root, change);
const withRekor2 = rootWith((r) => r.tlogs.push(foundry.rekor2));
const rekor2From = (start: string, end?: string): Loose =>
  edited(withRekor2, ({ tlogs: [, { publicKey }] }) => {
    publicKey.validFor = { start: `${start}-01-01T00:00:00Z`, ...(end && { end: `${end}-01-01T00:00:00Z` }) };
  });
const v2ed = await foundry.make({ ...message, entry: 'v2', stamped: true, inRekor2: true });
const dsse2ed = await foundry.make({ entry: 'dsse2', stamped: true, inRekor2: true });
/** As GitHub's: an authority and its time stamps, and no log. */
const withoutLogs = edited(unlisted.root, (copy) => Object.assign(copy, { tlogs: [], ctlogs: [] }));
const twoRoots = [foundry.root, withoutLogs].map((one) => `${JSON.stringify(one)}\n`).join('');
const logEnd = new Date(Number(entryOf(plain).integratedTime) * 1000).toISOString();

const rows: Record<string, Row> = {
  'happy-path': { bundle: plain, exit: 0 },
  'happy-path-v0.1': { bundle: await foundry.make({ ...message, version: '0.1' }), exit: 0 },
  'happy-path-v0.2': { bundle: await foundry.make({ ...message, version: '0.2' }), exit: 0 },
  'happy-path-intoto-in-dsse-v3': { bundle: dsse, exit: 0 },
  'happy-path-intoto-entry': { bundle: await foundry.make({ entry: 'intoto' }), exit: 0 },
  'happy-path-with-time-stamp-and-promise': {
    bundle: await foundry.make({ ...message, stamped: true }),
    exit: 0,
  },
  'enumerations-as-numbers': {
    bundle: edited(plain, (b) => (b.messageSignature.messageDigest.algorithm = 1)),
    root: rootWith((r) => {
      r.tlogs[0].hashAlgorithm = 1;
      r.tlogs[0].publicKey.keyDetails = 5;
    }),
    exit: 0,
  },
  'message-digest-of-another-algorithm-by-number_fail': {
    bundle: edited(plain, (b) => (b.messageSignature.messageDigest.algorithm = 5)),
    exit: 3,
  },
  'message-digest-of-no-algorithm_fail': {
    bundle: edited(plain, (b) => (b.messageSignature.messageDigest.algorithm = 99)),
    exit: 3,
  },
  'numbers-as-numbers': {
    bundle: tampered(plain, (entry) => {
      entry.logIndex = Number(entry.logIndex);
      entry.integratedTime = Number(entry.integratedTime);
      entry.inclusionProof.logIndex = Number(entry.inclusionProof.logIndex);
      entry.inclusionProof.treeSize = Number(entry.inclusionProof.treeSize);
    }),
    exit: 0,
  },
  'dsse-with-hashedrekord-happy-path': { bundle: await foundry.make({ entry: 'hashedrekord' }), exit: 0 },
  'rekor2-happy-path': { bundle: v2, exit: 0 },
  'rekor2-dsse-happy-path': { bundle: v2dsse, exit: 0 },
  'rekor2-ed25519-happy-path': { bundle: v2ed, root: withRekor2, exit: 0 },
  'rekor2-ed25519-hashedrekord-of-dsse-happy-path': {
    bundle: await foundry.make({ entry: 'v2', stamped: true, inRekor2: true }),
    root: withRekor2,
    exit: 0,
  },
  'rekor2-ed25519-dsse-happy-path': { bundle: dsse2ed, root: withRekor2, exit: 0 },
  'rekor2-ed25519-log-beside-the-log-of-the-entry': { bundle: dsse, root: withRekor2, exit: 0 },
  'rekor2-ed25519-managed-key': {
    bundle: await foundry.make({ ...message, entry: 'v2', key: byKey, inRekor2: true }),
    root: withRekor2,
    key: keyPem,
    exit: 0,
  },
  'rekor2-ed25519-managed-key-dsse': {
    bundle: await foundry.make({ entry: 'v2', key: byKey, inRekor2: true }),
    root: withRekor2,
    key: keyPem,
    exit: 0,
  },
  'rekor2-ed25519-without-time-stamp_fail': {
    bundle: await foundry.make({ ...message, entry: 'v2', inRekor2: true }),
    root: withRekor2,
    exit: 3,
  },
  'rekor2-ed25519-log-ends-after-time-stamp': { bundle: v2ed, root: rekor2From('2020', '2999'), exit: 0 },
  'rekor2-ed25519-log-ended-before-time-stamp_fail': {
    bundle: v2ed,
    root: rekor2From('2020', '2021'),
    exit: 3,
  },
  'rekor2-ed25519-dsse-log-ended-before-time-stamp_fail': {
    bundle: dsse2ed,
    root: rekor2From('2020', '2021'),
    exit: 3,
  },
  'rekor2-ed25519-log-begins-after-time-stamp_fail': { bundle: v2ed, root: rekor2From('2998'), exit: 3 },
  'rekor2-log-ended-before-time-stamp_fail': {
    bundle: v2,
    root: rootWith((r) => {
      r.tlogs[0].publicKey.validFor = { ...r.tlogs[0].publicKey.validFor, end: '2021-01-01T00:00:00Z' };
    }),
    exit: 3,
  },
  'rekor2-ed25519-managed-key-log-ended-before-time-stamp_fail': {
    bundle: await foundry.make({ ...message, entry: 'v2', key: byKey, inRekor2: true, stamped: true }),
    root: rekor2From('2020', '2021'),
    key: keyPem,
    exit: 3,
  },
  'rekor2-ed25519-managed-key-dsse-log-ended-before-time-stamp_fail': {
    bundle: await foundry.make({ entry: 'v2', key: byKey, inRekor2: true, stamped: true }),
    root: rekor2From('2020', '2021'),
    key: keyPem,
    exit: 3,
  },
  'rekor2-ed25519-managed-key-dsse-log-begins-later_fail': {
    bundle: await foundry.make({ entry: 'v2', key: byKey, inRekor2: true }),
    root: rekor2From('2998'),
    key: keyPem,
    exit: 3,
  },
  'rekor2-ed25519-managed-key-log-begins-later_fail': {
    bundle: await foundry.make({ ...message, entry: 'v2', key: byKey, inRekor2: true }),
    root: rekor2From('2998'),
    key: keyPem,
    exit: 3,
  },
  'rekor2-ed25519-managed-key-log-ended-without-time-stamp': {
    bundle: await foundry.make({ ...message, entry: 'v2', key: byKey, inRekor2: true }),
    root: rekor2From('2020', '2021'),
    key: keyPem,
    exit: 0,
  },
  'rekor2-ed25519-index-beside-the-proof_fail': {
    bundle: tampered(v2ed, (entry) => (entry.logIndex = '77')),
    root: withRekor2,
    exit: 1,
  },
  'rekor2-ed25519-unknown-log_fail': { bundle: v2ed, exit: 3 },
  'rekor2-ed25519-checkpoint-wrong-signature_fail': {
    bundle: tampered(v2ed, ({ inclusionProof: { checkpoint } }) => {
      const blob = /(\S+)\n$/.exec(checkpoint.envelope)?.[1] ?? '';
      checkpoint.envelope = checkpoint.envelope.replace(blob, flip(blob));
    }),
    root: withRekor2,
    exit: 1,
  },
  'rekor2-ed25519-entry-of-another-signature_fail': {
    bundle: edited(dsse2ed, (b) => {
      b.verificationMaterial.tlogEntries = v2ed.verificationMaterial.tlogEntries;
    }),
    root: withRekor2,
    exit: 1,
  },
  'managed-key-happy-path': { bundle: keyed, key: keyPem, exit: 0 },
  'managed-key-and-trusted-root': { bundle: keyed, key: keyPem, exit: 0 },
  'intoto-canonical-log-entry': {
    bundle: await foundry.make({ entry: 'intoto', key: byKey }),
    key: keyPem,
    exit: 0,
  },
  'rekor2-managed-key-without-time-stamp': {
    bundle: await foundry.make({ ...message, entry: 'v2', key: byKey }),
    key: keyPem,
    exit: 0,
  },
  'sct-duplicate-authority-name': {
    bundle: plain,
    root: rootWith((r) => r.certificateAuthorities.unshift(other.root.certificateAuthorities[0])),
    exit: 0,
  },
  'trust-root-tlog-validity-end-inclusive': {
    bundle: plain,
    root: rootWith((r) => {
      r.tlogs[0].publicKey.validFor = { ...r.tlogs[0].publicKey.validFor, end: logEnd };
    }),
    exit: 0,
  },
  'trust-roots-one-a-line-first': { bundle: plain, root: twoRoots, exit: 0 },
  'trust-roots-one-a-line-second': {
    bundle: await unlisted.make({ ...message, entry: 'none', stamped: true }),
    root: twoRoots,
    exit: 0,
  },
  'trust-roots-one-a-line-managed-key': { bundle: keyed, root: twoRoots, key: keyPem, exit: 0 },
  'trust-roots-one-a-line-log-of-another-root_fail': {
    bundle: await foundry.make({ ...message, entry: 'none', stamped: true }),
    root: twoRoots,
    exit: 3,
  },
  'trust-roots-one-a-line-unknown-authority_fail': {
    bundle: await past.make(message),
    root: twoRoots,
    exit: 3,
  },
  'trust-roots-one-a-line-wrong-signature_fail': {
    bundle: edited(plain, (b) => {
      b.messageSignature.signature = flip(b.messageSignature.signature);
    }),
    root: twoRoots,
    exit: 1,
  },
  'trust-root-null-members': {
    bundle: plain,
    root: rootWith((r) => {
      r.timestampAuthorities = null;
      r.tlogs[0].checkpointKeyId = null;
      r.tlogs[0].publicKey.validFor.end = null;
      r.certificateAuthorities[0].uri = null;
    }),
    exit: 0,
  },

  'message-digest-mismatch_fail': {
    bundle: edited(plain, (b) => {
      b.messageSignature.messageDigest.digest = Buffer.alloc(32, 7).toString('base64');
    }),
    exit: 1,
  },
  'artifact-mismatch_fail': { bundle: plain, artifact: Buffer.from('another'), exit: 1 },
  'dsse-artifact-not-in-subjects_fail': { bundle: dsse, artifact: Buffer.from('another'), exit: 1 },
  'signature-mismatch_fail': {
    bundle: edited(plain, (b) => {
      b.messageSignature.signature = flip(b.messageSignature.signature);
    }),
    exit: 1,
  },
  'dsse-invalid-sig_fail': {
    bundle: edited(dsse, (b) => {
      b.dsseEnvelope.signatures[0].sig = flip(b.dsseEnvelope.signatures[0].sig);
    }),
    exit: 1,
  },
  'dsse-mismatch-envelope_fail': {
    bundle: edited(dsse, (b) => {
      const changed = statement({ predicate: { x: 1 } });
      b.dsseEnvelope.payload = Buffer.from(JSON.stringify(changed)).toString('base64');
    }),
    exit: 1,
  },
  'rekor2-dsse-mismatch-envelope_fail': {
    bundle: edited(v2dsse, (b) => {
      const changed = statement({ predicate: { x: 1 } });
      b.dsseEnvelope.payload = Buffer.from(JSON.stringify(changed)).toString('base64');
    }),
    exit: 1,
  },
  'dsse-statement-missing-type_fail': {
    bundle: await foundry.make({ payload: statement({ _type: undefined }) }),
    exit: 3,
  },
  'dsse-statement-unknown-type_fail': {
    bundle: await foundry.make({ payload: statement({ _type: 'https://in-toto.io/Statement/v9' }) }),
    exit: 3,
  },
  'dsse-several-signatures-in-a-bundle_fail': {
    bundle: edited(dsse, (b) => b.dsseEnvelope.signatures.push(b.dsseEnvelope.signatures[0])),
    exit: 1,
  },
  'cve-2022-36056-swapped-tlog-entry_fail': {
    bundle: edited(plain, (b) => {
      b.verificationMaterial.tlogEntries = dsse.verificationMaterial.tlogEntries;
    }),
    exit: 1,
  },
  'invalid-inclusion-proof_fail': {
    bundle: tampered(plain, ({ inclusionProof }) =>
      inclusionProof.hashes.push(Buffer.alloc(32).toString('base64')),
    ),
    exit: 1,
  },
  'checkpoint-wrong-roothash_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => {
      const lines = inclusionProof.checkpoint.envelope.split('\n');
      lines[2] = Buffer.alloc(32, 1).toString('base64');
      inclusionProof.checkpoint.envelope = lines.join('\n');
    }),
    exit: 1,
  },
  'checkpoint-bad-keyhint_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => {
      const blob = /(\S+)\n$/.exec(inclusionProof.checkpoint.envelope)?.[1] ?? '';
      const bytes = Buffer.from(blob, 'base64');
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      inclusionProof.checkpoint.envelope = inclusionProof.checkpoint.envelope.replace(
        blob,
        bytes.toString('base64'),
      );
    }),
    exit: 3,
  },
  'checkpoint-of-another-log_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => {
      inclusionProof.checkpoint = entryOf(dsse).inclusionProof.checkpoint;
    }),
    exit: 1,
  },
  'inclusion-proof-wrong-roothash_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => {
      inclusionProof.rootHash = Buffer.alloc(32, 1).toString('base64');
    }),
    exit: 1,
  },
  'inclusion-proof-no-roothash_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => delete inclusionProof.rootHash),
    exit: 1,
  },
  'inclusion-proof-wrong-treesize_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => {
      inclusionProof.treeSize = '2';
    }),
    exit: 1,
  },
  'inclusion-proof-no-treesize_fail': {
    bundle: tampered(plain, ({ inclusionProof }) => delete inclusionProof.treeSize),
    exit: 1,
  },
  'rekor2-ed25519-inclusion-proof-wrong-treesize_fail': {
    bundle: tampered(v2ed, ({ inclusionProof }) => {
      inclusionProof.treeSize = '3';
    }),
    root: withRekor2,
    exit: 1,
  },
  'managed-key-inclusion-proof-wrong-roothash_fail': {
    bundle: tampered(keyed, ({ inclusionProof }) => {
      inclusionProof.rootHash = Buffer.alloc(32, 1).toString('base64');
    }),
    key: keyPem,
    exit: 1,
  },
  'inclusion-promise-invalid_fail': {
    bundle: tampered(plain, (entry) => {
      entry.inclusionPromise.signedEntryTimestamp = flip(entry.inclusionPromise.signedEntryTimestamp);
    }),
    exit: 1,
  },
  'integrated-time-changed_fail': {
    bundle: tampered(plain, (entry) => {
      entry.integratedTime = String(Number(entry.integratedTime) + 1);
    }),
    exit: 1,
  },
  'inclusion-promise-missing-v0.1_fail': {
    bundle: tampered(
      await foundry.make({ ...message, version: '0.1' }),
      (entry) => delete entry.inclusionPromise,
    ),
    exit: 1,
  },
  'inclusion-proof-missing-v0.3_fail': {
    bundle: tampered(plain, (entry) => delete entry.inclusionProof),
    exit: 1,
  },
  'tlog-body-mismatch-signature_fail': {
    bundle: rewritten(plain, (body) => {
      body.spec.signature.content = flip(body.spec.signature.content);
    }),
    exit: 1,
  },
  'tlog-entry-twice_fail': {
    bundle: edited(plain, (b) => b.verificationMaterial.tlogEntries.push(entryOf(b))),
    exit: 1,
  },
  'no-tlog-entry_fail': { bundle: await foundry.make({ ...message, entry: 'none', stamped: true }), exit: 3 },
  'tlog-unknown-kind_fail': {
    bundle: rewritten(
      tampered(plain, (entry) => {
        entry.kindVersion = { kind: 'alpine', version: '0.0.1' };
      }),
      (body) => Object.assign(body, { kind: 'alpine' }),
    ),
    exit: 1,
  },
  'rekor2-no-time-stamp_fail': { bundle: await foundry.make({ ...message, entry: 'v2' }), exit: 3 },
  'rekor2-time-stamp-of-another-signature_fail': {
    bundle: edited(v2, (b) => {
      b.verificationMaterial.timestampVerificationData =
        v2dsse.verificationMaterial.timestampVerificationData;
    }),
    exit: 1,
  },
  'rekor2-time-stamp-by-unknown-authority_fail': {
    bundle: v2,
    root: rootWith((r) => (r.timestampAuthorities = other.root.timestampAuthorities)),
    // The mock's authorities all bear the same name and number: this one claims to be the one that is trusted.
    exit: 1,
  },
  'rekor2-time-stamp-outside-validity_fail': {
    bundle: v2,
    root: rootWith((r) => {
      r.timestampAuthorities[0].validFor.end = '2021-01-01T00:00:00Z';
    }),
    exit: 1,
  },
  'rekor2-time-stamp-wrong-tsa-validity-borrow_fail': {
    bundle: v2,
    root: rootWith((r) => {
      r.timestampAuthorities[0].validFor.end = '2021-01-01T00:00:00Z';
      r.timestampAuthorities.push({
        certChain: { certificates: [] },
        validFor: { start: '2020-01-01T00:00:00Z' },
      });
    }),
    exit: 1,
  },
  'multiple-time-stamps-one-outside-certificate-validity_fail': {
    bundle: edited(v2, (b) =>
      b.verificationMaterial.timestampVerificationData.rfc3161Timestamps.push(laterStamp),
    ),
    root: rootWith((r) => r.timestampAuthorities.push(...later.root.timestampAuthorities)),
    exit: 1,
  },
  'multiple-time-stamps-happy-path': {
    bundle: edited(v2, (b) =>
      b.verificationMaterial.timestampVerificationData.rfc3161Timestamps.push(otherStamp),
    ),
    exit: 0,
  },
  'certificate-expired-at-integrated-time_fail': {
    bundle: edited(await past.make(message), (b) => {
      b.verificationMaterial.tlogEntries = plain.verificationMaterial.tlogEntries;
    }),
    root: rootWith((r) => {
      r.certificateAuthorities = past.root.certificateAuthorities;
      r.ctlogs = past.root.ctlogs;
    }),
    exit: 1,
  },
  'certificate-of-unknown-authority_fail': {
    bundle: plain,
    root: rootWith((r) => (r.certificateAuthorities = other.root.certificateAuthorities)),
    exit: 3,
  },
  'authority-outside-its-validity_fail': {
    bundle: plain,
    root: rootWith((r) => (r.certificateAuthorities[0].validFor.end = '2021-01-01T00:00:00Z')),
    exit: 3,
  },
  'sct-missing_fail': {
    bundle: await unlisted.make(message),
    root: unlisted.root,
    exit: 3,
  },
  'sct-of-unknown-log_fail': {
    bundle: plain,
    root: rootWith((r) => (r.ctlogs = other.root.ctlogs)),
    exit: 3,
  },
  'tlog-unknown_fail': { bundle: plain, root: rootWith((r) => (r.tlogs = other.root.tlogs)), exit: 3 },
  'trust-root-tlog-outside-validity_fail': {
    bundle: plain,
    root: rootWith((r) => (r.tlogs[0].publicKey.validFor.end = '2021-01-01T00:00:00Z')),
    exit: 3,
  },
  'wrong-identity_fail': { bundle: plain, identity: `${builder}x`, exit: 3 },
  'wrong-identity-as-pattern_fail': { bundle: plain, identity: '.*', exit: 3 },
  'wrong-issuer_fail': { bundle: plain, issuer: `${github}/`, exit: 3 },
  'certificate-without-issuer_fail': { bundle: await foundry.make({ ...message, issuer: null }), exit: 3 },
  'managed-key-wrong-key_fail': { bundle: keyed, key: strangerPem, exit: 3 },
  'managed-key-wrong-signature_fail': {
    bundle: edited(
      await foundry.make({
        ...message,
        key: { ...byKey, hint: sha256Hex(createPublicKey(keyPem).export({ format: 'der', type: 'spki' })) },
      }),
      (b) => {
        b.messageSignature.signature = flip(b.messageSignature.signature);
      },
    ),
    key: keyPem,
    exit: 1,
  },
  'media-type-unknown_fail': { bundle: edited(plain, (b) => (b.mediaType = 'application/json')), exit: 1 },
  'media-type-of-a-later-version_fail': {
    bundle: edited(plain, (b) => (b.mediaType = 'application/vnd.dev.sigstore.bundle.v0.9+json')),
    exit: 3,
  },
};
let n = 0;
async function verify(row: Row, given: (path: string, bytes: Buffer) => string): Promise<readonly unknown[]> {
  n += 1;
  const at = (name: string) => join(root, `${n}-${name}`);
  const bytes = row.artifact ?? artifact;
  writeFileSync(at('a.txt'), bytes);
  writeFileSync(at('bundle.sigstore.json'), JSON.stringify(row.bundle));
  const trusted = row.root ?? foundry.root;
  writeFileSync(at('trusted_root.json'), typeof trusted === 'string' ? trusted : JSON.stringify(trusted));
  writeFileSync(at('key.pub'), row.key ?? '');
  const who =
    row.key === undefined
      ? ['--identity', row.identity ?? builder, '--issuer', row.issuer ?? github]
      : ['--key', at('key.pub')];
  const { code, out } = await runLine(
    ['--json', 'verify', at('bundle.sigstore.json'), '--artifact', given(at('a.txt'), bytes)]
      .concat('--trusted-root', at('trusted_root.json'))
      .concat(who),
    commands,
    { cwd: root, env },
  );
  const { data } = JSON.parse(out);
  return [code, data.checks.filter(({ status }: Loose) => status !== 'passed')];
}

for (const [name, row] of Object.entries(rows)) {
  t.test(name, async (t) => {
    const [byFile, troubles] = await verify(row, (path) => path);
    t.equal(byFile, row.exit, 'by file', { troubles });
    const [byDigest, more] = await verify(row, (_path, bytes) => `sha256:${sha256Hex(bytes)}`);
    t.equal(byDigest, row.exit, 'by digest', { troubles: more });
  });
}

t.test('the conformance suite has enough accepted bundles and more refused ones', async (t) => {
  const exits = Object.values(rows).map(({ exit }) => exit);
  t.ok(exits.filter((exit) => exit === 0).length >= 16);
  t.ok(exits.filter((exit) => exit !== 0).length >= 40, `${exits.length} rows`);
});
