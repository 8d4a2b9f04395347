import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyedApprover, openInProcessApprover } from '../../attest/approval/in-process-approver.ts';
import { sshKeyBlob } from '../../attest/approval/sshsig.ts';
import { generateKey } from '../../attest/keys/key-signer.ts';
import { formatOpensshKey } from './format-openssh-key.ts';

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
