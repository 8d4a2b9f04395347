/* Holds the control lease of this page. */
import type { Answer, Ask, Asking } from './ask-session.ts';

/** The lease as this page has it. Nothing of it is kept anywhere but here. */
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
  /** The session says who has it: a lease that is not ours has ended ours. */
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
