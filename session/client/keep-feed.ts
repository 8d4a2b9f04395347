import type { SessionAnswer } from './ask-session.ts';
import type { SessionAccess } from './find-session.ts';
import { followSession } from './follow-session.ts';

/** The one subscription that a client has, or has not. */
export interface KeptFeed {
  /** Answers when the stream stands; nothing comes of it before `begin`. A second one is the same. */
  subscribe(): Promise<{ readonly answer: SessionAnswer; readonly begin?: () => void }>;
  /** When it resolves, nothing comes any more. */
  unsubscribe(): Promise<void>;
}

const subscribed: SessionAnswer = { result: { subscribed: true } };

/**
 * Follows the events of a session while its client wants them; a stream that ends by itself is told as the event
 * `closed`, and can be asked for again.
 */
export function keepFeed(
  access: SessionAccess,
  signal: AbortSignal,
  notify: (event: string, data: unknown) => Promise<void>,
): KeptFeed {
  let current: { readonly stop: AbortController; ended: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    subscribe: () =>
      inTurn(async () => {
        if (current !== undefined) return { answer: subscribed };
        const stop = new AbortController();
        const feed = await followSession(access, AbortSignal.any([signal, stop.signal]));
        if ('error' in feed) return { answer: feed };
        const one = { stop, ended: Promise.resolve() };
        current = one;
        const begin = (): void => {
          one.ended = feed.run(notify).then(async (reason) => {
            if (current === one) current = undefined;
            if (reason !== undefined) await notify('closed', { reason });
          });
        };
        return { answer: subscribed, begin };
      }),
    unsubscribe: () =>
      inTurn(async () => {
        const one = current;
        current = undefined;
        one?.stop.abort();
        await one?.ended;
      }),
  };
}
