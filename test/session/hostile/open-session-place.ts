import { request } from 'node:http';
import type { Test } from 'tap';
import type { Route } from '../../../http/send-answer.ts';
import {
  goalRoutes,
  graphRoutes,
  sessionRoutes,
  taskRoutes,
  threadRoutes,
  transcriptRoutes,
} from '../../../session/api/session-routes.ts';
import { openWriteDoor, type SessionApi } from '../../../session/api/write-door.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { type DiagnosticsFacts, diagnosticsRoute } from '../../../session/serve/serve-session.ts';
import { openUploads } from '../../../session/thread/attachments.ts';
import { controlToken, type ServedSession, serveSession } from '../api/serve-session.ts';

/** How a session stands to its clients. */
export type Scene = 'held by a browser' | 'held by an automation' | 'closed to all' | 'without a session';

/** What a row may speak of. */
export interface SessionPlace {
  readonly port: number;
  /** `127.0.0.1:<port>`. */
  readonly host: string;
  readonly scene: Scene;
  /** Of whoever holds the lease. */
  readonly kind: 'browser' | 'automation';
  readonly lease: string;
  /** The control token: no answer tells it. */
  readonly token: string;
  readonly root: string;
  readonly outside: string;
  /** The open question. */
  readonly question: string;
}

export interface ServedPlace extends SessionPlace {
  readonly served: ServedSession;
  /** The lease is held, nothing runs, and a question is open where one is needed. */
  settle(needsQuestion: boolean): Promise<void>;
}

/** Every route that there is: one line for each file of them. */
export function allRoutes(api: SessionApi): readonly Route[] {
  const uploads = openUploads();
  const withGrants = { ...api, grants: () => keepGrants(api.clock), uploads: () => uploads };
  const door = openWriteDoor(withGrants);
  return [
    ...sessionRoutes(withGrants, door),
    ...taskRoutes(door, () => {}),
    ...goalRoutes(door),
    ...threadRoutes(async () => ({ items: [] })),
    ...transcriptRoutes(door, async () => ({ entries: [], earlier: 0 })),
    ...graphRoutes(door, async (thread) => ({ thread_id: thread, title: '', nodes: [], edges: [] })),
    diagnosticsRoute(() => api.channel()?.state, about),
  ];
}

const about: DiagnosticsFacts = {
  provider: 'none',
  key: undefined,
  logFile: undefined,
  sandbox: async () => ({ backend: 'none', enforced: [] }),
  selfTest: async () => ({ isTried: false, reached: [] }),
  ports: () => ({ web: 1 }),
};

/** Between two rows: a lease has 120 writes in a minute. */
const betweenMs = 600;

/** A session behind a real server, for as long as the test runs. */
export async function openSessionPlace(t: Test, scene: Scene): Promise<ServedPlace> {
  const kind = scene === 'held by an automation' ? 'automation' : 'browser';
  const served = await serveSession(t, {
    ...(scene === 'closed to all' ? { ground: { attachable: [] } } : {}),
    routes: (api) => allRoutes(scene === 'without a session' ? { ...api, channel: () => undefined } : api),
  });
  const { channel, port, clock } = served;
  let lease = 'held-by-nobody';
  const holds = scene === 'held by a browser' || scene === 'held by an automation';
  const attach = async (): Promise<void> => {
    const headers = {
      'content-type': 'application/json',
      origin: `http://127.0.0.1:${port}`,
      ...(kind === 'automation' ? { 'x-svc-control-token': controlToken } : {}),
    };
    const asked = request({
      port,
      host: '127.0.0.1',
      path: '/api/code/controller/attach',
      method: 'POST',
      headers,
    });
    asked.end(JSON.stringify({ clientId: 'client', kind }));
    lease = await new Promise((resolve, reject) => {
      asked.on('error', reject);
      asked.on('response', (answer) => {
        let said = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          said += part;
        });
        answer.on('end', () => resolve(JSON.parse(said).controllerToken));
      });
    });
  };
  const endTurn = async (): Promise<void> => {
    const { turn } = channel.state;
    if (turn !== undefined) await channel.send({ turn, type: 'end', end: 'done' });
  };
  const proof = () =>
    ({
      from: 'client',
      tokenDigest: channel.state.lease?.tokenDigest ?? '',
      controlToken: 'valid',
    }) as const;
  const giveUpGoal = async (): Promise<void> => {
    const { goal } = channel.state;
    if (goal?.status === 'blocked') await channel.send({ type: 'goal-cancel', proof: proof() });
  };
  return {
    served,
    port,
    host: `127.0.0.1:${port}`,
    scene,
    kind,
    get lease() {
      return lease;
    },
    token: controlToken,
    root: '/nowhere/repo',
    outside: '/nowhere/outside',
    get question() {
      return channel.state.interactions.findLast(({ status }) => status === 'pending')?.id ?? 'none';
    },
    settle: async (needsQuestion) => {
      served.pass(betweenMs);
      if (!holds) return;
      const { lease: held } = channel.state;
      if (held === undefined || held.expiresAtMs - clock.now() < 30_000) await attach();
      const isAsked = channel.state.status === 'awaiting_interaction';
      if (needsQuestion === isAsked && (needsQuestion || channel.state.turn === undefined)) return;
      await endTurn();
      await giveUpGoal();
      if (!needsQuestion) return;
      await channel.send({ type: 'submit', text: 'go on', proof: proof() });
      const turn = channel.state.turn ?? '';
      await channel.send({ turn, type: 'ask', subject: 'x', kind: 'approval', metadata: {} });
    },
  };
}
