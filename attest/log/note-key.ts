import { createPublicKey, type KeyObject } from 'node:crypto';
import { sha256 } from '../../core/base/digest.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseBase64 } from '../encoding/base64.ts';

/** An Ed25519 public key under the name that it signs notes by (C2SP signed-note). */
export interface NoteKey {
  readonly name: string;
  /** SHA-256(name ‖ LF ‖ type ‖ key): its first four octets are the key hint. */
  readonly keyId: Buffer;
  readonly key: KeyObject;
  /** `name+hint+base64(type ‖ key)`: what people pin. */
  readonly vkey: string;
}

/** What a key signs, by its octet in key ids and vkeys: checkpoints of its own log, or those of others as a witness. */
const noteKeyTypes = { log: 0x01, witness: 0x04 } as const;
type NoteKeyType = keyof typeof noteKeyTypes;

/** Binds an Ed25519 public key to a name and a use; any other key is KEY_UNUSABLE. */
export function noteKeyFor(type: NoteKeyType, name: string, key: KeyObject): NoteKey {
  const raw = rawEd25519(key, type);
  if (!isNoteName(name)) throw malformed(type, 'expected a name without white space or `+`');
  const typed = Buffer.concat([Buffer.of(noteKeyTypes[type]), raw]);
  const keyId = sha256(Buffer.concat([Buffer.from(`${name}\n`), typed]));
  const hint = keyId.subarray(0, 4).toString('hex');
  return { name, keyId, key, vkey: `${name}+${hint}+${typed.toString('base64')}` };
}

/**
 * Reads vkey text of that use and recomputes its key hint; ATTESTATION_MALFORMED where they differ or it is of another
 * use.
 */
export function parseNoteVkey(type: NoteKeyType, text: string): NoteKey {
  const match = /^([^\s+]{1,255})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,128})$/.exec(text.trim());
  const typed = parseBase64(match?.[3] ?? '');
  if (match?.[1] === undefined || typed?.length !== 33 || typed[0] !== noteKeyTypes[type]) {
    throw malformed(type, 'expected `name+hint+base64` with an Ed25519 key');
  }
  const x = typed.subarray(1).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const noteKey = noteKeyFor(type, match[1], key);
  if (noteKey.keyId.subarray(0, 4).toString('hex') !== match[2])
    throw malformed(type, 'the hint does not fit the key');
  return noteKey;
}

/** True for a name that a signed note can carry: visible, no `+`, at most 255 characters. */
export function isNoteName(name: string): boolean {
  return /^[^\s+\p{C}]{1,255}$/u.test(name);
}

function rawEd25519(key: KeyObject, type: NoteKeyType): Buffer {
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new WritError('KEY_UNUSABLE', {
      message: `a ${type} key must be Ed25519, found \`${key.asymmetricKeyType ?? key.type}\``,
    });
  }
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url');
}

function malformed(type: NoteKeyType, found: string): WritError {
  return new WritError('ATTESTATION_MALFORMED', {
    message: `the ${type} key cannot be read: ${found}`,
    detail: { what: 'vkey' },
  });
}
