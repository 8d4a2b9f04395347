/* Signs approvals: with the approver's own SSH key through ssh-keygen, or with a key that this process holds. */
import { createPublicKey } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readGuarded } from '../../core/base/files.ts';
import type { InProcessApprover } from '../../core/interfaces/approval.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { askGit, type GitDirectory } from '../../workspace/git/git.ts';
import { parseSshPublicKey, sshKeyBlob } from '../encoding/ssh-wire.ts';
import { openKeyFile } from '../keys/key-signer.ts';
import { openSshKeyFile } from '../keys/openssh-key.ts';
import { type Environment, homeOf } from '../keys/user-config-dir.ts';
import { buildApproval, encodeApprovalDocument } from './approval-statement.ts';
import {
  approvalNamespace,
  parseSshSignature,
  refuteSshSignature,
  type SshSignature,
  signSsh,
} from './sshsig.ts';

/** Exit code and output of a finished program. */
interface ProgramAnswer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface SigningWith {
  /** Runs a program to its end; SPAWN_FAILED where it cannot be started, OUTPUT_TOO_LARGE above `maxBytes`. */
  readonly run: (
    argv: readonly string[],
    options: {
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly input: Uint8Array;
      readonly maxBytes: number;
      readonly signal?: AbortSignal;
    },
  ) => Promise<ProgramAnswer>;
  /** Absolute path of a private key file, or of a public key file if the SSH agent holds the private key. */
  readonly keyFile: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

interface SignedApproval {
  /** Bytes of `approval.json`. */
  readonly document: Uint8Array;
  /** `SHA256:…` */
  readonly keyId: string;
}

/** The environment that ssh-keygen may see: its own place, its agent, and its passphrase prompt. */
const passedOn = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TERM',
  'TMPDIR',
  'SSH_AUTH_SOCK',
  'SSH_ASKPASS',
  'SSH_ASKPASS_REQUIRE',
  'SSH_SK_PROVIDER',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
];

/**
 * Signs a statement with the approver's own SSH key through `ssh-keygen -Y sign`, which prompts for a passphrase or a
 * touch. The signature is verified before it is returned.
 *
 * Throws SIGNER_FAILED, which names the next step, or KEY_UNUSABLE for a key that cannot make a valid approval.
 */
export async function signApproval(statement: Uint8Array, using: SigningWith): Promise<SignedApproval> {
  const signature = await sign(statement, using);
  const text = signature.toString('latin1');
  const parsed = parseOwn(text);
  const refutation = refuteSshSignature(parsed, approvalNamespace, statement);
  if (refutation)
    throw new WritError('SIGNER_FAILED', {
      message: `the signature that \`ssh-keygen\` made does not verify: ${refutation.detail}`,
      detail: { ...refutation },
    });
  return { document: encodeApprovalDocument(statement, text), keyId: parsed.key.fingerprint };
}

async function sign(statement: Uint8Array, { run, keyFile, env, cwd, signal }: SigningWith): Promise<Buffer> {
  const given = passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  const argv = ['ssh-keygen', '-Y', 'sign', '-n', approvalNamespace, '-f', keyFile];
  let answer: ProgramAnswer;
  try {
    answer = await run(argv, {
      cwd,
      env: { ...(Object.fromEntries(given) as Record<string, string>), LC_ALL: 'C' },
      input: statement,
      maxBytes: 65_536,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    if (!isWritError(cause, 'SPAWN_FAILED') || cause.detail.errno !== 'ENOENT') throw cause;
    throw new WritError('SIGNER_FAILED', {
      message: '`ssh-keygen` is not on PATH',
      detail: { program: 'ssh-keygen' },
      hints: ['install OpenSSH 8.1 or newer'],
      cause,
    });
  }
  if (answer.code === 0) return answer.stdout;
  const said = answer.stderr.toString('utf8').trim().split(/\r?\n/).at(-1)?.slice(0, 300) ?? '';
  throw new WritError('SIGNER_FAILED', {
    message: `\`ssh-keygen\` could not sign with \`${keyFile}\`: ${said}`,
    detail: { keyFile, exitCode: answer.code },
    hints: [
      'a key with a passphrase: run on a terminal, set SSH_ASKPASS, or `ssh-add` it and pass its `.pub` file with `--key`',
      'a `.pub` file: its private half must be beside it or in the agent (`ssh-add -l`)',
    ],
  });
}

function parseOwn(text: string): SshSignature {
  try {
    return parseSshSignature(text);
  } catch (cause) {
    if (isWritError(cause, 'KEY_UNUSABLE'))
      throw new WritError('KEY_UNUSABLE', {
        message: `an approval with this key would not count: ${cause.message}`,
        detail: cause.detail,
        hints: ['use an Ed25519, ECDSA, RSA (2048 bits or more) or FIDO key'],
        cause,
      });
    throw cause;
  }
}

/** The approver's signing key: a file, or a public key as text if the SSH agent holds the private key. */
export type ApproverKey = { readonly file: string } | { readonly publicKey: string };

const literal = /^(?:key::)?((?:ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/=]+)/;

/**
 * Finds the person's own signing key: `given` (`--key`, absolute, INPUT_UNREADABLE where absent), else
 * `user.signingkey` where git signs with SSH, else `~/.ssh/id_ed25519` or its `.pub` beside an agent. USAGE names what
 * to pass where there is none.
 */
export async function findApproverKey(
  given: string | undefined,
  repository: GitDirectory,
  env: Environment,
): Promise<ApproverKey> {
  if (given !== undefined) {
    if (await isFile(given)) return { file: given };
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${given}\` is no key file`,
      detail: { path: given },
    });
  }
  const format = await configured(repository, ['--get', 'gpg.format']);
  const named =
    format === 'ssh' ? await configured(repository, ['--type=path', '--get', 'user.signingkey']) : '';
  const publicKey = literal.exec(named)?.[1];
  if (publicKey !== undefined) return { publicKey };
  if (named !== '') return { file: resolve(repository.cwd, named) };
  const own = join(homeOf(env), '.ssh', 'id_ed25519');
  for (const file of [own, `${own}.pub`]) if (await isFile(file)) return { file };
  throw new WritError('USAGE', {
    message: 'no SSH key to approve with: git does not sign with one, and there is no `~/.ssh/id_ed25519`',
    detail: { looked_for: ['user.signingkey', own, `${own}.pub`] },
    hints: [
      'pass one: `--key FILE` (a private key, or a `.pub` file whose private half is in the agent)',
      'or let git know it: `git config gpg.format ssh` and `git config user.signingkey FILE`',
    ],
  });
}

async function configured(repository: GitDirectory, args: readonly string[]): Promise<string> {
  const { code, stdout } = await askGit(repository, ['config', ...args]);
  return code === 0 ? stdout.toString('utf8').trim() : '';
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** An approver with a key in this process. */
export interface KeyedApprover extends InProcessApprover {
  /** `SHA256:…` */
  readonly keyId: string;
}

/**
 * Opens an unencrypted Ed25519 private key (OpenSSH or PEM) to sign approvals in this process. Throws KEY_INSECURE if
 * other users can access the file, KEY_UNUSABLE for any other key or file.
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
