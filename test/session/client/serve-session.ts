import { PassThrough } from 'node:stream';
import type { Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import type { Route } from '../../../http/send-answer.ts';
import { goalRoutes, sessionRoutes, taskRoutes } from '../../../session/api/session-routes.ts';
import { openWriteDoor } from '../../../session/api/write-door.ts';
import type { SessionAccess } from '../../../session/client/find-session.ts';
import { serveRequests } from '../../../session/client/serve-requests.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { until } from '../../waiting/until.ts';
import { newWorld } from '../state/walk.ts';

const controlToken = 'c'.repeat(43);

/** A session in memory, served, or other routes in its place; its turns do what the message says: `ask` asks, all else is repeated and done. */
export async function serveSession(
  t: Test,
  more: Partial<SessionGround> = {},
  others?: readonly Route[],
  token = controlToken,
) {
  let ids = 0;
  const channel = openChannel({
    state: newWorld({ local: 'none', ...more }).state,
    thread: { append: async () => {} },
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    async perform(want, { send }) {
      const text = want.type === 'turn' && 'text' in want.spoken ? want.spoken.text : '';
      if (want.type === 'turn' && text === 'ask')
        await send({ turn: want.turn, type: 'ask', subject: 'x', kind: 'approval', metadata: {} });
      else if (want.type === 'turn') {
        await send({
          turn: want.turn,
          type: 'replied',
          id: `r-${want.turn}`,
          text: `${want.agent ?? 'you'} said ${text}`,
        });
        await send({ turn: want.turn, type: 'end', end: 'done' });
      } else if (want.type === 'answer')
        await send({ turn: channel.state.turn ?? '', type: 'end', end: 'done' });
    },
  });
  const api = { channel: () => channel, controlToken: token, clock: systemClock };
  const door = openWriteDoor(api);
  const requireAgent = (name: string): void => {
    if (name !== 'explorer') throw new WritError('AGENT_UNKNOWN');
  };
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: others ?? [...sessionRoutes(api, door), ...taskRoutes(door, requireAgent), ...goalRoutes(door)],
    body: { maxBytes: 256 * 1024, withinMs: 5000, maxDepth: 16 },
    headersWithinMs: 5000,
    report: (fault) => t.fail(String(fault)),
  });
  t.teardown(async () => {
    await server.close(0);
    await channel[Symbol.asyncDispose]();
  });
  return { channel, server, access: { baseUrl: server.baseUrl, token } };
}

/** What came back on one line. */
export interface Said {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of a program under test
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly error?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly params?: any;
}

/** A client at the two ends of `serveRequests`. */
export function openClient(t: Test, access: SessionAccess) {
  const [input, stop] = [new PassThrough(), new AbortController()];
  const said: Said[] = [];
  let isRead = true;
  const ended = serveRequests({
    access,
    input,
    signal: stop.signal,
    async write(line) {
      t.match(line, /^[^\n]*\n$/, 'one line');
      if (isRead) said.push(JSON.parse(line));
      return isRead;
    },
  });
  ended.catch(() => {});
  t.teardown(() => stop.abort());
  const raw = (text: string): void => void input.write(text);
  let ids = 0;
  return {
    said,
    raw,
    stop,
    leave: () => {
      isRead = false;
    },
    /** Calls a method, and waits for its answer. */
    async call(method: string, params?: unknown): Promise<Said> {
      ids += 1;
      const id = `call-${ids}`;
      raw(`${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })}\n`);
      await until(() => said.some((one) => one.id === id));
      return said.find((one) => one.id === id) ?? {};
    },
    async end() {
      input.end();
      return ended;
    },
    ended,
  };
}
