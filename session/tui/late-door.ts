/* The client of a screen that is shown before its session is open. */
import type { SessionDoor } from '../screen/session-door.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** A client that exists before its session. */
interface LateDoor {
  readonly door: SessionDoor;
  /** Sends what was sent before, in order, and then shows the session. Called once. */
  open(to: SessionDoor): Promise<void>;
}

/**
 * The client of a screen while its session is opened: it shows `starting` and queues commands. If no session opens,
 * they are never answered.
 */
export function openLateDoor(starting: Snapshot): LateDoor {
  const there = Promise.withResolvers<SessionDoor>();
  let real: SessionDoor | undefined;
  let sent = Promise.resolve();
  const listeners = new Set<{ readonly listener: () => void; stop: () => void }>();
  /** Runs the commands one after the other, even if one is refused. */
  const inOrder = (act: (door: SessionDoor) => Promise<void>): Promise<void> => {
    if (real !== undefined) return act(real);
    const acted = sent.then(() => there.promise).then(act);
    sent = acted.catch(() => {});
    return acted;
  };
  return {
    door: {
      snapshot: () => real?.snapshot() ?? starting,
      follow(listener) {
        const one = { listener, stop: real?.follow(listener) ?? (() => {}) };
        listeners.add(one);
        return () => {
          listeners.delete(one);
          one.stop();
        };
      },
      submit: (text, commandId) => inOrder((door) => door.submit(text, commandId)),
      respond: (id, given) => inOrder((door) => door.respond(id, given)),
      review: (said) => inOrder((door) => door.review(said)),
      cancel: async () => real?.cancel(),
      reclaim: () => inOrder((door) => door.reclaim()),
      revoke: (id) => inOrder((door) => door.revoke(id)),
      approvals: async () => (await there.promise).approvals(),
      diagnostics: async () => (await there.promise).diagnostics(),
      earlier: async (ask) => (await there.promise).earlier(ask),
      threads: async (page) => (await there.promise).threads(page),
    },
    async open(to) {
      there.resolve(to);
      for (let last: Promise<void> | undefined; last !== sent; ) {
        last = sent;
        await last;
      }
      real = to;
      for (const one of listeners) one.stop = to.follow(one.listener);
    },
  };
}
