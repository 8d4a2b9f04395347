import { pipeline } from 'node:stream';
import type { NetworkObstacle } from '../../../core/contract/network-use.ts';
import { endToEndHeaders } from './end-to-end-headers.ts';
import { type IncomingMessage, request as open, type ServerResponse } from './outside.ts';
import { type Egress, Passage } from './passage.ts';
import { authorityOf, readTarget, type Target } from './target.ts';

const httpPort = 80;

/**
 * Serves one request in absolute form (`GET http://host/…`), or of any form to the target of a tunnel: one connection
 * to the host, one answer. A redirect is the client's to follow.
 */
export async function forwardRequest(
  egress: Egress,
  request: IncomingMessage,
  response: ServerResponse,
  tunnelled?: Target,
): Promise<void> {
  const url = request.url ?? '';
  const inTunnel = tunnelled && url.startsWith('/') ? authorityOf(tunnelled, httpPort) : undefined;
  const [, authority, path] =
    /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(inTunnel === undefined ? url : `http://${inTunnel}${url}`) ?? [];
  const passage = new Passage(egress, 'http', authority ?? url, () => {
    outgoing?.destroy();
    request.destroy();
    response.destroy();
  });
  let outgoing: ReturnType<typeof open> | undefined;
  const target = authority === undefined ? undefined : readTarget(asUnicode(authority), httpPort);
  const isElsewhere = tunnelled && (tunnelled.host !== target?.host || tunnelled.port !== target.port);
  const problem =
    target === undefined ? 'malformed' : isElsewhere ? 'host-header' : headProblem(request, target);
  if (target === undefined || problem !== undefined) {
    passage.refuse(problem ?? 'malformed', target);
    refuse(response, 400, problem ?? 'malformed');
    return;
  }
  const reached = await passage.reach(target);
  if (!reached.ok) {
    refuse(response, reached.outcome === 'refused' ? 403 : 502, reached.why);
    return;
  }
  passage.through();
  const { socket } = reached;
  const hasBody = request.headers['transfer-encoding'] !== undefined;
  outgoing = open({
    createConnection: () => socket,
    method: request.method ?? 'GET',
    path: path?.startsWith('/') ? path : `/${path ?? ''}`,
    setHost: false,
    maxHeaderSize: egress.limits.headerBytes * 2,
    headers: [
      ...[['Host', authorityOf(target, httpPort)] as const, ...endToEndHeaders(request.rawHeaders, ['host'])],
      ['Connection', 'close'] as const,
      ...(hasBody ? [['Transfer-Encoding', 'chunked'] as const] : []),
    ].flat(),
  });
  response.once('close', () => {
    passage.done();
    socket.destroy();
  });
  outgoing.on('error', () => {
    passage.fail('unreachable');
    if (response.headersSent) response.destroy();
    else refuse(response, 502, 'unreachable');
  });
  outgoing.once('response', (answer) => {
    try {
      response.writeHead(
        answer.statusCode ?? 502,
        answer.statusMessage,
        endToEndHeaders(answer.rawHeaders).flat(),
      );
    } catch {
      // A head that Node reads but does not write.
      refuse(response, 502, 'malformed');
      return;
    }
    pipeline(answer, passage.meter('received'), response, () => {});
  });
  pipeline(request, passage.meter('sent'), outgoing, () => {});
}

/** The only `Host` names the target, and the body is framed in a way that can be handed on. */
function headProblem(request: IncomingMessage, target: Target): NetworkObstacle | undefined {
  const encoding = request.headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') return 'malformed';
  const hosts = request.headersDistinct.host ?? [];
  // HTTP/1.0 has none.
  if (hosts.length === 0) return undefined;
  const named = readTarget(asUnicode(hosts[0] ?? ''), httpPort);
  const isSame = hosts.length === 1 && named?.host === target.host && named.port === target.port;
  return isSame ? undefined : 'host-header';
}

function refuse(response: ServerResponse, status: 400 | 403 | 502, why: string): void {
  if (response.headersSent || response.destroyed) return;
  const text = `writ: ${why}\n`;
  response.writeHead(status, why, {
    'Content-Type': 'text/plain',
    'Content-Length': text.length,
    Connection: 'close',
  });
  response.end(text);
}

/** Node reads the head of a request as latin1. */
function asUnicode(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
