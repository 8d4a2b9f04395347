import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { maySignStatements, readCertificateClaims } from '../../../attest/verify/certificate-claims.ts';
import { verifyExitCode } from '../../../attest/verify/report.ts';
import { long } from '../../rooms/long.ts';
import { type Loose, verifyStranger } from '../verify/strangers.ts';
import { believing, edited, makeFoundry } from './foundry.ts';
import {
  type Authority,
  forCode,
  fulcioIssuer,
  type Holder,
  makeAuthority,
  newKeys,
  oldFulcioIssuer,
  rootOf,
  withoutOpenssl,
} from './openssl.ts';

t.setTimeout(400_000);
const directory = mkdtempSync(join(tmpdir(), 'writ-openssl-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

const issuer = 'https://issuer.example.org';
const ana = 'ana@example.org';
const foundry = await makeFoundry();
const authority = withoutOpenssl ? undefined : makeAuthority(directory, 'one');
const other = withoutOpenssl ? undefined : makeAuthority(directory, 'two');
const hashes: Readonly<Record<string, string>> = { 'P-384': 'sha384', 'P-521': 'sha512' };

/** A bundle by the holder of a certificate, its time told by this authority alone. */
async function stampedBy(
  holder: Holder,
  by: Authority | undefined,
  key = 'P-256',
  digits = 0,
): Promise<Loose> {
  const hash = hashes[key];
  const bundle = await foundry.make({
    certified: { ...holder, ...(hash === undefined ? {} : { hash }) },
    entry: 'none',
  });
  const [{ sig }] = bundle.dsseEnvelope.signatures;
  return edited(bundle, (b) => {
    const response = by?.stamp(Buffer.from(sig, 'base64'), digits);
    b.verificationMaterial.timestampVerificationData = {
      rfc3161Timestamps: response ? [{ signedTimestamp: response.toString('base64') }] : [],
    };
  });
}

const named = (san: string) => [`subjectAltName=${san}`, ...forCode, ...fulcioIssuer(issuer)];

long(
  'identities and issuers are read in every form that Fulcio writes',
  { skip: withoutOpenssl },
  async (t) => {
    const claims = (...extensions: readonly string[]) =>
      readCertificateClaims((authority as Authority).issue([...extensions, ...forCode]).der);
    const v2 = fulcioIssuer(issuer);
    const cases: Record<string, [readonly string[], string | undefined]> = {
      URI: [
        ['subjectAltName=critical,URI:https://ci.example.org/w.yml@refs/heads/main'],
        'https://ci.example.org/w.yml@refs/heads/main',
      ],
      'e-mail': [[`subjectAltName=email:${ana}`], ana],
      'user name': [
        ['subjectAltName=otherName:1.3.6.1.4.1.57264.1.7;UTF8:ana!example.org'],
        'ana!example.org',
      ],
      'another other name': [['subjectAltName=otherName:1.3.6.1.4.1.311.20.2.3;UTF8:ana'], undefined],
      'a user name of another string type': [
        ['subjectAltName=otherName:1.3.6.1.4.1.57264.1.7;IA5:ana'],
        undefined,
      ],
      'several names': [[`subjectAltName=email:${ana},URI:https://ci.example.org/`], undefined],
      'a host name': [['subjectAltName=DNS:ci.example.org'], undefined],
      'no name': [[], undefined],
    };
    for (const [name, [extensions, expected]] of Object.entries(cases))
      t.same(claims(...extensions, ...v2), { identity: expected, issuer }, name);
    const mail = `subjectAltName=email:${ana}`;
    t.equal(claims(mail, ...oldFulcioIssuer(issuer)).issuer, issuer, 'the old form');
    t.equal(claims(mail, ...oldFulcioIssuer(issuer), ...v2).issuer, issuer, 'both, the same');
    t.equal(claims(mail, ...oldFulcioIssuer('https://x'), ...v2).issuer, undefined, 'both, and they differ');
    t.equal(claims(mail).issuer, undefined);
    t.equal(
      claims(mail, `1.3.6.1.4.1.57264.1.8=DER:${Buffer.from(issuer).toString('hex')}`).issuer,
      undefined,
      'the new form, bare',
    );
  },
);

t.test('a malformed certificate or extension has no identity and no issuer', async (t) => {
  const der = (tag: number, ...content: readonly Buffer[]): Buffer => {
    const bytes = Buffer.concat(content);
    return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  };
  const text = Buffer.from('x');
  const nothing = { identity: undefined, issuer: undefined };
  const extensions = (...holder: readonly Buffer[]) => der(0x30, der(0x30, der(0xa3, ...holder)));
  for (const [name, bytes] of Object.entries({
    nothing: Buffer.alloc(0),
    text,
    'no body': der(0x30, der(0x02, text)),
    'no extensions': der(0x30, der(0x30)),
    'extensions that are no sequence': extensions(text),
    'a sequence cut off': extensions(Buffer.from([0x30, 9])),
    'an extension that is none': extensions(der(0x30, der(0x02, text))),
    'names that are no sequence': extensions(
      der(0x30, der(0x30, der(0x06, Buffer.from('551d11', 'hex')), der(0x04, text))),
    ),
    'an extension without a value': extensions(der(0x30, der(0x30, der(0x06, text)))),
    'an extension that is cut off': extensions(der(0x30, der(0x30, Buffer.from([6, 9])))),
  })) {
    t.strictSame(readCertificateClaims(bytes), nothing, name);
    t.equal(maySignStatements(bytes), false, name);
  }
});

long(
  'a time-stamped bundle without a log entry verifies under a root that names no log',
  { skip: withoutOpenssl },
  async (t) => {
    const [one, two] = [authority as Authority, other as Authority];
    const root = rootOf([one], { tlogs: null, ctlogs: [] });
    const wanted = { identity: 'ana!example.org', issuer };
    const userName = named('otherName:1.3.6.1.4.1.57264.1.7;UTF8:ana!example.org');
    for (const key of Object.keys(newKeys) as (keyof typeof newKeys)[]) {
      const report = await verifyStranger(
        await stampedBy(one.issue(userName, key), one, key),
        {},
        believing(root, wanted),
      );
      t.same(
        report.checks.filter(({ status }) => status !== 'passed').map(({ id, code }) => `${id} ${code}`),
        ['log not-required'],
        key,
      );
      t.equal(report.verified, true, key);
    }
    const holder = one.issue(userName);
    const exit = async (bundle: Loose, by: Loose = root, as = wanted) =>
      verifyExitCode(await verifyStranger(bundle, {}, believing(by, as)));
    for (const digits of [1, 2, 3, 6])
      t.equal(
        await exit(await stampedBy(holder, one, 'P-256', digits)),
        0,
        `${digits} digits behind the second`,
      );
    t.equal(await exit(await stampedBy(holder, undefined)), 3, 'no time at all');
    t.equal(await exit(await stampedBy(holder, two)), 3, 'a time by nobody known');
    const both = edited(await stampedBy(holder, one), (b) => b);
    const theirs = await stampedBy(holder, two);
    both.verificationMaterial.timestampVerificationData.rfc3161Timestamps.push(
      ...theirs.verificationMaterial.timestampVerificationData.rfc3161Timestamps,
    );
    t.equal(await exit(await stampedBy(holder, one), rootOf([two, one])), 0, 'the other authority first');
    t.equal(await exit(await stampedBy(holder, one), root, { ...wanted, identity: 'ana' }), 3);
    t.equal(await exit(both), 0, 'a time by nobody known beside one by somebody known');
    const foreign = edited(await stampedBy(holder, one), (b) => {
      b.verificationMaterial.timestampVerificationData =
        theirs.verificationMaterial.timestampVerificationData;
    });
    t.equal(await exit(foreign), 3);
    const borrowed = edited(await stampedBy(holder, one), (b) => {
      b.verificationMaterial.timestampVerificationData.rfc3161Timestamps = [
        { signedTimestamp: one.stamp(Buffer.from('another signature')).toString('base64') },
      ];
    });
    t.equal(await exit(borrowed), 1, 'the time of another signature');
    t.equal(await exit(await stampedBy(two.issue(userName), one)), 3, 'a certificate by nobody known');
  },
);

t.test(
  'a root with only a time-stamp authority requires its time stamp for a bundle by a key',
  { skip: withoutOpenssl },
  async (t) => {
    const one = authority as Authority;
    const { generateKeyPairSync } = await import('node:crypto');
    const { keyIdOf } = await import('../../../attest/encoding/public-key.ts');
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const root = { ...rootOf([one]), certificateAuthorities: null };
    const anchors = {
      ...believing(root, undefined),
      signers: [{ keyId: keyIdOf(publicKey), key: publicKey, from: 'given' as const }],
    };
    const bare = await foundry.make({ key: { privateKey, hint: '' }, entry: 'none' });
    const stamped = (response: Buffer) =>
      edited(bare, (b) => {
        b.verificationMaterial.timestampVerificationData = {
          rfc3161Timestamps: [{ signedTimestamp: response.toString('base64') }],
        };
      });
    const verify = async (bundle: Loose) => {
      const report = await verifyStranger(bundle, { logged: true }, anchors);
      return [verifyExitCode(report), report.checks.find(({ id }) => id === 'time')?.status];
    };
    const signature = Buffer.from(bare.dsseEnvelope.signatures[0].sig, 'base64');
    t.same(await verify(stamped(one.stamp(signature))), [0, 'passed']);
    t.same(await verify(bare), [3, 'missing']);
    t.same(await verify(stamped((other as Authority).stamp(signature))), [3, 'missing']);
    t.same(await verify(stamped(one.stamp(Buffer.from('x')))), [1, 'failed']);
  },
);
