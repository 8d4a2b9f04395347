import { once } from 'node:events';
import { createServer } from 'node:net';

/** Which of the two loopback addresses a server can listen on here; none where even that is forbidden. */
export async function listenableAddresses(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer();
    try {
      const listening = once(server, 'listening');
      server.listen({ host, port: 0, exclusive: true });
      await listening;
      found.push(host);
      server.close();
    } catch {
      // What cannot be had is not in the list.
    }
  }
  return found;
}
