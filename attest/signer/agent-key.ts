/* Signs with a key of the SSH agent. */
import type { KeyObject } from 'node:crypto';
import { connect } from 'node:net';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { algorithmOf, isSignedBy, keyIdOf } from '../encoding/public-key.ts';
import { parseSshPublicKey, type SshPublicKey, WireReader, wireString } from '../encoding/ssh-wire.ts';
import type { Environment } from '../keys/user-config-dir.ts';

interface Candidate {
  readonly listed: AgentKey;
  readonly key: SshPublicKey;
}

/** Key types with an SSH signature that differs from writ's signature only in its encoding. */
const suitable: Readonly<Record<string, Signer['algorithm']>> = {
  'ssh-ed25519': 'ed25519',
  'ecdsa-sha2-nistp256': 'ecdsa-p256-sha256',
};

/**
 * Signs with a key of the agent at SSH_AUTH_SOCK: the key with the given fingerprint or comment, else its only
 * suitable one (Ed25519, ECDSA P-256). Each signature is verified before it is returned.
 *
 * Throws KEY_UNUSABLE if there is no agent, no such key, more than one, or only an unsupported type.
 */
export async function openAgentKey(wanted: string | undefined, env: Environment): Promise<Signer> {
  const socketPath = env.SSH_AUTH_SOCK ?? '';
  if (socketPath === '')
    throw unusable('SSH_AUTH_SOCK is not set, so there is no SSH agent to ask', [
      'start one: `eval "$(ssh-agent)"`, then `ssh-add KEYFILE`',
      'or name a file: `[signer] key = "file:PATH"` (PEM) or `"ssh:PATH"` (OpenSSH)',
    ]);
  const { listed, key } = choose(await listAgentKeys(socketPath), wanted);
  const algorithm = algorithmOf(key.key);
  const keyId = keyIdOf(key.key);
  return {
    algorithm,
    keyId,
    publicKeyPem: key.key.export({ type: 'spki', format: 'pem' }).toString(),
    ephemeral: false,
    sign: async (data) => {
      const signature = toPlainSignature(await signWithAgent(socketPath, listed, data), key.type);
      if (signature !== undefined && verifies(key.key, data, signature)) return signature;
      throw new WritError('SIGNER_FAILED', {
        message: 'the signature that the SSH agent made does not verify with the key it was asked for',
        detail: { keyId, fingerprint: key.fingerprint },
      });
    },
  };
}

function choose(keys: readonly AgentKey[], wanted: string | undefined): Candidate {
  const read = keys.map(readKey);
  const meant = read.filter(
    ({ listed, key }) => wanted === undefined || key?.fingerprint === wanted || listed.comment === wanted,
  );
  const usable = meant.flatMap(({ listed, key }) =>
    key !== undefined && suitable[key.type] !== undefined ? [{ listed, key }] : [],
  );
  const [first, second] = usable;
  if (first !== undefined && second === undefined) return first;
  const found = read.map(({ listed, key, type }) =>
    [key?.fingerprint ?? '', type, listed.comment.slice(0, 100)].filter((part) => part !== '').join(' '),
  );
  if (first !== undefined)
    throw unusable(
      wanted === undefined
        ? `the SSH agent holds ${usable.length} suitable keys, expected one`
        : `\`${wanted}\` names ${usable.length} keys of the SSH agent, expected one`,
      ['name one: `[signer] key = "agent:SHA256:…"` (`ssh-add -l` prints the fingerprints)'],
      found,
    );
  const types = [...new Set(meant.map(({ type }) => type))].join(', ');
  throw unusable(
    meant.length === 0
      ? `the SSH agent holds no key${wanted === undefined ? '' : ` \`${wanted}\``}`
      : `the SSH agent's key is \`${types}\`, expected ssh-ed25519 or ecdsa-sha2-nistp256`,
    meant.length === 0
      ? ['add it with `ssh-add KEYFILE`; `ssh-add -l` lists what is there']
      : [
          'make one: `ssh-keygen -t ed25519`, then `ssh-add` it; RSA and security keys make signatures of another form',
        ],
    found,
  );
}

function readKey(listed: AgentKey): { listed: AgentKey; key: SshPublicKey | undefined; type: string } {
  try {
    const key = parseSshPublicKey(listed.blob);
    return { listed, key, type: key.type };
  } catch (fault) {
    if (!isWritError(fault)) throw fault;
    // A certificate, or an old or weak key: it is ignored, and named where the user selects it.
    return { listed, key: undefined, type: typeOf(listed.blob) };
  }
}

function typeOf(blob: Buffer): string {
  try {
    return new WireReader(blob).name().slice(0, 64);
  } catch {
    return 'unreadable';
  }
}

/**
 * The signature inside an SSH signature blob, ECDSA as ASN.1 DER; `undefined` where it is of another algorithm than the
 * key.
 */
export function toPlainSignature(blob: Uint8Array, type: string): Buffer | undefined {
  try {
    const reader = new WireReader(blob);
    if (reader.name() !== type) return undefined;
    const octets = reader.string(256);
    reader.end();
    if (type === 'ssh-ed25519') return Buffer.from(octets);
    const numbers = new WireReader(octets);
    const pair = [numbers.positive(32), numbers.positive(32)].map(toDerInteger);
    numbers.end();
    const body = Buffer.concat(pair);
    return Buffer.concat([Buffer.of(0x30, body.length), body]);
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}

/** At most 33 bytes, so that one byte encodes the length. */
function toDerInteger(magnitude: Buffer): Buffer {
  const value = (magnitude[0] ?? 0) < 0x80 ? magnitude : Buffer.concat([Buffer.of(0), magnitude]);
  return Buffer.concat([Buffer.of(0x02, value.length), value]);
}

function verifies(key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  try {
    return isSignedBy(key, data, signature);
  } catch (fault) {
    throw new WritError('SIGNER_FAILED', { message: messageOf(fault), cause: fault });
  }
}

function unusable(message: string, hints: readonly string[], found: readonly string[] = []): WritError {
  return new WritError('KEY_UNUSABLE', {
    message,
    detail: found.length === 0 ? {} : { found: found.slice(0, 20) },
    hints,
  });
}

/** A key as an agent lists it. */
interface AgentKey {
  /** Public key in the SSH wire format. */
  readonly blob: Buffer;
  /** Whatever the one who added it wrote. */
  readonly comment: string;
}

/** Message numbers of the agent protocol (draft-ietf-sshm-ssh-agent, 6.1). */
const ask = { identities: 11, sign: 13 } as const;
const answers = { failure: 5, identities: 12, signature: 14 } as const;

/** OpenSSH's own limit for a message to an agent, and ours for an answer. */
const maxMessageBytes = 256 * 1024;
const listWithinMs = 10_000;
/** An agent may prompt its user first (`ssh-add -c`). */
const signWithinMs = 60_000;

/** Keys of the agent at a socket; SIGNER_FAILED where it does not answer as an agent does. */
async function listAgentKeys(socketPath: string): Promise<readonly AgentKey[]> {
  const reader = await request(socketPath, ask.identities, [], answers.identities, listWithinMs);
  return readAnswer(() => {
    const count = reader.uint32();
    // The answer is bounded, so a false count runs out of bytes.
    const keys = Array.from({ length: count }, () => ({
      blob: Buffer.from(reader.string(16_384)),
      comment: reader.string(16_384).toString('utf8'),
    }));
    reader.end();
    return keys;
  });
}

/** The SSH signature blob that the agent makes over `data` with a key of its list; SIGNER_FAILED where it declines. */
async function signWithAgent(socketPath: string, key: AgentKey, data: Uint8Array): Promise<Buffer> {
  const parts = [wireString(key.blob), wireString(data), Buffer.alloc(4)];
  const reader = await request(socketPath, ask.sign, parts, answers.signature, signWithinMs);
  return readAnswer(() => {
    const signature = Buffer.from(reader.string(16_384));
    reader.end();
    return signature;
  });
}

/** One question over one connection; what follows the number of the expected answer. */
async function request(
  socketPath: string,
  number: number,
  parts: readonly Buffer[],
  expected: number,
  withinMs: number,
): Promise<WireReader> {
  const message = wireString(Buffer.concat([Buffer.of(number), ...parts]));
  if (message.length > maxMessageBytes)
    throw agentFault(`${message.length} octets are to be signed, an agent takes at most ${maxMessageBytes}`);
  const answer = await exchange(socketPath, message, withinMs);
  const found = answer[0] ?? 0;
  if (found === answers.failure && number === ask.sign)
    throw agentFault('it declined to sign: the key was removed, its life is over, or its person said no');
  if (found !== expected) throw agentFault(`it answered with message ${found}, expected ${expected}`);
  return new WireReader(answer.subarray(1));
}

async function exchange(socketPath: string, message: Buffer, withinMs: number): Promise<Buffer> {
  const socket = connect(socketPath);
  // Covers the whole exchange: a server that trickles is as good as one that is silent.
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${withinMs} ms`)), withinMs);
  try {
    socket.write(message);
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      if (received.length < 4) continue;
      const length = received.readUInt32BE();
      if (length === 0 || length > maxMessageBytes) throw new Error(`an answer of ${length} octets`);
      if (received.length - 4 > length) throw new Error('more octets than the answer has');
      if (received.length - 4 === length) return received.subarray(4);
    }
    throw new Error('the connection ended before the answer');
  } catch (cause) {
    throw agentFault(messageOf(cause), cause);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function readAnswer<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof WritError && cause.code === 'SIGNER_FAILED') throw cause;
    throw agentFault(`its answer cannot be read: ${messageOf(cause)}`, cause);
  }
}

function agentFault(found: string, cause?: unknown): WritError {
  return new WritError('SIGNER_FAILED', {
    message: `the SSH agent did not do what was asked: ${found}`,
    detail: { found },
    hints: ['look at it with `ssh-add -l`'],
    cause,
  });
}
