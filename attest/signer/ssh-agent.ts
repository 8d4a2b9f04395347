import { connect } from 'node:net';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { WireReader } from '../encoding/wire-reader.ts';
import { wireString } from '../encoding/wire-string.ts';

/** A key as an agent lists it. */
export interface AgentKey {
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
/** An agent may ask its person first (`ssh-add -c`). */
const signWithinMs = 60_000;

/** Keys of the agent at a socket; SIGNER_FAILED where it does not answer as an agent does. */
export async function listAgentKeys(socketPath: string): Promise<readonly AgentKey[]> {
  const reader = await request(socketPath, ask.identities, [], answers.identities, listWithinMs);
  return readAnswer(() => {
    const count = reader.uint32();
    // An answer is bounded, so a count that lies runs out of octets.
    const keys = Array.from({ length: count }, () => ({
      blob: Buffer.from(reader.string(16_384)),
      comment: reader.string(16_384).toString('utf8'),
    }));
    reader.end();
    return keys;
  });
}

/** The SSH signature blob that the agent makes over `data` with a key of its list; SIGNER_FAILED where it declines. */
export async function signWithAgent(socketPath: string, key: AgentKey, data: Uint8Array): Promise<Buffer> {
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
