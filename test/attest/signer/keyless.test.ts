import { createPublicKey, X509Certificate } from 'node:crypto';
import { initializeCA, initializeCTLog } from '@sigstore/mock';
import t from 'tap';
import { verifyOwnSeal } from '../../../attest/attestor/attesting.ts';
import { parseBundle } from '../../../attest/bundle/bundle.ts';
import { isSignedBy } from '../../../attest/encoding/public-key.ts';
import { generateKey, toSigner } from '../../../attest/keys/key-signer.ts';
import type { Anchors } from '../../../attest/verify/anchors.ts';
import { isForSigning } from '../../../attest/verify/certificate-claims.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { isWritError } from '../../../core/base/errors.ts';
import type { Signer } from '../../../core/interfaces/sealing.ts';
import { replayRecord } from '../../../engine/decide/replay-record.ts';
import { beforeLogging, stepsOfClaim, stepsOfKey } from '../../../engine/seal/attest.ts';
import { stepsInMemory } from '../../../engine/state/record-collector.ts';
import { type Answered, type Json, serve } from '../public/log-servers.ts';
import { copyOf, makeMachine, removeMachines, resealStatement } from '../verify/sealed-run.ts';
import {
  anchors,
  blindSigner,
  chainOf,
  identity,
  issue,
  issuer,
  logOf,
  openKeyless as open,
  pair,
  refusal,
  rootOf,
  seal,
  serveAuthorities,
  tokenOf,
  verify,
} from './authorities.ts';
import { createSignerSource } from './signer-source.ts';

t.teardown(removeMachines);

interface Asking {
  readonly publicKeyRequest: {
    readonly publicKey: { readonly content: string };
    readonly proofOfPossession: string;
  };
}
const data = Buffer.from('what is signed');

/** Everything that an error could tell anybody. */
function tellsOf(fault: unknown): string {
  const seen = new Set<unknown>();
  const tell = (value: unknown): string => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return String(value);
    seen.add(value);
    return Reflect.ownKeys(value)
      .map((key) => `${String(key)} ${tell((value as Record<PropertyKey, unknown>)[key])}`)
      .join('\n');
  };
  return tell(fault);
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (fault) {
    return fault;
  }
  return undefined;
}

t.test('a keyless set has one certificate and verifies by identity, issuer and trusted root', async (t) => {
  const authorities = await serveAuthorities(t);
  const signer = await open(authorities.place(), { SIGSTORE_ID_TOKEN: tokenOf() });
  t.equal(authorities.asked.length, 0, 'opening asks no authority');
  t.throws(() => signer.certificate?.(), { code: 'INTERNAL' });
  const sealed = await seal(authorities, signer);
  t.equal(authorities.asked.length, 1);
  const { publicKeyRequest: wanted } = JSON.parse(authorities.asked[0]?.body ?? '') as Asking;
  const possession = Buffer.from(wanted.proofOfPossession, 'base64');
  t.ok(isSignedBy(createPublicKey(wanted.publicKey.content), Buffer.from(identity), possession));
  t.equal(wanted.publicKey.content, signer.publicKeyPem);
  const bundles = [...sealed.run].filter(([path]) => path.endsWith('.sigstore.json'));
  t.equal(bundles.length, 5);
  for (const [path, bytes] of bundles)
    t.same(parseBundle(bytes).certificate, Buffer.from(signer.certificate?.() ?? ''), path);

  const root = authorities.root();
  const report = await verify(sealed, anchors(root));
  t.strictSame(refusal(report), [0]);
  t.strictSame(report.grounds.signer, { identity, issuer });
  const own = await verifyOwnSeal(
    {
      runId: 'run-1',
      commit: sealed.commit,
      files: sealed.run,
      allowedSigners: new Uint8Array(),
      replay: replayRecord,
      contentPaths: [...sealed.content.keys()],
      readContent: async (path) => sealed.content.get(path),
    },
    { signer, log: logOf(authorities, signer) },
  );
  t.match(own, [/^replay failed/], 'the record of this fixture decides nothing');
  t.equal(own.length, 1);

  const stranger = await serveAuthorities(t);
  const untrusted = [3, 'signature unverified untrusted-signer'];
  const without = (name: string) => authorities.root((all) => ({ ...all, [name]: [] }));
  const cases: Record<string, readonly [Anchors, readonly unknown[]]> = {
    'wrong identity': [anchors(root, { identity: `${identity}x`, issuer }), untrusted],
    'wrong issuer': [anchors(root, { identity, issuer: 'https://other.example.org' }), untrusted],
    'another root': [
      anchors(
        authorities.root((all) => ({
          ...all,
          certificateAuthorities: JSON.parse(stranger.root()).certificateAuthorities,
        })),
      ),
      untrusted,
    ],
    'another certificate log': [
      anchors(authorities.root((all) => ({ ...all, ctlogs: JSON.parse(stranger.root()).ctlogs }))),
      untrusted,
    ],
    'no certificate log': [anchors(without('ctlogs')), untrusted],
    'a key of the same id': [
      {
        ...anchors(undefined, undefined),
        signers: [{ keyId: signer.keyId, key: createPublicKey(signer.publicKeyPem), from: 'given' }],
      },
      untrusted,
    ],
    'another log': [
      anchors(authorities.root((all) => ({ ...all, tlogs: JSON.parse(stranger.root()).tlogs }))),
      [3, 'signature unverified untrusted-log'],
    ],
  };
  for (const [name, [by, expected]] of Object.entries(cases))
    t.strictSame(refusal(await verify(sealed, by)), expected, name);
  const nobody = await verify(sealed, { ...anchors(root), identity: undefined } as unknown as Anchors);
  t.match(
    nobody.checks.find(({ id }) => id === 'signature'),
    {
      code: 'untrusted-signer',
      detail: { identity, issuer },
    },
  );
  t.equal(verifyExitCode(nobody), 3);

  const decision = 'statements/decision.sigstore.json';
  t.ok(sealed.run.has(decision));
  const other = await blindSigner(authorities.ca);
  const swapped = await resealStatement(makeMachine(), sealed, decision, (same) => same, { signer: other });
  t.strictSame(refusal(await verify(swapped, anchors(root))), [
    1,
    'manifest unverified untrusted-signer',
    'decision unverified untrusted-signer',
    'summary failed mismatch',
    'evidence:statements/decision.sigstore.json failed mismatch',
  ]);
  const sameKey = copyOf(sealed);
  const again = await issue(authorities.ca, createPublicKey(signer.publicKeyPem));
  const edit = (path: string, change: (bundle: Json) => void): void => {
    const bundle = JSON.parse(String(sealed.run.get(path))) as Json;
    change(bundle);
    sameKey.run.set(path, Buffer.from(JSON.stringify(bundle)));
  };
  edit('evidence-manifest.sigstore.json', ({ verificationMaterial }) =>
    Object.assign(verificationMaterial as Json, { certificate: { rawBytes: again.toString('base64') } }),
  );
  t.strictSame(
    refusal(await verify(sameKey, anchors(root))),
    [3, 'manifest unverified untrusted-signer'],
    'another certificate of the same key and identity',
  );
  const stolen = await issue(authorities.ca, pair().publicKey);
  edit('evidence-manifest.sigstore.json', ({ verificationMaterial }) =>
    Object.assign(verificationMaterial as Json, { certificate: { rawBytes: stolen.toString('base64') } }),
  );
  t.strictSame(
    refusal(await verify(sameKey, anchors(root))),
    [1, 'manifest failed malformed'],
    'a certificate of another key',
  );
  edit('evidence-manifest.sigstore.json', ({ verificationMaterial }) => {
    Object.assign(verificationMaterial as Json, {
      certificate: undefined,
      publicKey: { hint: signer.keyId },
    });
  });
  t.strictSame(refusal(await verify(sameKey, anchors(root))), [3, 'manifest unverified untrusted-signer']);
  edit('evidence-manifest.sigstore.json', ({ dsseEnvelope }) => {
    const [signature] = (dsseEnvelope as { signatures: { sig: string }[] }).signatures;
    if (signature) signature.sig = Buffer.alloc(70, 1).toString('base64');
  });
  t.strictSame(refusal(await verify(sameKey, anchors(root))), [1, 'manifest failed bad-signature']);
});

t.test('a pinned key does not satisfy a required identity', async (t) => {
  const authorities = await serveAuthorities(t);
  const managed = toSigner(generateKey('ecdsa-p256-sha256'), false);
  const sealed = await seal(authorities, managed);
  const key = createPublicKey(managed.publicKeyPem);
  const pinned = (wanted: Anchors['identity']): Anchors => ({
    ...anchors(authorities.root(), wanted),
    signers: [{ keyId: managed.keyId, key, from: 'pinned' }],
  });
  const { identity: _none, ...keysAlone } = pinned({ identity, issuer });
  t.strictSame(refusal(await verify(sealed, keysAlone)), [0]);
  t.strictSame(refusal(await verify(sealed, pinned({ identity, issuer }))), [
    3,
    'signature unverified untrusted-signer',
  ]);
});

t.test('only a leaf for code signing signs', async (t) => {
  const ca = await initializeCA(pair());
  t.ok(isForSigning(new X509Certificate(await issue(ca, pair().publicKey))));
  t.notOk(isForSigning(new X509Certificate(Buffer.from(rootOf(ca), 'base64'))), 'an authority');
});

t.test('a set signed with a certificate that was not valid is refused, even if it is logged', async (t) => {
  const authorities = await serveAuthorities(t);
  const early = await serveAuthorities(t, { at: new Date(Date.now() - 3_600_000) });
  const noSct = await initializeCA(pair());
  const rootWith = (ca: typeof noSct) =>
    authorities.root((all) => ({
      ...all,
      certificateAuthorities: [
        ...(all.certificateAuthorities as Json[]),
        {
          certChain: { certificates: [{ rawBytes: rootOf(ca) }] },
          validFor: { start: '2020-01-01T00:00:00Z' },
        },
      ],
    }));
  const expired = await seal(authorities, await blindSigner(early.ca));
  const ctlogs = (JSON.parse(early.root()) as Json).ctlogs;
  const root = JSON.parse(rootWith(early.ca)) as Json;
  t.match(refusal(await verify(expired, anchors(JSON.stringify({ ...root, ctlogs })))), [
    1,
    'signature failed stale',
  ]);
  const unseen = await seal(authorities, await blindSigner(noSct));
  t.match(refusal(await verify(unseen, anchors(rootWith(noSct)))), [
    3,
    'signature unverified untrusted-signer',
  ]);
  const unlogged = JSON.stringify({ ...(JSON.parse(rootWith(noSct)) as Json), ctlogs: [] });
  t.match(
    refusal(await verify(unseen, anchors(unlogged))),
    [3, 'signature unverified untrusted-signer'],
    'nor by a root without certificate logs',
  );
  const self = await seal(
    authorities,
    await blindSigner(await initializeCA(pair(), await initializeCTLog(pair()))),
  );
  t.match(refusal(await verify(self, anchors(authorities.root()))), [
    3,
    'signature unverified untrusted-signer',
  ]);
});

t.test('each failure of a certificate authority has its own error, without the token', async (t) => {
  const authorities = await serveAuthorities(t);
  const token = tokenOf();
  const { ca } = authorities;
  const askedKey = (body: string) =>
    createPublicKey(
      (JSON.parse(body) as { publicKeyRequest: { publicKey: { content: string } } }).publicKeyRequest
        .publicKey.content,
    );
  const foreign = await initializeCA(pair(), await initializeCTLog(pair()));
  const old = await initializeCA(pair(), await initializeCTLog(pair()), new Date(Date.now() - 3_600_000));
  const early = await initializeCA(pair(), await initializeCTLog(pair()), new Date(Date.now() + 3_600_000));
  const noSct = await initializeCA(pair());
  const claims = token.split('.')[1] ?? '';
  const cases: Record<string, readonly [(body: string) => Promise<Answered>, RegExp]> = {
    'another key': [async () => chainOf(await issue(ca, pair().publicKey)), /another key/],
    'another identity': [
      async (body) => chainOf(await issue(ca, askedKey(body), 'https://eve.example.org')),
      /eve\.example\.org/,
    ],
    'another issuer': [
      async (body) => chainOf(await issue(ca, askedKey(body), identity, 'https://eve.example.org')),
      /eve/,
    ],
    expired: [async (body) => chainOf(await issue(old, askedKey(body))), /holds from/],
    'not yet valid': [async (body) => chainOf(await issue(early, askedKey(body))), /holds from/],
    'another root': [async (body) => chainOf(await issue(foreign, askedKey(body))), /does not hold/],
    'no SCT': [async (body) => chainOf(await issue(noSct, askedKey(body))), /does not hold/],
    'the token as identity': [
      async (body) => chainOf(await issue(ca, askedKey(body), `https://x/${claims}`)),
      /repeats the token/,
    ],
    'the token in an error': [
      async () => ({ status: 400, body: JSON.stringify({ code: 3, message: token }) }),
      /answered 400/,
    ],
    'the token as a member': [
      async () => ({ status: 201, body: `{"${token}":1,"${token}":2}` }),
      /no certificate/,
    ],
    'the token as a certificate': [
      async () => ({
        status: 201,
        body: JSON.stringify({
          signedCertificateEmbeddedSct: {
            chain: { certificates: [`-----BEGIN CERTIFICATE-----\n${token}`] },
          },
        }),
      }),
      /no certificate/,
    ],
    'an empty chain': [
      async () => ({ status: 201, body: '{"signedCertificateDetachedSct":{"chain":{"certificates":[]}}}' }),
      /no certificate/,
    ],
    'a redirect': [
      async () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' } }),
      /answered 302/,
    ],
    'too much': [async () => ({ status: 201, body: 'x'.repeat(300 * 1024) }), /more than/],
  };
  for (const [name, [lie, message]] of Object.entries(cases)) {
    authorities.lie(({ body }) => lie(body));
    const signer = await open(authorities.place(), { SIGSTORE_ID_TOKEN: token });
    const fault = await faultOf(signer.sign(data));
    t.ok(isWritError(fault, 'SIGNER_FAILED'), name);
    t.match(String((fault as Error).message), message, name);
    const tells = tellsOf(fault) + JSON.stringify(fault);
    for (const part of token.split('.')) t.notOk(tells.includes(part.slice(0, 16)), name);
    t.notOk(tellsOf(signer).includes(claims.slice(0, 16)), name);
  }
  authorities.lie(async ({ body }) => chainOf(await issue(ca, askedKey(body))));
  const honest = await open(authorities.place(), { SIGSTORE_ID_TOKEN: token });
  t.ok(await honest.sign(data), 'each is refused for its lie alone');
});

t.test('a keyless signer that nobody could verify later is refused before any work', async (t) => {
  const authorities = await serveAuthorities(t);
  const { place, log, url } = authorities;
  const env = { SIGSTORE_ID_TOKEN: tokenOf() };
  for (const one of [
    undefined,
    place({ logMode: 'internal-ledger' }),
    place({ logMode: 'none' }),
    place({ log: { service: { url: log.url, api: 'v2' }, trustedRoot: 'root.json' } }),
  ])
    await t.rejects(open(one, env), { code: 'SIGNER_UNSUPPORTED', message: /could not be verified later/ });
  for (const name of ['ctlogs', 'certificateAuthorities'])
    await t.rejects(
      open(
        place(
          {},
          authorities.root((all) => ({ ...all, [name]: [] })),
        ),
        env,
      ),
      { code: 'CONFIG_INVALID' },
    );
  await t.rejects(open(place({ signer: { key: { form: 'keyless' } } }), env), { code: 'CONFIG_INVALID' });
  await t.rejects(open(place(), {}), { code: 'SIGNER_FAILED', message: /no OIDC token/ });
  const signs = async (SIGSTORE_ID_TOKEN: string) => (await open(place(), { SIGSTORE_ID_TOKEN })).sign(data);
  for (const token of [
    'x',
    tokenOf({ exp: 1 }),
    tokenOf({ iss: undefined }),
    tokenOf({ sub: undefined }),
    'a.b.c',
  ])
    await t.rejects(signs(token), { code: 'SIGNER_FAILED' });
  t.equal(authorities.asked.length, 0, `${url} was not asked`);
});

t.test('a GitHub workflow requests its own token and signs with the workflow as identity', async (t) => {
  const authorities = await serveAuthorities(t);
  const [secret, workflow] = ['request-secret-0123456789', 'o/r/.github/workflows/x.yml@refs/heads/main'];
  const iss = 'https://token.actions.githubusercontent.com';
  const token = tokenOf({ iss, sub: 'repo:o/r:ref:refs/heads/main', job_workflow_ref: workflow });
  let status = 200;
  const github = await serve(t, () => ({ status, body: JSON.stringify({ value: token }) }));
  const env = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}/id?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret,
  };
  authorities.lie(async ({ body }) => {
    const { content } = (JSON.parse(body) as { publicKeyRequest: { publicKey: { content: string } } })
      .publicKeyRequest.publicKey;
    return chainOf(
      await issue(authorities.ca, createPublicKey(content), `https://github.com/${workflow}`, iss),
    );
  });
  const signer = await open(authorities.place(), env);
  t.equal(github.asked.length, 0);
  await Promise.all([signer.sign(data), signer.sign(data)]);
  t.equal(authorities.asked.length, 1, 'one certificate for signatures that are made at once');
  t.match(github.asked[0], {
    method: 'GET',
    path: '/id?api-version=2.0&audience=sigstore',
    headers: { authorization: `bearer ${secret}` },
  });
  status = 403;
  const fault = await faultOf((await open(authorities.place(), env)).sign(data));
  t.match(fault, { code: 'SIGNER_FAILED', message: /answered 403/ });
  t.notOk(tellsOf(fault).includes(secret));
});

t.test('a verified e-mail address is the identity, with the connector as issuer', async (t) => {
  const authorities = await serveAuthorities(t);
  const [email, connector] = ['dev@example.org', 'https://github.example.org/login/oauth'];
  const claims = { email, email_verified: true, federated_claims: { connector_id: connector } };
  const signedFor = (more: Json, name: string, by: string) => {
    authorities.lie(async ({ body }) => {
      const { publicKeyRequest: wanted } = JSON.parse(body) as Asking;
      const key = createPublicKey(wanted.publicKey.content);
      const possession = Buffer.from(wanted.proofOfPossession, 'base64');
      t.equal(isSignedBy(key, Buffer.from(email), possession), more.email_verified !== false);
      return chainOf(await issue(authorities.ca, key, name, by));
    });
    return open(authorities.place(), { SIGSTORE_ID_TOKEN: tokenOf({ ...claims, ...more }) }).then((one) =>
      one.sign(data),
    );
  };
  // The mock writes every name as a URI.
  t.ok(await signedFor({}, email, connector));
  await t.rejects(signedFor({}, identity, connector), { code: 'SIGNER_FAILED' }, 'not by its subject');
  await t.rejects(signedFor({ email_verified: false }, email, issuer), { code: 'SIGNER_FAILED' });
});

t.test(
  'an expiring certificate is replaced, and the new certificate is verified like the first',
  async (t) => {
    const authorities = await serveAuthorities(t);
    let minutes = 0;
    const clock = { ...systemClock, now: () => Date.now() + minutes * 60_000 };
    const source = createSignerSource({ env: { SIGSTORE_ID_TOKEN: tokenOf() }, ephemeral: false, clock });
    const signer = await source.open({ form: 'keyless' }, authorities.place());
    await signer.sign(data);
    minutes = 6;
    await signer.sign(data);
    t.equal(authorities.asked.length, 1);
    minutes = 8;
    await t.rejects(signer.sign(data), { code: 'SIGNER_FAILED', message: /holds from/ });
    t.equal(authorities.asked.length, 2);
    t.throws(() => signer.certificate?.(), { code: 'INTERNAL' });
  },
);

t.test('steps signed with a lost key are signed again unless logging has begun', async (t) => {
  const keyless = (): Signer => ({
    ...toSigner(generateKey('ecdsa-p256-sha256'), false),
    certificate: () => Buffer.alloc(1),
  });
  const [first, second] = [keyless(), keyless()];
  const steps = stepsInMemory();
  t.equal(await stepsOfClaim(steps, first).once('signed', () => 1), 1);
  t.equal(await stepsOfClaim(steps, second).once('signed', () => 2), 2, 'nothing was logged: made anew');
  await beforeLogging(steps, second);
  t.equal(await stepsOfClaim(steps, second).once('logged', () => 3), 3);
  t.equal(await stepsOfClaim(steps, first).once('signed', () => 4), 2, 'what ended is answered');
  await t.rejects(
    stepsOfClaim(steps, first).once('summary', () => 5),
    { code: 'SIGNER_FAILED', message: /was stopped/ },
  );
  t.equal(await stepsOfClaim(steps, second).once('summary', () => 6), 6);
  const managed = toSigner(generateKey('ecdsa-p256-sha256'), false);
  t.equal(stepsOfKey(steps, managed), steps);
});
