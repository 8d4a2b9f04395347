import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import t, { type Test } from 'tap';
import { parseBundle } from '../../../attest/bundle/bundle.ts';
import { systemClock } from '../../../core/base/clock.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';
import { makeAuthority, rootOf as rootOfOpenssl, withoutOpenssl } from '../material/openssl.ts';
import type { Answered, Json } from '../public/log-servers.ts';
import { copyOf, removeMachines, type SealedRun } from '../verify/sealed-run.ts';
import {
  type Authorities,
  anchors,
  identity,
  issue,
  issuer,
  logOf,
  openKeyless,
  refusal,
  type Stamper,
  seal,
  serveAuthorities,
  serveStamper,
  signingConfig,
  tokenOf,
  verify,
} from './authorities.ts';

t.teardown(removeMachines);

const provenance = 'provenance.sigstore.json';
const data = Buffer.from('what is signed');
const hour = 3_600_000;
const env = { SIGSTORE_ID_TOKEN: tokenOf() };

interface Stamped extends Authorities {
  readonly stamper: Stamper;
}

async function serveStamped(t: Test): Promise<Stamped> {
  const stamper = await serveStamper(t);
  return { ...(await serveAuthorities(t, { stamper })), stamper };
}

const sealStamped = async (by: Authorities): Promise<SealedRun> =>
  seal(by, await openKeyless(by.place(), env));

// biome-ignore lint/suspicious/noExplicitAny: edits of a bundle, which TypeScript cannot follow.
type Loose = any;

/** The run with one of its bundles changed; which check refuses it is what the tests are about. */
function edited(sealed: SealedRun, change: (bundle: Loose) => void, path = provenance): SealedRun {
  const copy = copyOf(sealed);
  const bundle = JSON.parse(String(copy.run.get(path))) as Loose;
  change(bundle);
  copy.run.set(path, Buffer.from(JSON.stringify(bundle)));
  return copy;
}

/** The refusal by the signature, beside those of files that no longer are what the summary names. */
const signatureRefusal = async (sealed: SealedRun, root: string): Promise<readonly unknown[]> => {
  const [code, ...refused] = refusal(await verify(sealed, anchors(root)));
  return [
    code,
    ...refused.filter((one) => String(one).startsWith('signature') || String(one).startsWith('bundle')),
  ];
};

const withStamper = (by: Authorities, ...listed: readonly Json[]): string =>
  by.root((root) => ({ ...root, timestampAuthorities: listed }));

t.test('a set in a Rekor v2 log verifies by a time stamp over its provenance', async (t) => {
  const by = await serveStamped(t);
  const signer = await openKeyless(by.place(), env);
  t.equal(by.stamper.asked.length, 0, 'opening asks no authority');
  const sealed = await seal(by, signer);
  t.match(by.stamper.asked, [
    {
      method: 'POST',
      path: '/api/v1/timestamp',
      headers: { 'content-type': 'application/timestamp-query' },
    },
  ]);
  t.equal(by.stamper.asked.length, 1, 'one time stamp for the set');
  const { proof, certificate, timestamp } = parseBundle(sealed.run.get(provenance) ?? Buffer.alloc(0));
  t.equal(proof?.promise, undefined, 'the log signed no time');
  t.ok(timestamp);
  t.same(certificate, Buffer.from(signer.certificate?.() ?? ''));
  const { signature } = JSON.parse(String(proof?.body)).spec.hashedRekordV002;
  t.strictSame(
    signature.verifier.x509Certificate,
    { rawBytes: certificate?.toString('base64') },
    'the log shows the identity',
  );
  const report = await verify(sealed, anchors(by.root()));
  t.strictSame(refusal(report), [0]);
  t.strictSame(report.grounds.signer, { identity, issuer });

  const stock = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(by.root()))), {
    tlogThreshold: 1,
    ctlogThreshold: 1,
    timestampThreshold: 1,
  });
  const bundle = bundleFromJSON(JSON.parse(String(sealed.run.get(provenance))));
  t.doesNotThrow(() => stock.verify(toSignedEntity(bundle)), 'by the stock sigstore verifier');
});

t.test(
  'time stamp, entry and log each have to be those of the trusted root and of this signature',
  async (t) => {
    const by = await serveStamped(t);
    const stranger = await serveStamped(t);
    const sealed = await sealStamped(by);
    const later = await serveStamper(t, new Date(Date.now() + hour));
    const sig = (bundle: Loose): Buffer => Buffer.from(bundle.dsseEnvelope.signatures[0].sig, 'base64');
    const { envelope } = parseBundle(sealed.run.get(provenance) ?? Buffer.alloc(0));
    const stampBy = async (stamper: Stamper, bytes: Uint8Array) =>
      (await stamper.stamp(bytes)).toString('base64');
    const setStamps = (bundle: Loose, ...stamps: readonly string[]): void => {
      bundle.verificationMaterial.timestampVerificationData = {
        rfc3161Timestamps: stamps.map((signedTimestamp) => ({ signedTimestamp })),
      };
    };
    const root = by.root();
    const [{ certChain }, foreign] = [by.stamper.listed, stranger.stamper.listed] as [Loose, Loose];
    const mixed = { certificates: [certChain.certificates[0], foreign.certChain.certificates[1]] };
    const missing = [3, 'signature missing missing'];
    const foreignStamp = [1, 'signature failed bad-signature'];
    const roots: Record<string, readonly [string, readonly unknown[]]> = {
      'another authority of that name': [withStamper(by, stranger.stamper.listed), foreignStamp],
      'no authority': [withStamper(by), missing],
      'a chain to another authority': [
        withStamper(by, { ...by.stamper.listed, certChain: mixed }),
        [1, 'signature failed bad-signature'],
      ],
      'an authority that was retired before': [
        withStamper(by, {
          ...by.stamper.listed,
          validFor: { start: '2020-01-01T00:00:00Z', end: '2021-01-01T00:00:00Z' },
        }),
        [1, 'signature failed stale'],
      ],
      'another log': [
        by.root((all) => ({ ...all, tlogs: JSON.parse(stranger.root()).tlogs })),
        [3, 'signature unverified untrusted-log'],
      ],
      'a log that was not trusted at the time of the stamp': [
        by.root((all) => {
          const [log] = all.tlogs as Loose[];
          const validFor = { start: '2020-01-01T00:00:00Z', end: '2021-01-01T00:00:00Z' };
          return { ...all, tlogs: [{ ...log, publicKey: { ...log.publicKey, validFor } }] };
        }),
        [3, 'signature unverified untrusted-log'],
      ],
    };
    for (const [name, [changed, expected]] of Object.entries(roots))
      t.strictSame(await signatureRefusal(sealed, changed), expected, name);

    const own = await stampBy(by.stamper, envelope.signature);
    const other = await stampBy(by.stamper, Buffer.from('another signature'));
    const late = await stampBy(later, envelope.signature);
    const unknown = await stampBy(stranger.stamper, envelope.signature);
    const both = withStamper(by, by.stamper.listed, later.listed);
    const stamps: Record<string, readonly [readonly string[], readonly unknown[]]> = {
      'a new one over the same signature': [[own], [1]],
      'over another signature': [[other], foreignStamp],
      'after the certificate ran out': [[late], [1, 'signature failed stale']],
      'by another authority of that name': [[unknown], foreignStamp],
      none: [[], [1, 'bundle failed malformed']],
      two: [
        [own, own],
        [1, 'bundle failed malformed'],
      ],
      'what is none': [[Buffer.from('x').toString('base64')], [1, 'signature failed malformed']],
    };
    for (const [name, [list, expected]] of Object.entries(stamps)) {
      const changed = edited(sealed, (bundle) => setStamps(bundle, ...list));
      t.strictSame(await signatureRefusal(changed, both), expected, name);
    }
    const unstamped = edited(sealed, ({ verificationMaterial }) => {
      delete verificationMaterial.timestampVerificationData;
    });
    t.strictSame(await signatureRefusal(unstamped, root), missing, 'no time stamp at all');
    const manifest = 'evidence-manifest.sigstore.json';
    const companion = edited(sealed, (bundle) => setStamps(bundle, own), manifest);
    t.match(
      refusal(await verify(companion, anchors(root))),
      [1, 'manifest failed malformed'],
      'where no step verifies it there is none',
    );
    const promised = await serveAuthorities(t);
    const old = await seal(promised, await openKeyless(promised.place(), env));
    t.strictSame(refusal(await verify(old, anchors(promised.root()))), [0]);
    const stampedToo = edited(old, (bundle) => setStamps(bundle, own));
    t.strictSame(await signatureRefusal(stampedToo, promised.root()), [1, 'bundle failed malformed']);

    const [again, foreignRun] = [await sealStamped(by), await sealStamped(stranger)];
    const entryOf = (run: SealedRun): Loose =>
      JSON.parse(String(run.run.get(provenance))).verificationMaterial.tlogEntries[0];
    const entries: Record<string, readonly [(entry: Loose) => void, readonly unknown[]]> = {
      'a checkpoint of another log': [
        ({ inclusionProof }) => {
          inclusionProof.checkpoint = entryOf(foreignRun).inclusionProof.checkpoint;
        },
        [3, 'signature unverified untrusted-log'],
      ],
      'the inclusion proof of another entry': [
        (entry) => {
          entry.inclusionProof = entryOf(again).inclusionProof;
          entry.logIndex = entry.inclusionProof.logIndex;
        },
        [1, 'signature failed mismatch'],
      ],
      'the entry of another signature': [
        (entry) => {
          Object.assign(entry, entryOf(again));
        },
        [1, 'signature failed mismatch'],
      ],
    };
    for (const [name, [change, expected]] of Object.entries(entries)) {
      const changed = edited(sealed, ({ verificationMaterial }) =>
        change(verificationMaterial.tlogEntries[0]),
      );
      t.strictSame(await signatureRefusal(changed, root), expected, name);
    }
    t.ok(sig(JSON.parse(String(sealed.run.get(provenance)))).equals(envelope.signature));
  },
);

t.test('the entry names the certificate of the bundle, not its key alone', async (t) => {
  const by = await serveStamped(t);
  const signer = await openKeyless(by.place(), env);
  await signer.sign(data);
  const { createPublicKey } = await import('node:crypto');
  const other = await issue(by.ca, createPublicKey(signer.publicKeyPem));
  const { certificate: _none, ...keyOnly } = signer;
  for (const named of [keyOnly, { ...signer, certificate: () => other }] as readonly Signer[]) {
    const sealed = await seal(by, signer, () => logOf(by, named));
    t.strictSame(
      refusal(await verify(sealed, anchors(by.root()))),
      [1, 'log-entry failed mismatch', 'log-proof failed mismatch'],
      named === keyOnly ? 'the key alone' : 'another certificate of that key',
    );
  }
});

t.test('nothing is logged without a time stamp that a verifier would accept', async (t) => {
  const by = await serveStamped(t);
  const [foreign, late] = [await serveStamper(t), await serveStamper(t, new Date(Date.now() + hour))];
  const place = by.place({}, withStamper(by, by.stamper.listed, late.listed));
  const ok = (body: Buffer): Answered => ({ status: 200, body });
  const patient = { ...systemClock, sleep: async () => {} };
  const redirect = { status: 302, headers: { location: 'http://127.0.0.1:9/' } };
  const cases: Record<string, readonly [(signature: Buffer) => Answered | Promise<Answered>, RegExp]> = {
    'over another signature': [async () => ok(await by.stamper.stamp(data)), /bad-signature/],
    'by another authority': [async (signed) => ok(await foreign.stamp(signed)), /bad-signature/],
    'after the certificate': [async (signed) => ok(await late.stamp(signed)), /does not hold/],
    'no time stamp': [() => ok(Buffer.from('no')), /does not hold/],
    empty: [() => ok(Buffer.alloc(0)), /does not hold/],
    'too much': [() => ok(Buffer.alloc(100 * 1024)), /more than/],
    'a redirect': [() => redirect, /answered 302/],
    refused: [() => ({ status: 400 }), /answered 400/],
    busy: [() => ({ status: 503 }), /answered 503/],
  };
  for (const [name, [lie, message]] of Object.entries(cases)) {
    const signer = await openKeyless(place, env, patient);
    let signature = Buffer.alloc(0);
    by.stamper.lie(() => lie(signature));
    const before = by.stamper.asked.length;
    const watched: Signer = {
      ...signer,
      timestamp: async (signed, made) => {
        signature = Buffer.from(made);
        return (await signer.timestamp?.(signed, made)) ?? made;
      },
    };
    await t.rejects(seal(by, watched), { code: 'SIGNER_FAILED', message }, name);
    t.equal(by.stamper.asked.length - before, /busy|too much/.test(name) ? 3 : 1, `${name}: attempts`);
  }
  by.lie(() => ({ status: 403 }));
  const message = /certificate authority .* answered 403/;
  await t.rejects(seal(by, await openKeyless(place, env)), { code: 'SIGNER_FAILED', message });
  t.equal(by.log.asked.length, 0, 'the log was never asked');
});

t.test('without an authority to ask and to believe, a Rekor v2 log is refused before any work', async (t) => {
  const by = await serveStamped(t);
  const unsupported = { code: 'SIGNER_UNSUPPORTED', message: /no signing config that names one time-stamp/ };
  const service = { url: by.log.url, api: 'v2' } as const;
  await t.rejects(openKeyless(by.place({ log: { service, trustedRoot: 'root.json' } }), env), unsupported);
  for (const config of [
    signingConfig(by.log, undefined),
    signingConfig(by.log, by.stamper, { tsaConfig: { selector: 'ALL' } }),
    signingConfig(by.log, by.stamper, { tsaConfig: { selector: 'EXACT', count: 2 } }),
  ])
    await t.rejects(openKeyless(by.place({}, by.root(), config), env), unsupported);
  const one = signingConfig(by.log, by.stamper, { tsaConfig: { selector: 'EXACT', count: 1 } });
  t.ok(await openKeyless(by.place({}, by.root(), one), env));
  await t.rejects(openKeyless(by.place({}, withStamper(by)), env), {
    code: 'CONFIG_INVALID',
    message: /no time-stamp authority/,
  });
  t.equal(by.asked.length + by.log.asked.length + by.stamper.asked.length, 0);
});

t.test(
  'the time-stamp authority of OpenSSL answers, and its answer verifies',
  { skip: withoutOpenssl },
  async (t) => {
    const by = await serveStamped(t);
    const openssl = makeAuthority(t.testdir(), 'stamps');
    by.stamper.lie(({ bytes }) => ({ status: 200, body: openssl.reply(bytes) }));
    const { timestampAuthorities } = rootOfOpenssl([openssl]) as { timestampAuthorities: Json[] };
    const root = withStamper(by, ...timestampAuthorities);
    const sealed = await seal(by, await openKeyless(by.place({}, root), env));
    t.strictSame(refusal(await verify(sealed, anchors(root))), [0]);
    t.strictSame(
      refusal(await verify(sealed, anchors(by.root()))),
      [3, 'signature missing missing'],
      'a verifier who does not know the authority has no time stamp',
    );
    const refused = seal(by, await openKeyless(by.place(), env));
    await t.rejects(refused, {
      code: 'SIGNER_FAILED',
      message: /missing, none by one that the trusted root names/,
    });
  },
);
