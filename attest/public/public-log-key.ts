import { createPublicKey, type KeyObject } from 'node:crypto';
import { algorithmOf } from '../encoding/public-key.ts';
import type { TrustedRoot } from './trusted-root.ts';

/** A public log as a trusted root names it. */
export interface PublicLogKey {
  /** Its address without scheme: what it signs checkpoints by. */
  readonly name: string;
  /** 32 octets; the first four are the key hint in checkpoints. */
  readonly logId: Buffer;
  readonly key: KeyObject;
  /** Both ends included, milliseconds since the epoch. */
  readonly validFor: { readonly startMs: number; readonly endMs: number };
}

/** The logs of a trusted root whose keys we can check (Ed25519, ECDSA P-256); others are left out. */
export function publicLogsOf({ root }: TrustedRoot): readonly PublicLogKey[] {
  return root.tlogs.flatMap(({ baseUrl, publicKey, logId, checkpointKeyId }) => {
    const name = baseUrl.replace(/^https?:\/\//, '').replace(/\/+$/, '');
    const id = Buffer.from((checkpointKeyId ?? logId)?.keyId ?? '');
    const key = readKey(publicKey?.rawBytes);
    if (key === undefined || id.length !== 32) return [];
    const { start, end } = publicKey?.validFor ?? {};
    return [
      {
        name,
        logId: id,
        key,
        validFor: {
          // Without a start nothing is ever inside; the reader of the file refuses that already.
          startMs: start?.getTime() ?? Number.POSITIVE_INFINITY,
          endMs: end?.getTime() ?? Number.POSITIVE_INFINITY,
        },
      },
    ];
  });
}

function readKey(der: Uint8Array | undefined): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der ?? ''), format: 'der', type: 'spki' });
    algorithmOf(key);
    return key;
  } catch {
    // RSA keys of old logs, listed as PKCS#1, and curves that we do not check.
    return undefined;
  }
}
