import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { approvalNamespace } from '../../../attest/approval/sshsig.ts';
import { armour, wire } from './ssh-tools.ts';

/** An Ed25519 key that signs without `ssh-keygen`. */
export interface HandSigner {
  /** `type base64`. */
  readonly publicKey: string;
  sign(message: Uint8Array, namespace?: string): string;
}

export function handSigner(): HandSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const blob = wire('ssh-ed25519', Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url'));
  const magic = Buffer.from('SSHSIG');
  return {
    publicKey: `ssh-ed25519 ${blob.toString('base64')}`,
    sign(message, namespace = approvalNamespace) {
      const digest = createHash('sha512').update(message).digest();
      const signed = Buffer.concat([magic, wire(namespace, '', 'sha512', digest)]);
      const signature = wire('ssh-ed25519', sign(null, signed, privateKey));
      return armour(
        Buffer.concat([magic, Buffer.from([0, 0, 0, 1]), wire(blob, namespace, '', 'sha512', signature)]),
      );
    },
  };
}
