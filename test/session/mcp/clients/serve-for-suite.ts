import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { callWrit } from '../../../../bin/code/agent-at.ts';
import { serveMcpHttp } from '../../../../session/mcp/serve-mcp-http.ts';
import type { PersonRepository } from '../../vcs/person-repository.ts';

/**
 * The server over HTTP behind something that adds the token and nothing else: the suite has no option for one.
 * `Host`, `Origin` and the rest come through as they were sent.
 */
export async function serveForSuite({ root: cwd, home, env }: PersonRepository): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const directory = join(home, 'state');
  mkdirSync(directory, { mode: 0o700 });
  const ground = {
    cwd,
    version: '0.0.0',
    ask: callWrit({ cwd, env }),
    approval: { policy: 'on-request' },
    readsOnly: () => false,
    log: () => {},
  } as const;
  const options = { host: '127.0.0.1', port: 0, directory, report: () => {} };
  const served = await serveMcpHttp(ground, options);
  const authorization = `Bearer ${readFileSync(served.tokenFile, 'utf8')}`;
  const front = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization };
    const passed = request(served.mcpUrl, { method: asked.method ?? 'GET', headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
  const { port } = front.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      front.closeAllConnections();
      await new Promise((closed) => front.close(closed));
      await served.close();
    },
  };
}
