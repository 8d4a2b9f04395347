/* Tests the promises of a signer. */
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { inspect } from 'node:util';
import { sha256Hex } from '../../../core/base/canonical.ts';
import type { Signer, SignerSource } from '../../../core/interfaces/sealing.ts';
import { openSealingPlace, readParties, type SealingSubject } from '../../../plugins/testers/log-tester.ts';
import { type CaseRunner, type Promises, runCases } from '../../../plugins/testers/run-cases.ts';

/** A source of keys to be tested, and a key of it as somebody would configure it. */
export interface SignerSubject {
  /** The name in the slot: the form of its keys. */
  readonly name: string;
  readonly source: SignerSource;
  /** Lines of `[signer]` in `.writ/config.toml`, such as `key = "file:~/key.pem"`; empty for the default key. */
  readonly signer: string;
  /**
   * Present for a key that lives for one run: opened again it is a different key, and a certificate names its owner.
   */
  readonly perRun?: true;
  /** What the key is opened over, for one that others certify; absent for one that needs no place. */
  readonly place?: SealingSubject;
}

const text = (value: string): Buffer => Buffer.from(value);
const curves = { 'ecdsa-p256-sha256': 'prime256v1', ed25519: undefined } as const;

/**
 * Runs a source of keys through what every signer promises; rejects with an AssertionError that names the promise that
 * is not kept.
 */
export async function signerTester(runner: CaseRunner | undefined, subject: SignerSubject): Promise<void> {
  await runCases(runner, 'signer', subject.name, promisesOf(subject));
}

function promisesOf(subject: SignerSubject): Promises {
  const { name, source, perRun, place: over } = subject;
  const asked = { signers: new Map([[name, source]]), signer: subject.signer };
  const keyAsked = () => readParties(asked, over).signer.key;
  const open = async (): Promise<Signer> =>
    source.open(keyAsked(), over && (await openSealingPlace(over, asked)));
  return {
    'a key is asked for by the name of its source': async () => {
      assert.equal(keyAsked().form, name);
    },
    'what is no key of it is refused in words that do not repeat it': async () => {
      const secret = privatePem();
      for (const rest of [secret, `${secret} `, '', undefined]) {
        const answer = source.parse(rest);
        if (answer === undefined || !('expected' in answer)) continue;
        assert.ok(!rest || !String(answer.expected).includes(rest), 'the message holds what was pasted');
      }
      for (const setting of source.settings ?? []) {
        const answer = setting.parse(secret);
        assert.ok(
          !('expected' in answer && answer.expected.includes(secret)),
          `\`${setting.key}\` repeats it`,
        );
      }
    },
    'its public key verifies what it signs, and nothing else': async () => {
      const signer = await open();
      const key = publicKeyOf(signer);
      for (const data of [text('what is signed'), Buffer.alloc(0), Buffer.alloc(100_000, 'long')]) {
        const signature = await signer.sign(data);
        assert.ok(isSigned(signer, key, data, signature), `no valid signature over ${data.length} bytes`);
        assert.ok(!isSigned(signer, key, text('other'), signature), 'the signature fits other bytes, too');
      }
    },
    'signatures that are made at once are each of their own bytes': async () => {
      const signer = await open();
      const key = publicKeyOf(signer);
      const all = ['one', 'two', 'three', 'four'].map(text);
      const signatures = await Promise.all(all.map((data) => signer.sign(data)));
      for (const [index, data] of all.entries())
        assert.ok(isSigned(signer, key, data, signatures[index] ?? Buffer.alloc(0)), data.toString());
    },
    'its public key is one of its algorithm, and the key id is its SHA-256': async () => {
      const signer = await open();
      assert.match(signer.publicKeyPem, /^-----BEGIN PUBLIC KEY-----\n/);
      const key = publicKeyOf(signer);
      assert.ok(
        Object.hasOwn(curves, signer.algorithm),
        `\`${signer.algorithm}\` is no algorithm of a signer`,
      );
      assert.equal(key.asymmetricKeyType, signer.algorithm === 'ed25519' ? 'ed25519' : 'ec');
      assert.equal(key.asymmetricKeyDetails?.namedCurve, curves[signer.algorithm]);
      assert.equal(signer.keyId, sha256Hex(key.export({ type: 'spki', format: 'der' })));
    },
    'nothing of it shows a private key': async () => {
      const signer = await open();
      await signer.sign(text('what is signed'));
      const shown = `${JSON.stringify(signer)}${inspect(signer, { depth: 8, showHidden: true })}`;
      assert.ok(!/PRIVATE KEY|"d":"/.test(shown), 'a private key can be read off it');
    },
    'a key that is asked for is none that is thrown away': async () => {
      assert.equal((await open()).ephemeral, false);
    },
    ...(perRun
      ? {
          'a certificate binds the key of one run to an identity': async () =>
            requireCertificate(await open()),
        }
      : {
          'opened again it is the same key': async () => {
            assert.equal((await open()).keyId, (await open()).keyId);
          },
        }),
  };
}

/** Requires a certificate after a signature, the order that a run uses. */
async function requireCertificate(signer: Signer): Promise<void> {
  await signer.sign(text('what is signed'));
  const der = signer.certificate?.();
  assert.ok(der, 'it brings no certificate');
  const { publicKey } = new X509Certificate(der);
  assert.ok(publicKey.equals(publicKeyOf(signer)), 'the certificate is that of another key');
}

function publicKeyOf({ publicKeyPem }: Signer): KeyObject {
  return createPublicKey(publicKeyPem);
}

function isSigned({ algorithm }: Signer, key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  return verify(algorithm === 'ed25519' ? null : 'sha256', data, key, signature);
}

/** What somebody may paste by mistake. */
function privatePem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
