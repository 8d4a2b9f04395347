/** The routes that read and write a session. */
import type { IncomingMessage } from 'node:http';
import type { GraphData } from '../../api/schemas/other-schemas.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { pageOrigin, valuesOf } from '../../http/guard-request.ts';
import type { Route } from '../../http/send-answer.ts';
import type { GrantLedger } from '../approvals/grants.ts';
import { revokeGrant, type SessionChannel } from '../open-channel.ts';
import type { Happened } from '../state/fact.ts';
import { toGoalView } from '../state/goal.ts';
import type { TranscriptAsk, TranscriptPage } from '../state/restored-state.ts';
import { toEntry, toSnapshot } from '../state/snapshot.ts';
import type { SessionState } from '../state/state.ts';
import type { ThreadList } from '../thread/check-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';
import { eventStreams } from './event-streams.ts';
import {
  readAnswer,
  readAttach,
  readDetach,
  readDispatch,
  readGoal,
  readLimit,
  readMessage,
  readNothing,
  readPiece,
  readReason,
  readReview,
  readRevoke,
  readWhole,
} from './read-request.ts';
import {
  keepToken,
  offerToken,
  openWriteDoor,
  requireAttachable,
  type SessionApi,
  type WriteDoor,
} from './write-door.ts';

/** Routes to read and write a session. A route parses the request, sends one command and reports its result. */
export function sessionRoutes(api: SessionApi, door = openWriteDoor(api)): readonly Route[] {
  const tokenOf = keepToken();
  const { required, controlOf, write } = door;
  const openStream = eventStreams(api.clock);
  return [
    {
      method: 'GET',
      path: '/api/code/session',
      answer() {
        const { state } = required();
        return guardStatus(() => toSnapshot(state));
      },
    },
    { method: 'GET', path: '/api/code/events', answer: (exchange) => openStream(required(), exchange) },
    {
      method: 'POST',
      path: '/api/code/controller/attach',
      answer: async ({ request, readBody }) => {
        const controlToken = controlOf(request);
        const wanted = await readBody(() => void required())
          .then(readAttach)
          .catch((fault: unknown) => {
            // If no client may attach, report that first: another body would not help. Which clients may attach
            // depends on the `kind` in the body.
            if (isWritError(fault, 'INVALID_BODY')) requireAttachable(required().state, { controlToken });
            throw fault;
          });
        const channel = required();
        if (wanted.kind === 'browser') requireOwnOrigin(channel.state, request);
        const offered = offerToken();
        const asked = { ...wanted, controlToken, tokenDigest: offered.tokenDigest };
        const { lease } = await channel.send({ type: 'attach', ...asked });
        const controllerToken = lease && tokenOf(lease.tokenDigest, offered);
        if (lease === undefined || controllerToken === undefined) throw new WritError('INTERNAL');
        const { controller } = toSnapshot(channel.state);
        return { controllerToken, leaseExpiresAt: toRfc3339(lease.expiresAtMs), controller };
      },
    },
    write('/api/code/controller/detach', async (channel, body, proof) => {
      await channel.send({ type: 'detach', proof, ...readDetach(body) });
      return { detached: true };
    }),
    write('/api/code/messages', async (channel, body, proof) => {
      await channel.send({ type: 'submit', proof, ...readMessage(body) });
      return { accepted: true };
    }),
    write('/api/code/interactions/:id', async (channel, body, proof, { params: { id = '' } }) => {
      await channel.send({ type: 'respond', id, proof, given: readAnswer(body) });
      return { accepted: true };
    }),
    write(
      '/api/code/control/cancel',
      async (channel, body, proof) => {
        readNothing(body);
        await channel.send({ type: 'cancel', proof });
        return { accepted: true };
      },
      { isBodyless: true },
    ),
    write('/api/code/reviews', async (channel, body, proof) => {
      await channel.send({ type: 'review', proof, ...readReview(body) });
      return { accepted: true };
    }),
    ...(api.uploads === undefined
      ? []
      : [
          write('/api/code/attachments', async (_, body) => {
            const piece = readPiece(body);
            const uploads = api.uploads?.();
            if (uploads === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
            return uploads.take(piece);
          }),
        ]),
    ...(api.grants === undefined ? [] : approvalRoutes(door, api.grants)),
  ];
}

/**
 * Every browser sends `Origin` with a POST, and the server has refused any origin but that of the page. A request
 * without one comes from a program, and programs have a lease of their own kind. ORIGIN_REQUIRED.
 */
function requireOwnOrigin({ ground }: SessionChannel['state'], request: IncomingMessage): void {
  if (!ground.attachable.includes('browser') || valuesOf(request, 'origin').length > 0) return;
  throw new WritError('ORIGIN_REQUIRED', {
    message: 'a browser attaches with the `Origin` of the page, and the request has none',
    detail: { expected: pageOrigin(request), found: null },
    hints: ['a program attaches with `"kind": "automation"`; start the session with `--control write`'],
  });
}

/**
 * Lists and revokes grants. Expired grants are not listed. Revoking is a write like any other and is audited; an
 * unknown id is NOT_FOUND.
 */
function approvalRoutes(
  { required, write }: WriteDoor,
  find: () => GrantLedger | undefined,
): readonly Route[] {
  const ledger = (): GrantLedger => {
    const grants = find();
    if (grants === undefined) throw new WritError('CODE_UI_UNAVAILABLE');
    return grants;
  };
  return [
    {
      method: 'GET',
      path: '/api/code/approvals',
      answer: () => {
        required();
        return { items: ledger().list() };
      },
    },
    write('/api/code/approvals/revoke', async (channel, body, proof) => {
      const { id } = readRevoke(body);
      await revokeGrant(channel, ledger(), { id, proof });
      return { revoked: true };
    }),
  ];
}

/**
 * Routes of goals. One goal at a time: GOAL_ALREADY_ACTIVE, unless the objective equals that of the blocked goal,
 * which is resumed. GOAL_NOT_ACTIVE, CONTROLLER_CONFLICT if the session is busy.
 */
export function goalRoutes({ required, write }: WriteDoor): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/goal/status',
      answer: () => goalStatus(required()),
    },
    write('/api/code/goal/start', async (channel, body, proof) => {
      await channel.send({ type: 'goal-start', proof, ...readGoal(body) });
      return { accepted: true, ...goalStatus(channel) };
    }),
    write(
      '/api/code/goal/cancel',
      async (channel, body, proof) => {
        await channel.send({ type: 'goal-cancel', proof, ...readReason(body) });
        return { accepted: true, ...goalStatus(channel) };
      },
      { isBodyless: true },
    ),
  ];
}

/** `none` where no goal was ever set. */
function goalStatus({ state: { goal } }: SessionChannel) {
  return goal === undefined ? { status: 'none' } : { status: goal.status, goal: toGoalView(goal) };
}

/** Reads a thread as a graph of versions. THREAD_NOT_FOUND. */
export type ReadGraph = (threadId: string) => Promise<GraphData>;

/**
 * `GET /api/code/graph`: everything that came of the session's thread, as `writ graph --json` has it under `data`; of
 * another one with `?thread=ID`. INVALID_QUERY_PARAM, THREAD_NOT_FOUND, CODE_UI_UNAVAILABLE.
 */
export function graphRoutes({ required }: WriteDoor, read: ReadGraph): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/graph',
      answer: ({ query }) => {
        const { threadId } = required().state.ground;
        return read(readThread(query) ?? threadId);
      },
    },
  ];
}

function readThread(query: URLSearchParams): string | undefined {
  const [thread, ...more] = query.getAll('thread');
  if (thread === undefined) return undefined;
  if (more.length === 0 && /^[0-9a-f-]{4,64}$/.test(thread)) return thread;
  throw new WritError('INVALID_QUERY_PARAM', {
    message: 'expected `thread` to be the id of one thread',
    detail: { name: 'thread' },
  });
}

/** The list of threads; it needs no session. INVALID_QUERY_PARAM. */
export function threadRoutes(list: (page: ThreadPage) => Promise<ThreadList>): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/threads',
      answer: ({ query }) => list(readPage(query)),
    },
  ];
}

function readPage(query: URLSearchParams): ThreadPage {
  return { limit: readLimit(query), offset: readWhole(query, 'offset') ?? 0 };
}

/** Entries as a snapshot has them, oldest first, and how many came before them. */
export interface EarlierPage {
  readonly transcript: readonly ReturnType<typeof toEntry>[];
  readonly earlier: number;
}

/**
 * `GET /api/code/transcript?before=&limit=`: what came before the window of the snapshots, the last `limit` of the
 * first `before` entries of the thread; without `before`, what came just before the window. INVALID_QUERY_PARAM,
 * CODE_UI_UNAVAILABLE, THREAD_UNPROVEN, JOURNAL_CORRUPT.
 */
export function transcriptRoutes(
  { required }: WriteDoor,
  read: (ask: TranscriptAsk) => Promise<TranscriptPage>,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/code/transcript',
      answer: ({ query }) => {
        const { state } = required();
        const before = readWhole(query, 'before') ?? state.earlier;
        return readEarlier(state, { before, limit: readLimit(query) }, read);
      },
    },
  ];
}

/** A page of entries before the window, as clients get it. */
export async function readEarlier(
  { earlier: most }: Pick<SessionState, 'earlier'>,
  { before, limit }: TranscriptAsk,
  read: (ask: TranscriptAsk) => Promise<TranscriptPage>,
): Promise<EarlierPage> {
  const { entries, earlier } = await read({ before: Math.min(before, most), limit });
  return { transcript: entries.map(toEntry), earlier };
}

/** What the agent replied. */
interface DispatchResult {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly text: string;
}

/**
 * An automation has another agent answer a question; the answer is given when the turn has ended. The agent only reads.
 * AUTOMATION_CONTROLLER_REQUIRED, AGENT_UNKNOWN, CONTROLLER_CONFLICT where the session is busy, CODE_UI_UNAVAILABLE
 * where it is closed meanwhile.
 */
export function taskRoutes({ write }: WriteDoor, requireAgent: (name: string) => void): readonly Route[] {
  return [
    write(
      '/api/code/task/dispatch',
      async (channel, body, proof) => {
        const { agent, prompt } = readDispatch(body);
        requireAgent(agent);
        const ended = watchTurns(channel);
        try {
          const { turn } = await channel.send({ type: 'dispatch', agent, prompt, proof });
          return { accepted: true, result: await ended.of(turn ?? '') };
        } finally {
          ended.stop();
        }
      },
      { isForAutomation: true },
    ),
  ];
}

const statusOf = {
  done: 'completed',
  decided: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/** Subscribes before a turn begins, because the turn may end before `send` returns. */
function watchTurns(channel: SessionChannel) {
  const results = new Map<string, DispatchResult>();
  let wake: (() => void) | undefined;
  let turn = channel.state.turn;
  let text = '';
  const take = (fact: Happened): void => {
    if (fact.type === 'turn-began') [turn, text] = [fact.turn, ''];
    if (fact.type === 'replied') ({ text } = fact);
    if (fact.type !== 'turn-ended' || fact.turn !== turn) return;
    results.set(turn, { status: statusOf[fact.end], text: fact.reason ?? text });
    wake?.();
  };
  const stop = channel.subscribe((_state, facts) => facts.forEach(take));
  const { closed } = channel;
  closed.addEventListener('abort', () => wake?.(), { once: true });
  return {
    stop,
    async of(wanted: string): Promise<DispatchResult> {
      for (;;) {
        const result = results.get(wanted);
        if (result !== undefined) return result;
        if (closed.aborted)
          throw new WritError('CODE_UI_UNAVAILABLE', { message: 'the session was closed before its end' });
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/**
 * Runs `make`. STATUS_UNAVAILABLE if it fails: a dependency does not answer, or the state cannot be shown. The
 * session continues.
 */
export async function guardStatus<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    const because = isWritError(cause) ? { because: cause.code } : {};
    throw new WritError('STATUS_UNAVAILABLE', {
      message: `the state of the session cannot be reported: ${messageOf(cause)}`,
      detail: because,
      hints: ['ask again; the log (`WRIT_LOG_FILE`) says what it ran into'],
      cause,
    });
  }
}
