import { createPublicKey } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import type { InProcessApprover } from '../../core/interfaces/approval.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { parseSshPublicKey } from '../encoding/ssh-public-key.ts';
import { openKeyFile } from '../keys/file-key.ts';
import { openSshKeyFile } from '../keys/openssh-key.ts';
import { encodeApprovalDocument } from './approval-document.ts';
import { buildApproval } from './approval-statement.ts';
import { approvalNamespace, signSsh, sshKeyBlob } from './sshsig.ts';

/** An approver whose key this process holds. */
export interface KeyedApprover extends InProcessApprover {
  /** `SHA256:…` */
  readonly keyId: string;
}

/**
 * Opens an unencrypted Ed25519 private key, OpenSSH or PEM, to approve with in this process. KEY_INSECURE where others
 * can reach the file, KEY_UNUSABLE for anything else that is no such key.
 */
export async function openInProcessApprover(path: string): Promise<KeyedApprover> {
  const signer = await openSigner(path);
  const blob = sshKeyBlob(createPublicKey(signer.publicKeyPem));
  return {
    keyId: parseSshPublicKey(blob).fingerprint,
    async approve(subject, signedAtMs) {
      const statement = buildApproval({ subject, decision: 'approve', inProcess: true, signedAtMs });
      const signature = await signSsh(blob, (data) => signer.sign(data), approvalNamespace, statement);
      return encodeApprovalDocument(statement, signature);
    },
  };
}

async function openSigner(path: string): Promise<Signer> {
  const isOpenssh = (await readGuarded(path, true))?.includes('-----BEGIN OPENSSH PRIVATE KEY-----');
  const signer = await (isOpenssh ? openSshKeyFile(path) : openKeyFile(path, 'ed25519'));
  if (signer.algorithm === 'ed25519') return signer;
  throw new WritError('KEY_UNUSABLE', {
    message: `\`${path}\` must be \`ed25519\`, found \`${signer.algorithm}\``,
    detail: { path, expected: 'ed25519', found: signer.algorithm },
  });
}
