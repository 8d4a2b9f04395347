import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Environment } from '../keys/user-config-dir.ts';
import { encodeApprovalDocument } from './approval-document.ts';
import { approvalNamespace, parseSshSignature, refuteSshSignature, type SshSignature } from './sshsig.ts';

/** What a program that was run to its end has said. */
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
  /** Private key file, or public key file whose private half is in the SSH agent. Absolute. */
  readonly keyFile: string;
  readonly env: Environment;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

export interface SignedApproval {
  /** Bytes of `approval.json`. */
  readonly document: Uint8Array;
  /** `SHA256:…` */
  readonly keyId: string;
}

/** What ssh-keygen may see of the environment: where it and its agent are, and how it may ask for a passphrase. */
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
 * Signs a statement with the approver's own SSH key through `ssh-keygen -Y sign`, which asks for a passphrase or a
 * touch by itself. SIGNER_FAILED says what to do; a key whose signatures would not count is KEY_UNUSABLE, and nothing
 * is answered unverified.
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
