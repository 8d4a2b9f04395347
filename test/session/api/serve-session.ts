import type { Test } from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import type { Route } from '../../../http/send-answer.ts';
import { sessionRoutes } from '../../../session/api/session-routes.ts';
import type { SessionApi } from '../../../session/api/write-door.ts';
import { openChannel, type SessionChannel } from '../../../session/open-channel.ts';
import type { Want } from '../../../session/state/command.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { newWorld } from '../state/walk.ts';

/** A session in memory behind a real server. */
export interface ServedSession {
  readonly channel: SessionChannel;
  readonly port: number;
  /** What turns would have done. */
  readonly wanted: readonly Want[];
  /** Faults of ours: there are to be none. */
  readonly faults: readonly unknown[];
  readonly clock: Clock;
  /** The server's time goes on. */
  pass(ms: number): void;
}

export const controlToken = 'c'.repeat(43);

export interface ServedOptions {
  readonly ground?: Partial<SessionGround>;
  /** All that is served; the routes of a session unless told. */
  readonly routes?: (api: SessionApi) => readonly Route[];
  readonly withinMs?: number;
}

/** Time in which leases end is the test's own; pauses of milliseconds are real ones. */
export async function serveSession(t: Test, options: ServedOptions = {}): Promise<ServedSession> {
  const { ground = {}, routes = sessionRoutes, withinMs = 5000 } = options;
  let aheadMs = 0;
  const wanted: Want[] = [];
  const faults: unknown[] = [];
  let ids = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => 1_900_000_000_000 + systemClock.monotonic() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };
  const channel = openChannel({
    state: newWorld({ local: 'none', ...ground }).state,
    thread: { append: async () => {} },
    clock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async (want, { send }) => {
      wanted.push(want);
      // An agent that was dispatched has said all; a turn of the session's own goes on until a test ends it.
      if (want.type === 'turn' && want.agent !== undefined)
        await send({ turn: want.turn, type: 'end', end: 'done' });
    },
  });
  const server = await startLoopbackServer({
    host: '127.0.0.1',
    port: 0,
    routes: routes({ channel: () => channel, controlToken, clock }),
    body: { maxBytes: 256 * 1024, withinMs, maxDepth: 16 },
    headersWithinMs: withinMs,
    report: (fault) => faults.push(fault),
  });
  t.teardown(async () => {
    await channel[Symbol.asyncDispose]();
    await server.close(0);
  });
  return {
    channel,
    port: Number(new URL(server.baseUrl).port),
    wanted,
    faults,
    clock,
    pass: (ms) => {
      aheadMs += ms;
    },
  };
}
