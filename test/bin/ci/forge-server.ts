import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: { readonly body?: string; readonly state?: string; readonly context?: string };
}

export interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly type: string };
}

/** A server in the place of GitHub's REST API: one repository, `o/r`. */
export interface Forge extends AsyncDisposable {
  readonly url: string;
  /** Every request that was not a GET, in order. */
  readonly calls: readonly Call[];
  readonly comments: Comment[];
  readonly pulls: Map<number, Pull>;
  /** Answers requests whose path matches with this status. */
  refuse(path: RegExp, status: number): void;
}

export interface Pull {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly head: { sha: string; repo: { full_name: string } | null };
  readonly base: { readonly ref: string; readonly repo: { readonly full_name: string } };
}

export async function startForge(): Promise<Forge> {
  const calls: Call[] = [];
  const comments: Comment[] = [];
  const pulls = new Map<number, Pull>();
  const refused: [RegExp, number][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '' } = request;
      const body = text === '' ? undefined : JSON.parse(text);
      const token = request.headers.authorization ?? '';
      if (method !== 'GET') calls.push({ method, path, token, ...(body === undefined ? {} : { body }) });
      const [status, answer] = answerTo(method, path, body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
  });
  const answerTo = (method: string, path: string, body: { readonly body: string }): [number, unknown] => {
    const status = refused.find(([form]) => form.test(path))?.[1];
    if (status !== undefined) return [status, { message: 'Resource not accessible by integration' }];
    const [, rest = ''] = /^\/repos\/o\/r\/(.*)$/.exec(path) ?? [];
    const [, number] = /^pulls\/(\d+)$/.exec(rest) ?? [];
    if (number !== undefined) return [200, method === 'GET' ? (pulls.get(Number(number)) ?? null) : {}];
    if (/^commits\/[0-9a-f]+\/pulls$/.test(rest)) return [200, [...pulls.values()]];
    const [, id] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (id !== undefined) {
      for (const comment of comments) if (comment.id === Number(id)) comment.body = body.body;
      return [200, {}];
    }
    if (/^issues\/\d+\/comments\?/.test(rest)) {
      const page = Number(/[?&]page=(\d+)/.exec(rest)?.[1]);
      const size = Number(/[?&]per_page=(\d+)/.exec(rest)?.[1]);
      return [200, comments.slice((page - 1) * size, page * size)];
    }
    if (/^issues\/\d+\/comments$/.test(rest)) {
      comments.push({ id: 1000 + comments.length, body: body.body, user: { type: 'Bot' } });
      return [201, {}];
    }
    return /^statuses\//.test(rest) ? [201, {}] : [404, { message: 'Not Found' }];
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    comments,
    pulls,
    refuse: (path, status) => refused.push([path, status]),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
