import { WritError } from '../../../../core/base/errors.ts';
import type { AgentPort } from '../../../../core/contract/agent.ts';
import { providerFailure } from '../../../../core/contract/provider.ts';
import type { SandboxPipes } from '../../../../core/contract/sandbox.ts';
import { octetsOf } from './octets-of.ts';
import { relayWords } from './relay-inside.ts';
import { openWebSocket, type SocketBounds, type WebSocketTalk } from './web-socket.ts';

/** Until a program listens at its port and takes us for who we are. */
const listenMs = 60_000;

interface OpenPort {
  /** Name of its backend. */
  readonly provider: string;
  /** How the program ended. */
  readonly ended: Promise<string>;
  readonly bounds: SocketBounds;
}

/**
 * Talks with a program at its port, by way of the relay: PROVIDER_FAILED, or AGENT_PORT_UNUSABLE before anything secret
 * was said.
 */
export async function openPort(
  { input, output }: SandboxPipes,
  port: AgentPort,
  { provider, ended, bounds }: OpenPort,
): Promise<WebSocketTalk> {
  const broken = (found: string) =>
    providerFailure({ provider, kind: 'broken-reply', found: `the program says ${found}` });
  const from = octetsOf(output);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(broken(`nothing at its port for ${listenMs} ms`)), listenMs);
  });
  const open = async (): Promise<WebSocketTalk> => {
    const word = await from.line(20);
    if (word === relayWords.taken) throw unusable(port, 'taken', 'something else listens there');
    if (word === relayWords.readable)
      throw unusable(port, 'readable', 'commands could look into the program, and find its token');
    if (word !== relayWords.open) throw broken(`nothing at its port: it ${await ended}`);
    return openWebSocket({ from, write: (octets) => void input.write(octets) }, port, bounds, broken);
  };
  try {
    return await Promise.race([open(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function unusable({ port }: AgentPort, reason: string, why: string): WritError {
  return new WritError('AGENT_PORT_UNUSABLE', {
    message: `port ${port} in the sandbox of the program cannot be used: ${why}`,
    detail: { port, reason },
    hints: [reason === 'taken' ? 'name another one' : 'leave it away: a program is talked with without one'],
  });
}
