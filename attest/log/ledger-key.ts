import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../base64.ts';

/** A log's Ed25519 public key under the log's name (C2SP signed-note). */
export interface LedgerKey {
  /** The origin of the log. */
  readonly name: string;
  /** SHA-256(name ‖ LF ‖ 0x01 ‖ key): its first four octets are the key hint, all of it the sigstore log id. */
  readonly keyId: Buffer;
  readonly key: KeyObject;
  /** `name+hint+base64(0x01 ‖ key)`: what people pin. */
  readonly vkey: string;
}

const ed25519Type = 1;

/** Binds an Ed25519 public key to a log name; any other key is KEY_UNUSABLE. */
export function ledgerKeyFor(name: string, key: KeyObject): LedgerKey {
  const raw = rawEd25519(key);
  if (!isLogName(name)) throw malformed('expected a name without white space or `+`');
  const typed = Buffer.concat([Buffer.of(ed25519Type), raw]);
  const keyId = sha256(Buffer.concat([Buffer.from(`${name}\n`), typed]));
  const hint = keyId.subarray(0, 4).toString('hex');
  return { name, keyId, key, vkey: `${name}+${hint}+${typed.toString('base64')}` };
}

/** Reads vkey text and recomputes its key hint; ATTESTATION_MALFORMED where they differ or the type is not Ed25519. */
export function parseVkey(text: string): LedgerKey {
  const match = /^([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,128})$/.exec(text.trim());
  const typed = parseBase64(match?.[3] ?? '');
  if (match?.[1] === undefined || typed?.length !== 33 || typed[0] !== ed25519Type) {
    throw malformed('expected `name+hint+base64` with an Ed25519 key');
  }
  const x = typed.subarray(1).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const ledgerKey = ledgerKeyFor(match[1], key);
  if (ledgerKey.keyId.subarray(0, 4).toString('hex') !== match[2])
    throw malformed('the hint does not fit the key');
  return ledgerKey;
}

/** True for a name that a signed note can carry: visible, no `+`, at most 255 characters. */
export function isLogName(name: string): boolean {
  return /^[^\s+\p{C}]{1,255}$/u.test(name);
}

function rawEd25519(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new WritError('KEY_UNUSABLE', {
      message: `a ledger key must be Ed25519, found \`${key.asymmetricKeyType ?? key.type}\``,
    });
  }
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
}

function malformed(found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the ledger key cannot be read: ${found}`,
    detail: { what: 'vkey' },
  });
}
