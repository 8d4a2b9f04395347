import type { Socket } from 'node:net';
import { openClient } from '../../http/broadcast/start-stream-server.ts';
import { until } from '../../waiting/until.ts';

/** One event as it came: its fields, and its data parsed. */
export interface Heard {
  readonly event: string;
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event of a server under test
  readonly data: any;
}

/** A raw reader of `GET /api/code/events`. */
export interface Listener {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  text(): string;
  heard(): readonly Heard[];
  /** The first event from number `from` on that `is`; waits for it. */
  hears(is: (one: Heard) => boolean, from?: number): Promise<Heard>;
}

/** Asks as told: a query with its `?`, further headers as lines. */
export function listen(port: number, query = '', headers: Readonly<Record<string, string>> = {}): Listener {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const client = openClient(
    port,
    `GET /api/code/events${query} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`,
  );
  const parsed: Heard[] = [];
  let at = 0;
  const heard = (): readonly Heard[] => {
    const text = client.text();
    if (at === 0) at = text.indexOf('\r\n\r\n') + 4;
    if (at < 4) at = 0;
    for (let end = at === 0 ? -1 : text.indexOf('\n\n', at); end >= 0; end = text.indexOf('\n\n', at)) {
      if (text[at] !== ':') parsed.push(toHeard(text.slice(at, end)));
      at = end + 2;
    }
    return parsed;
  };
  return {
    ...client,
    heard,
    async hears(is, from = 0) {
      let found: Heard | undefined;
      await until(
        () => {
          found = heard().slice(from).find(is);
          return found;
        },
        'an event',
        () => client.text().length,
      );
      return found ?? heard()[0] ?? toHeard('');
    },
  };
}

function toHeard(frame: string): Heard {
  const fields = new Map(
    frame.split('\n').map((line) => [line.split(': ', 1)[0], line.replace(/^\w+: /, '')]),
  );
  return {
    event: fields.get('event') ?? '',
    id: fields.get('id') ?? '',
    data: JSON.parse(fields.get('data') ?? 'null'),
  };
}
