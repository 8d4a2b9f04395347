import type { Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { OpenSession } from '../../../session/open-session.ts';
import { type ServedSession, type ServeSetting, serveSession } from '../../../session/serve/serve-session.ts';
import type { Report } from '../../../session/state/command.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { openedState } from '../../../session/state/reduce.ts';
import { openUploads } from '../../../session/thread/attachments.ts';
import { ground } from '../state/walk.ts';
import { memoryThread } from '../thread/memory-thread.ts';

/** Whom what is opened ends with; told of what went wrong, and where there is room for files. */
export type SessionOwner = Pick<Test, 'teardown'> & {
  fail(what: string): unknown;
  testdir(content: Record<string, never>): string;
};

/** A served session with its page. */
export interface ServedPage {
  readonly served: ServedSession;
  readonly baseUrl: string;
  /** Ends the server, and serves the same session again on the same port. */
  away(): Promise<() => Promise<void>>;
}

/** Serves `session` with everything that `writ code` serves; it ends with the test. */
export async function servePage(
  t: SessionOwner,
  session: OpenSession,
  more: Partial<Pick<ServeSetting, 'threads' | 'clock' | 'graph'>> & {
    readonly port?: number;
    readonly about?: Partial<ServeSetting['about']>;
  } = {},
): Promise<ServedPage> {
  const root = t.testdir({});
  const { port = 0, about, ...parts } = more;
  const setting: ServeSetting = {
    options: {
      web: { host: '127.0.0.1', port },
      mcpPort: 0,
      control: { mode: 'observe', tokenFile: undefined, infoFile: undefined },
      networkAccess: 'deny',
      workingDir: root,
    },
    root,
    // It is the test's to end.
    open: async () => ({ ...session, [Symbol.asyncDispose]: async () => {} }),
    about: {
      provider: 'scripted',
      key: undefined,
      logFile: undefined,
      selfTest: async () => ({ isTried: true, reached: [] }),
      sandbox: async () => ({ backend: 'bubblewrap', enforced: ['network'] }),
      ...about,
    },
    version: '1.2.3',
    commit: 'unknown',
    mcp: {
      cwd: root,
      version: '1.2.3',
      ask: async () => ({}),
      approval: { policy: 'never' },
      readsOnly: () => false,
      log: () => {},
    },
    statePaths: [],
    threads: async () => ({ items: [] }),
    graph: async (thread) => ({ thread_id: thread, title: '', nodes: [], edges: [] }),
    selfTest: { serve: () => {}, result: async () => ({ isTried: true, reached: [] }) },
    requireAgent: () => {},
    clock: systemClock,
    log: { file: undefined, tell: () => {}, close: () => {} },
    report: (fault) => t.fail(String(fault)),
    ...parts,
  };
  let served = await serveSession(setting);
  t.teardown(() => served[Symbol.asyncDispose]());
  const { baseUrl } = served;
  return {
    served,
    baseUrl,
    async away() {
      await served[Symbol.asyncDispose]();
      const same = { ...setting.options, web: { host: '127.0.0.1', port: Number(new URL(baseUrl).port) } };
      return async () => {
        served = await serveSession({ ...setting, options: same });
      };
    },
  };
}

export type Told<One> = One extends Report ? Omit<One, 'turn'> : never;

/** A session in memory: what it does is what a test reports. */
export interface ToldSession extends OpenSession {
  readonly clock: typeof systemClock;
  /** Time goes on for leases. */
  pass(ms: number): void;
  /** Someone at the terminal says something, and a turn begins. */
  say(text: string): Promise<string>;
  /** What the turn that runs reports. */
  report(...reports: readonly Told<Report>[]): Promise<void>;
}

export function toldSession(t: Pick<Test, 'teardown'>, given: Partial<SessionGround> = {}): ToldSession {
  let aheadMs = 0;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
  };
  let ids = 0;
  const opened = {
    type: 'opened',
    ground: ground({ local: 'tui', workingDir: '/projects/shop', ...given }),
    atMs: 0,
  } as const;
  const thread = memoryThread(opened);
  const uploads = openUploads();
  const channel = openChannel({
    state: openedState(opened),
    attach: async ({ text, attachments = [] }) => ({
      text,
      attachments: attachments.flatMap((given) => {
        if (!('sha256' in given)) return [];
        const { text: _, data: __, ...one } = uploads.find(given.sha256);
        return [{ ...one, name: given.name }];
      }),
    }),
    thread,
    clock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async () => {},
    fingerprint: async () => 'f',
  });
  t.teardown(() => channel[Symbol.asyncDispose]());
  const session: OpenSession = {
    channel,
    threadId: channel.state.ground.threadId,
    transcript: thread,
    grants: keepGrants(clock),
    uploads,
    catchUp: async () => {},
    allow: async () => 'nobody' as const,
    [Symbol.asyncDispose]: () => channel[Symbol.asyncDispose](),
  };
  return {
    ...session,
    clock,
    pass: (ms) => {
      aheadMs += ms;
    },
    async say(text) {
      const { turn } = await channel.send({ type: 'submit', text, proof: { from: 'local' } });
      return turn ?? channel.state.turn ?? '';
    },
    async report(...reports) {
      for (const one of reports) await channel.send({ turn: channel.state.turn ?? '', ...one } as Report);
    },
  };
}
