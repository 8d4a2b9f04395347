/* The people, keys, files and repository of the demo. */
import type { KeyObject } from 'node:crypto';
import { chmod, cp, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../api/build.ts';
import { type KeyedApprover, openInProcessApprover } from '../../attest/approval/sign-approval.ts';
import { sshKeyBlob, wireString } from '../../attest/encoding/ssh-wire.ts';
import { generateKey } from '../../attest/keys/key-signer.ts';
import { WritError } from '../../core/base/errors.ts';
import { execFileBounded } from '../../workspace/process/spawn.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import { writeOutput } from '../command-parts/write-output.ts';

/** Somebody of the sample, with a key that exists for this demonstration alone. */
export interface DemoPerson {
  readonly principal: string;
  readonly approver: KeyedApprover;
}

interface DemoPeople {
  /** Author of the spec, who runs it and may not approve it. */
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
  // Layout: two equal check numbers, which detect a wrong passphrase, then the public key, the private key and the
  // comment.
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

/** The sample's shipped files: two states of the service, the spec, four patches, an advisory. */
export const demoFiles = fileURLToPath(new URL('../../fixtures/demo', import.meta.url));

/** Recorded replies of the model (`scripts/record-demo.ts`). */
export const demoTraffic = join(demoFiles, 'model');

/** The same of the session (`scripts/record-demo.ts --session`). */
export const sessionTraffic = join(demoFiles, 'session');

/** Author of the sample. The demo runs under this name. */
export const maintainer = { name: 'Orders maintainer', email: 'maintainer@orders.example' } as const;

/**
 * Both commits of the sample's history, oldest first. Dates are fixed, so that ids depend only on the generated keys.
 */
const history = [
  { folder: 'base', message: 'Orders service', date: '2025-03-01T09:00:00Z' },
  { folder: 'second', message: 'Limit the rate of requests', date: '2025-03-02T09:00:00Z' },
] as const;

/**
 * Makes the sample repository at `directory` (must not exist) with real git. `env` names the program path and a private
 * home; `allowedSigners` is who may approve, from the first commit on.
 */
export async function buildRepository(
  directory: string,
  env: Readonly<Record<string, string>>,
  allowedSigners?: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const git = async (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { code, stderr } = await execFileBounded(['git', ...args], {
      cwd: directory,
      env: { ...env, ...more },
      maxBytes: 1_000_000,
    });
    if (code !== 0)
      throw new WritError('GIT_FAILED', {
        message: `\`git ${args[0]}\` failed: ${stderr.toString('utf8').trim().slice(0, 500)}`,
      });
  };
  await git(['init', '--quiet', '--initial-branch=main', '--template=']);
  await git(['config', 'user.name', maintainer.name]);
  await git(['config', 'user.email', maintainer.email]);
  for (const { folder, message, date } of history) {
    await cp(join(demoFiles, folder), directory, { recursive: true });
    await restoreDotFiles(directory);
    if (allowedSigners !== undefined)
      await writeFile(join(directory, '.writ', 'allowed_signers'), allowedSigners);
    await git(['add', '--all', '--force', '.']);
    await git(['commit', '--quiet', '--no-verify', '--no-gpg-sign', '-m', message], {
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    });
  }
}

/** Packages and tools treat dot files specially, so they are shipped as `dot.<name>`. */
async function restoreDotFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('dot.'))
      await rename(join(directory, name), join(directory, name.slice('dot'.length)));
  }
}

/**
 * Writes a `writ` script into the demo's directory. It runs this program with the demo's home and repository, so
 * printed commands work from any directory. `DEMO_HOME` switches to another user.
 */
export async function writeScript(out: string, home: string, repository: string): Promise<void> {
  const node = inShellQuotes(process.execPath);
  const text = [
    '#!/bin/sh',
    `HOME="\${DEMO_HOME:-${home.replaceAll(/[\\"$`}]/g, '\\$&')}}"`,
    'export HOME',
    'unset XDG_CONFIG_HOME XDG_DATA_HOME CI',
    `exec ${node} ${inShellQuotes(fileURLToPath(ownFile('bin/writ.js')))} --repo ${inShellQuotes(repository)} "$@"`,
    '',
  ].join('\n');
  await chmod(writeOutput(out, 'writ', text), 0o755);
}
