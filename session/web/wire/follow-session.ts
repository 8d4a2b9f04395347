/* Follows the events of a session and reconnects. */
import type { Seen } from '../seen.ts';

export type Link = 'connecting' | 'live' | 'offline';

const firstWaitMs = 500;
const maxWaitMs = 8_000;

/**
 * Reports changes of the session and of the connection. Reconnects with backoff, and at once when the page becomes
 * visible. Each connection begins with the whole session.
 */
export function followSession(changed: (change: Change) => void, linked: (link: Link) => void): void {
  let source: EventSource | undefined;
  let waitMs = firstWaitMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    clearTimeout(timer);
    source?.close();
    const opened = new EventSource('/api/code/events?wire=2');
    source = opened;
    let last = 0;
    for (const kind of changeKinds)
      opened.addEventListener(kind, ({ data }: MessageEvent<string>) => {
        if (source !== opened) return;
        const change = JSON.parse(data) as Change & { readonly cursor: number };
        if (kind === 'resync') {
          waitMs = firstWaitMs;
          linked('live');
        }
        // What was lost on the way is in no event that comes: the whole session is.
        else if (change.cursor !== last + 1) return lose();
        last = change.cursor;
        changed(change);
      });
    opened.addEventListener('error', () => {
      if (source === opened) lose();
    });
  };
  const lose = (): void => {
    source?.close();
    source = undefined;
    linked('offline');
    timer = setTimeout(open, waitMs);
    waitMs = Math.min(maxWaitMs, waitMs * 2);
  };
  const comeBack = (): void => {
    if (source === undefined && document.visibilityState === 'visible') open();
  };
  document.addEventListener('visibilitychange', comeBack);
  addEventListener('online', comeBack);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) open();
  });
  linked('connecting');
  open();
}

/* Applies an event of a session to the snapshot of the page. */

/** One event of the second wire (docs/reference/session-events.md). */
interface Change {
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly at: string;
}

const listOf = {
  transcript_entry: 'transcript',
  plan: 'plans',
  task: 'tasks',
  tool_call: 'toolCalls',
  patchset: 'patchsets',
  interaction: 'interactions',
} as const;

/** Kinds of events that the page handles. Other kinds do not change the view. */
const changeKinds = [
  'resync',
  'text_delta',
  'element_removed',
  'member_removed',
  'status_changed',
  'controller_changed',
  'session_changed',
  ...Object.keys(listOf),
] as const;

interface Element {
  readonly id: string;
}

/**
 * What is seen after a change: pure, and what a change leaves alone is the same object. `undefined` before the first
 * `resync`.
 */
export function foldChange(seen: Seen | undefined, { kind, payload, at }: Change): Seen | undefined {
  if (kind === 'resync') return payload.snapshot as Seen;
  if (seen === undefined) return undefined;
  if (kind === 'text_delta') return { ...seen, ...withText(seen, payload, at), updatedAt: at };
  if (kind === 'element_removed') return { ...seen, ...without(seen, payload), updatedAt: at };
  if (kind === 'member_removed') return { ...withoutMember(seen, payload), updatedAt: at };
  const list = listOf[kind as keyof typeof listOf];
  if (list !== undefined) return { ...seen, [list]: withElement(seen[list], payload), updatedAt: at };
  if (/^(?:status|controller|session)_changed$/.test(kind)) return { ...seen, ...payload, updatedAt: at };
  return seen;
}

function withText({ transcript }: Seen, { id, text }: Change['payload'], at: string): Partial<Seen> {
  const place = transcript.findLastIndex((one) => one.id === id);
  const entry = transcript[place];
  if (entry === undefined || typeof text !== 'string') return {};
  return {
    transcript: transcript.with(place, {
      ...entry,
      content: `${entry.content ?? ''}${text}`,
      updatedAt: at,
    }),
  };
}

function without(seen: Seen, { list, id }: Change['payload']): Partial<Seen> {
  const name = Object.values(listOf).find((one) => one === list);
  if (name === undefined) return {};
  const elements: readonly Element[] = seen[name];
  return { [name]: elements.filter((one) => one.id !== id) };
}

function withoutMember(seen: Seen, { member }: Change['payload']): Seen {
  return Object.fromEntries(Object.entries(seen).filter(([name]) => name !== member)) as unknown as Seen;
}

function withElement(elements: readonly Element[], payload: Change['payload']): readonly unknown[] {
  const place = elements.findLastIndex(({ id }) => id === payload.id);
  return place < 0 ? [...elements, payload] : elements.with(place, payload as unknown as Element);
}

/** The result of a request to a route, refusals included. `OFFLINE`: no response arrived. */
export type Answer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
    };

export interface Asking {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly token?: string;
  /** Sent although the page goes away. */
  readonly outlives?: boolean;
}

type Ask = (path: string, asking?: Asking) => Promise<Answer>;

/** Calls the server of this page. Never throws. */
export const askSession: Ask = async (path, { body, token, outlives = false } = {}) => {
  try {
    const answer = await fetch(`/api/code/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { 'x-code-controller-token': token }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      keepalive: outlives,
    });
    const value = (await answer.json()) as Record<string, unknown>;
    if (answer.ok) return { ok: true, value };
    const { code, message, details } = (value.error ?? {}) as Readonly<Record<string, unknown>>;
    return {
      ok: false,
      code: String(code ?? answer.status),
      message: String(message ?? 'refused'),
      details: (details ?? {}) as Readonly<Record<string, unknown>>,
    };
  } catch {
    return { ok: false, code: 'OFFLINE', message: 'the session does not answer: nothing was sent' };
  }
};

/* Holds the control lease of this page. */

/** The lease as this page knows it. It is kept only here. */
export interface Held {
  readonly token?: string;
  readonly expiresAtMs: number;
  /** Its lease expired and no other client has control: the next write requests control again. */
  readonly isLapsed: boolean;
  /** Refused for good: the session was started without control from browsers. */
  readonly isDisabled: boolean;
}

interface ToldController {
  readonly kind: string;
  readonly ownerLabel?: string;
  readonly leaseExpiresAt?: string;
}

interface Control {
  readonly held: () => Held;
  take(): Promise<Answer>;
  release(): Promise<Answer>;
  /** Writes, and requests control first if that is allowed or if the own lease expired. */
  write(path: string, body: Readonly<Record<string, unknown>>, mayTake: boolean): Promise<Answer>;
  /** Receives the session's current controller. The lease of another client ends the lease of this page. */
  hear(controller: ToldController): void;
  leave(): void;
}

const none: Held = { expiresAtMs: 0, isLapsed: false, isDisabled: false };
/** A lease counts as expired this long before its end, because a write needs time. */
const marginMs = 1_000;

/** Holds the lease of this page, and calls the listener after every change. */
export function holdControl(
  clientId: string,
  parts: { readonly ask: Ask; readonly now: () => number; readonly told: () => void },
): Control {
  const { ask, now, told } = parts;
  let held = none;
  const set = (next: Held): void => {
    held = next;
    told();
  };
  const isOver = (): boolean => held.token !== undefined && now() >= held.expiresAtMs - marginMs;
  const take = async (): Promise<Answer> => {
    const answer = await ask('controller/attach', { body: { clientId, kind: 'browser' } });
    if (answer.ok) {
      const { controllerToken, leaseExpiresAt } = answer.value;
      set({ ...none, token: String(controllerToken), expiresAtMs: Date.parse(String(leaseExpiresAt)) });
    } else if (answer.code === 'BROWSER_CONTROL_DISABLED') set({ ...none, isDisabled: true });
    else if (answer.code === 'CONTROLLER_CONFLICT') set(none);
    return answer;
  };
  const send = (path: string, body: Asking['body'] = {}): Promise<Answer> => {
    const { token } = held;
    return ask(path, { body, ...(token === undefined ? {} : { token }) });
  };
  return {
    held: () => held,
    take,
    async release() {
      const { token } = held;
      set(none);
      if (token === undefined) return { ok: true, value: {} };
      return ask('controller/detach', { body: { clientId }, token });
    },
    async write(path, body, mayTake) {
      if (held.token === undefined || isOver()) {
        const may = mayTake || held.isLapsed || held.token !== undefined;
        if (!may) return spectator;
        const attached = await take();
        if (!attached.ok) return attached;
      }
      const answer = await send(path, body);
      if (answer.ok || !/^(?:INVALID|MISSING)_CONTROLLER_TOKEN$/.test(answer.code)) return answer;
      const wasOver = isOver();
      set(none);
      if (!wasOver) return lost;
      const attached = await take();
      return attached.ok ? send(path, body) : attached;
    },
    hear({ kind, ownerLabel, leaseExpiresAt = '' }) {
      const isOurs = kind === 'browser' && ownerLabel === clientId;
      if (isOurs && held.token !== undefined) held = { ...held, expiresAtMs: Date.parse(leaseExpiresAt) };
      else if (isOurs) return;
      else if (held.token !== undefined) set({ ...none, isLapsed: isOver() && kind !== 'browser' });
      else if (held.isLapsed && ownerLabel !== undefined) set(none);
    },
    leave() {
      const { token } = held;
      held = none;
      if (token !== undefined) void ask('controller/detach', { body: { clientId }, token, outlives: true });
    },
  };
}

const spectator: Answer = {
  ok: false,
  code: 'SPECTATOR',
  message: 'somebody else has the session: take control first',
};
const lost: Answer = {
  ok: false,
  code: 'CONTROL_LOST',
  message: 'control was taken back meanwhile: nothing was sent',
};
