import type { KeyObject } from 'node:crypto';
import { sshKeyBlob } from '../../attest/approval/sshsig.ts';
import { wireString } from '../../attest/encoding/wire-string.ts';

/**
 * An Ed25519 private key in the form that `ssh-keygen` and `ssh-add` read (OpenSSH PROTOCOL.key), without a passphrase.
 */
export function formatOpensshKey(key: KeyObject, comment: string): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const secret = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]);
  const blob = sshKeyBlob(key);
  // Behind two equal numbers by which a wrong passphrase would be told; the public half is written as in the blob.
  const plain = Buffer.concat([Buffer.alloc(8), blob, wireString(secret), wireString(Buffer.from(comment))]);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, (8 - (plain.length % 8)) % 8));
  const strings = ['none', 'none', ''].map((text) => wireString(Buffer.from(text)));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...strings,
    Buffer.from([0, 0, 0, 1]),
    wireString(blob),
    wireString(Buffer.concat([plain, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  const ends = ['BEGIN', 'END'].map((end) => `-----${end} OPENSSH PRIVATE KEY-----`);
  return `${[ends[0], ...lines, ends[1]].join('\n')}\n`;
}
