import type { KeyObject } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyedApprover, openInProcessApprover } from '../../attest/approval/in-process-approver.ts';
import { sshKeyBlob } from '../../attest/approval/sshsig.ts';
import { wireString } from '../../attest/encoding/wire-string.ts';
import { generateKey } from '../../attest/keys/key-signer.ts';

/** Somebody of the sample, with a key that exists for this demonstration alone. */
export interface DemoPerson {
  readonly principal: string;
  readonly approver: KeyedApprover;
}

export interface DemoPeople {
  /** Wrote the change's contract and runs it: may not approve it. */
  readonly author: DemoPerson;
  readonly reviewers: readonly DemoPerson[];
  /** All of them, as `.writ/allowed_signers` holds them. */
  readonly allowedSigners: string;
}

/** Makes each person's SSH key below `home` (`.ssh/<name>`, 0600, no passphrase). */
export async function makePeople(home: string, author: string): Promise<DemoPeople> {
  const directory = join(home, '.ssh');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lines: string[] = [];
  const make = async (principal: string): Promise<DemoPerson> => {
    const privateKey = generateKey('ed25519');
    const file = join(directory, principal.split('@', 1)[0] ?? principal);
    const line = `ssh-ed25519 ${sshKeyBlob(privateKey).toString('base64')}`;
    await writeFile(file, formatOpensshKey(privateKey, principal), { mode: 0o600, flag: 'wx' });
    await writeFile(`${file}.pub`, `${line} ${principal}\n`, { flag: 'wx' });
    lines.push(`${principal} namespaces="writ-approval@v1" ${line}\n`);
    return { principal, approver: await openInProcessApprover(file) };
  };
  const people = {
    author: await make(author),
    reviewers: [await make('ana@orders.example'), await make('ben@orders.example')],
  };
  return { ...people, allowedSigners: lines.join('') };
}

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
