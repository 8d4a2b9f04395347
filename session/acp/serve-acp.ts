/** Serves sessions to one editor over the Agent Client Protocol, on standard input and output. */
import { isAbsolute } from 'node:path';
import type { Readable } from 'node:stream';
import { ReadableStream as NodeStream } from 'node:stream/web';
import { setImmediate } from 'node:timers/promises';
import {
  type AgentContext,
  type AnyMessage,
  type AvailableCommand,
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type SessionModeState,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import type { ErrorCode } from '../../core/base/error-codes.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { cutLines } from '../client/find-session.ts';
import type { OpenSession } from '../open-session.ts';
import { visible } from '../screen/line.ts';
import { slashCommands } from '../state/slash-words.ts';
import { toSnapshot } from '../state/snapshot.ts';
import { pendingOf, type SessionState } from '../state/state.ts';
import type { ThreadList } from '../thread/check-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';
import {
  noTo,
  settledWords,
  toAnswer,
  toMessage,
  toPermission,
  toWordAnswer,
  wantsWords,
  wordsOf,
} from './permission.ts';
import { openUpdates, type SentUpdates } from './updates.ts';

/** A session that an editor has open. */
export interface EditorSession {
  readonly session: OpenSession;
  /** Root of the working tree. */
  readonly root: string;
  /** Commands of files, beside those of every session. */
  readonly commands: readonly AvailableCommand[];
}

export interface AcpGround {
  readonly version: string;
  /** Directory of `session/list` without one. */
  readonly cwd: string;
  /** Opens a session in the repository around `cwd` while `whileOpen` runs. */
  readonly open: (
    place: { readonly cwd: string; readonly resume?: string },
    whileOpen: (opened: EditorSession) => Promise<void>,
  ) => Promise<unknown>;
  readonly threads: (cwd: string, page: ThreadPage) => Promise<ThreadList & { readonly root: string }>;
  /** For the log of the editor; never on standard output. */
  readonly note: (line: string) => void;
}

export interface AcpStreams {
  readonly input: Readable;
  /** Writes one whole line; `false` if its reader has gone. */
  readonly write: (line: string) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Sessions that one process has open; each has its own engine. */
const maxSessions = 8;
const maxLineBytes = 16 * 1024 * 1024;
const maxDepth = 64;
const pageSize = 50;

/** Serves one editor until its output ends, the signal aborts, or it no longer reads. Every session is then closed. */
export async function serveAcp(ground: AcpGround, { input, write, signal }: AcpStreams): Promise<void> {
  const sessions = new Map<string, Served>();
  let opening = 0;
  const required = (id: string): Served => {
    const found = sessions.get(id);
    if (found !== undefined) return found;
    throw new RequestError(-32_002, `there is no open session \`${visible(id.slice(0, 100))}\``);
  };
  const open = async (place: Place, client: AgentContext): Promise<Served> => {
    requirePlace(place);
    const known = place.resume === undefined ? undefined : sessions.get(place.resume);
    if (known !== undefined) return known;
    if (sessions.size + opening >= maxSessions)
      throw new WritError('UNSUPPORTED_OPERATION', {
        message: `${maxSessions} sessions are open in this process. Close one first.`,
      });
    opening += 1;
    try {
      const served = await openServed(ground, place, { client, gone: connection.signal });
      sessions.set(served.id, served);
      void served.closed.then(() => sessions.delete(served.id));
      return served;
    } finally {
      opening -= 1;
    }
  };
  const resume = async ({ params, client }: { params: Opened; client: AgentContext }, replays: boolean) => {
    const served = await open({ ...placeOf(params), resume: params.sessionId }, client);
    served.begin(replays);
    return { modes: served.modes() };
  };
  const guard = guarded(ground.note);
  const connection = agent({ name: 'writ' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'writ', title: 'writ', version: ground.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    }))
    .onRequest(
      methods.agent.session.new,
      guard(async ({ params, client }) => {
        const served = await open(placeOf(params), client);
        served.begin(false);
        return { sessionId: served.id, modes: served.modes() };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      guard((asked) => resume(asked, true)),
    )
    .onRequest(
      methods.agent.session.resume,
      guard((asked) => resume(asked, false)),
    )
    .onRequest(
      methods.agent.session.list,
      guard(async ({ params: { cwd, cursor } }) => {
        const offset = /^\d{1,9}$/.test(cursor ?? '0') ? Number(cursor ?? 0) : undefined;
        if (offset === undefined)
          throw new WritError('INVALID_QUERY_PARAM', { message: '`cursor` is none of `session/list`' });
        const { root, items, nextOffset } = await ground.threads(cwd ?? ground.cwd, {
          limit: pageSize,
          offset,
        });
        return {
          sessions: items.map(({ id, title, updatedAt }) => ({
            sessionId: id,
            cwd: root,
            ...(title === undefined ? {} : { title: visible(title) }),
            updatedAt,
          })),
          ...(nextOffset === undefined ? {} : { nextCursor: String(nextOffset) }),
        };
      }),
    )
    .onRequest(
      methods.agent.session.close,
      guard(async ({ params: { sessionId } }) => {
        await required(sessionId).close();
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.setMode,
      guard(async ({ params: { sessionId, modeId } }) => {
        const served = required(sessionId);
        if (!modes.some(({ id }) => id === modeId))
          throw new WritError('UNSUPPORTED_OPERATION', {
            message: `expected a mode of ${modes.map(({ id }) => id).join(', ')}`,
          });
        await served.send({ type: 'submit', text: `/context ${modeId}`, proof });
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      guard(async ({ params: { sessionId, prompt }, signal: withdrawn }) => ({
        stopReason: await required(sessionId).prompt(prompt, withdrawn),
      })),
    )
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) =>
      sessions.get(sessionId)?.cancel(),
    )
    .connect(streamOf(input, write, () => connection.close()));
  const close = (): void => connection.close();
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  await connection.closed;
  signal.removeEventListener('abort', close);
  await Promise.all([...sessions.values()].map((served) => served.close()));
}

const proof = { from: 'local' } as const;

type Place = Parameters<AcpGround['open']>[0] & { readonly proposed: readonly string[] };

interface Opened {
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly { readonly name: string }[];
}

function placeOf({ cwd, mcpServers = [], additionalDirectories = [] }: Omit<Opened, 'sessionId'>): Place {
  if (additionalDirectories.length > 0)
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: 'a session works in one repository: `additionalDirectories` are not supported',
    });
  // Their environment and headers may hold secrets: nothing but the name is read.
  return { cwd, proposed: mcpServers.map(({ name }) => visible(name.slice(0, 80))) };
}

function requirePlace({ cwd }: Place): void {
  if (isAbsolute(cwd) && !cwd.includes('\0')) return;
  throw new WritError('REQUEST_INVALID', { message: '`cwd` is not an absolute path' });
}

/** The contexts of a session. Only `dev` changes anything. */
const modes = [
  { id: 'dev', name: 'Dev', description: 'plans, runs and seals changes' },
  { id: 'review', name: 'Review', description: 'looks for what is wrong, and changes nothing' },
  { id: 'research', name: 'Research', description: 'explains how things work, and changes nothing' },
];

/** A session as its editor drives it. */
interface Served {
  readonly id: string;
  readonly closed: Promise<void>;
  /** Sends what is there, if it replays, and follows the session from then on. */
  begin(replays: boolean): void;
  modes(): SessionModeState;
  send: OpenSession['channel']['send'];
  prompt(blocks: Parameters<typeof toMessage>[0], withdrawn: AbortSignal): Promise<StopReason>;
  cancel(): Promise<void>;
  close(): Promise<void>;
}

async function openServed(
  ground: AcpGround,
  place: Place,
  { client, gone }: Omit<Around, 'notices'>,
): Promise<Served> {
  const there = Promise.withResolvers<EditorSession>();
  const left = Promise.withResolvers<void>();
  const { proposed, ...where } = place;
  const done = ground.open(where, async (opened) => {
    there.resolve(opened);
    await left.promise;
  });
  done.catch(there.reject);
  const opened = await there.promise;
  const closed = done.then(
    () => undefined,
    (fault: unknown) => ground.note(`acp: a session ended with ${messageOf(fault).slice(0, 200)}`),
  );
  const notices =
    proposed.length === 0
      ? []
      : [
          `writ did not start the MCP servers that the editor proposed: ${proposed.slice(0, 20).join(', ')}. ` +
            'It starts those of the policy and of your configuration: `writ help mcp-servers`.',
        ];
  const driven = driveSession(opened, { client, gone, notices });
  return {
    ...driven,
    id: opened.session.threadId,
    closed,
    send: (command) => opened.session.channel.send(command),
    async close() {
      driven.end();
      left.resolve();
      await closed;
    },
  };
}

type Driven = Pick<Served, 'begin' | 'modes' | 'prompt' | 'cancel'> & {
  /** Nothing is asked or sent from here on. */
  end(): void;
};

interface Around {
  readonly client: AgentContext;
  /** Aborts with the connection. */
  readonly gone: AbortSignal;
  readonly notices: readonly string[];
}

/** Sends the updates and questions of a session to its editor, and brings the answers back. */
function driveSession(
  { session: { channel, threadId: sessionId }, root, commands }: EditorSession,
  { client, gone, notices }: Around,
): Driven {
  let updates: SentUpdates = openUpdates(root);
  const unsaid = [...notices];
  let active: AbortController | undefined;
  let changed = Promise.withResolvers<void>();
  let lastEnd: string | undefined;
  let isFollowed = false;
  let isOver = false;
  const wake = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const send = (some: readonly SessionUpdate[]): void => {
    for (const update of some)
      client.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined);
  };
  const stop = channel.subscribe((state, facts) => {
    for (const fact of facts) if (fact.type === 'turn-ended') lastEnd = fact.end;
    if (isFollowed) send(updates.next(state));
    wake();
  });
  const end = (): void => {
    isOver = true;
    stop();
    active?.abort();
    wake();
  };
  gone.addEventListener('abort', end, { once: true });
  if (gone.aborted) end();
  const isPending = (id: string): boolean => pendingOf(channel.state).some((one) => one.id === id);
  const say = (text: string): void => send([updates.say(text)]);
  /** Resolves when the question is over, or the prompt was cancelled. */
  const settled = async (id: string, signal: AbortSignal): Promise<undefined> => {
    while (isPending(id) && !signal.aborted) await changed.promise;
  };
  /** Puts a question as a permission request. `false`: the question waits on. */
  const ask = async (id: string, signal: AbortSignal): Promise<boolean> => {
    const snapshot = toSnapshot(channel.state);
    const asked = snapshot.interactions.find((one) => one.id === id);
    if (asked === undefined) return true;
    if (wantsWords(asked)) {
      say(wordsOf(asked).text);
      return false;
    }
    const withdrawn = new AbortController();
    const request = client.request(
      methods.client.session.requestPermission,
      { sessionId, ...toPermission(asked, snapshot, root) },
      { cancellationSignal: withdrawn.signal, stopWaitingOnCancel: true },
    );
    const answered = request.then(
      ({ outcome }) => (outcome.outcome === 'selected' ? outcome.optionId : undefined),
      () => undefined,
    );
    const option = await Promise.race([answered, settled(id, signal)]);
    withdrawn.abort();
    // A connection that has ended aborts the prompt: it answered nothing.
    if (signal.aborted || !isPending(id)) return !isPending(id);
    const given = toAnswer(asked, option);
    const isGiven = given !== undefined && (await tried(id, given));
    // The toggle of the network: the question goes on.
    if (isGiven && isPending(id)) return true;
    if (!isGiven) await refuse(asked);
    const words = settledWords(asked, isGiven ? given : noTo(asked));
    send([{ sessionUpdate: 'tool_call_update', toolCallId: id, ...words }]);
    return !isPending(id);
  };
  /** A refused answer is said, and counts as no. */
  const tried = async (id: string, given: NonNullable<ReturnType<typeof toAnswer>>): Promise<boolean> => {
    try {
      await channel.send({ type: 'respond', id, given, proof });
      return true;
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      say(faultWords(fault));
      return false;
    }
  };
  const cancel = async (): Promise<void> => {
    const cancelled = active;
    // First the questions are withdrawn, so that the prompt waits for the end of its turn.
    await channel.send({ type: 'cancel', proof }).catch(() => undefined);
    cancelled?.abort();
    wake();
  };
  const refuse = async (asked: Parameters<typeof noTo>[0]): Promise<void> => {
    const no = noTo(asked);
    if (no !== undefined) await tried(asked.id, no);
    else await channel.send({ type: 'cancel', proof });
  };
  /** Asks and waits until the turn is over, or waits for words of the person. */
  const drive = async (signal: AbortSignal): Promise<void> => {
    while (!isOver) {
      const [asked] = pendingOf(channel.state);
      if (asked !== undefined) {
        if (!(await ask(asked.id, signal))) return;
      } else if (isQuiet(channel.state)) return;
      else await changed.promise;
    }
  };
  const submit = async (blocks: Parameters<typeof toMessage>[0], signal: AbortSignal): Promise<void> => {
    const { text, given } = toMessage(blocks, root);
    const waiting = toSnapshot(channel.state).interactions.find(({ status }) => status === 'pending');
    if (waiting !== undefined && wantsWords(waiting) && !text.startsWith('/')) {
      const answer = toWordAnswer(waiting, { text, given });
      await channel.send({ type: 'respond', id: waiting.id, given: answer, proof });
      return;
    }
    const said = { type: 'submit', text, ...(given.length === 0 ? {} : { given }), proof } as const;
    try {
      await channel.send(said);
    } catch (fault) {
      // A thread that was loaded may hold a question: it comes first.
      if (!isWritError(fault, 'CONTROLLER_CONFLICT') || waiting === undefined) throw fault;
      await drive(signal);
      if (pendingOf(channel.state).length === 0 && !signal.aborted) await channel.send(said);
    }
  };
  return {
    begin(replays) {
      const { state } = channel;
      updates = openUpdates(root);
      if (replays) {
        if (state.earlier > 0) say(`${state.earlier} earlier entries are not shown: \`writ threads export\``);
        send(updates.next(state, true));
      } else updates.skip(state);
      isFollowed = true;
      // After the answer, so that the editor knows the session.
      void setImmediate().then(() => send([availableCommands(commands)]));
    },
    modes: () => ({ currentModeId: channel.state.settings.context, availableModes: modes }),
    async prompt(blocks, withdrawn) {
      if (active !== undefined)
        throw new WritError('CONTROLLER_CONFLICT', {
          message: 'the session is busy: cancel the prompt that runs, or wait for its end',
        });
      active = new AbortController();
      const { signal } = active;
      // The end of the connection withdraws every request, and cancels nothing.
      const withdraw = (): void => {
        if (!isOver) void cancel();
      };
      withdrawn.addEventListener('abort', withdraw, { once: true });
      lastEnd = undefined;
      try {
        for (const notice of unsaid.splice(0)) say(notice);
        await submit(blocks, signal);
        await drive(signal);
        return signal.aborted || lastEnd === 'cancelled' ? 'cancelled' : 'end_turn';
      } finally {
        withdrawn.removeEventListener('abort', withdraw);
        active = undefined;
      }
    },
    cancel,
    end,
  };
}

/** Whether the person speaks next. */
function isQuiet({ turn, noteFor }: Pick<SessionState, 'turn' | 'noteFor'>): boolean {
  return turn === undefined || noteFor !== undefined;
}

function availableCommands(more: readonly AvailableCommand[]): SessionUpdate {
  const own = new Map<string, AvailableCommand>();
  for (const { name, form, says } of slashCommands) {
    const behind = form.slice(name.length + 2);
    const known = own.get(name);
    const hint = [known?.input?.hint, behind].filter(Boolean).join(' | ');
    const description = known === undefined ? says : `${known.description}; ${behind.split(' ')[0]}: ${says}`;
    own.set(name, { name, description, ...(hint === '' ? {} : { input: { hint } }) });
  }
  const others = more.filter(({ name }) => !own.has(name));
  return {
    sessionUpdate: 'available_commands_update',
    availableCommands: [...own.values(), ...others],
  };
}

/** Codes of JSON-RPC and of the protocol; -32010 is a refusal of writ. */
const rpcCodes: Readonly<Partial<Record<ErrorCode, number>>> = {
  INVALID_BODY: -32_602,
  INVALID_QUERY_PARAM: -32_602,
  REQUEST_INVALID: -32_602,
  THREAD_NOT_FOUND: -32_002,
};

/** Wraps handlers: a refusal keeps its words and its code, any other fault is only noted. */
function guarded(note: AcpGround['note']) {
  return <Asked, Answer>(act: (asked: Asked) => Promise<Answer>) =>
    async (asked: Asked): Promise<Answer> => {
      try {
        return await act(asked);
      } catch (fault) {
        if (fault instanceof RequestError) throw fault;
        if (isWritError(fault))
          throw new RequestError(rpcCodes[fault.code] ?? -32_010, faultWords(fault), { code: fault.code });
        note(`acp: ${messageOf(fault).slice(0, 200)}`);
        throw new RequestError(-32_603, 'writ failed at this request: its log says more');
      }
    };
}

function faultWords({ message, hints }: WritError): string {
  return [message, ...hints].join('\n- ');
}

/** Messages of the protocol, one on each line. A bad line gets an error, and the next one is read. */
function streamOf(
  input: Readable,
  write: AcpStreams['write'],
  leave: () => void,
): { readonly readable: ReadableStream<AnyMessage>; readonly writable: WritableStream<AnyMessage> } {
  const put = async (message: object): Promise<void> => {
    if (!(await write(`${JSON.stringify(message)}\n`))) leave();
  };
  const refuse = (code: number, message: string): Promise<void> =>
    put({ jsonrpc: '2.0', id: null, error: { code, message } });
  async function* messages(): AsyncGenerator<AnyMessage> {
    const cut = cutLines(maxLineBytes);
    try {
      for await (const chunk of input)
        for (const line of cut(chunk as Buffer)) {
          if (line === 'too-long') {
            await refuse(-32_600, `expected lines of at most ${maxLineBytes} bytes`);
            continue;
          }
          if (line.every((byte) => byte === 13 || byte === 32 || byte === 9)) continue;
          const value = parsed(line);
          if (value === undefined) await refuse(-32_700, 'expected one line of strict JSON');
          else if (typeof value !== 'object' || value === null || Array.isArray(value))
            await refuse(-32_600, 'expected a JSON-RPC 2.0 message');
          else yield value as AnyMessage;
        }
    } catch {
      // An input that fails has ended.
    }
  }
  return {
    readable: NodeStream.from(messages()) as ReadableStream<AnyMessage>,
    writable: new WritableStream({ write: put }),
  };
}

function parsed(line: Buffer): unknown {
  try {
    return parseStrictJson(line, { code: 'INVALID_BODY', maxBytes: maxLineBytes, maxDepth }).value;
  } catch (fault) {
    if (isWritError(fault, 'INVALID_BODY')) return undefined;
    throw fault;
  }
}
