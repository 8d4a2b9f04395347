import type { SessionDoor } from '../screen/session-door.ts';
import type { Snapshot } from '../state/snapshot.ts';

/** A door that is there before its session is. */
export interface LateDoor {
  readonly door: SessionDoor;
  /**
   * The session is there: what was sent before goes first, in its order, and only then is its snapshot the door's.
   * Called once.
   */
  open(to: SessionDoor): Promise<void>;
}

/**
 * A screen's door while its session is opened: it shows `starting`, keeps what is sent, and asks once there is somebody
 * to ask. Where no session comes of it, what was asked is never answered.
 */
export function openLateDoor(starting: Snapshot): LateDoor {
  const there = Promise.withResolvers<SessionDoor>();
  let real: SessionDoor | undefined;
  let sent = Promise.resolve();
  const told = new Set<{ readonly tell: () => void; stop: () => void }>();
  /** One after the other, whether or not the one before was taken. */
  const inOrder = (act: (door: SessionDoor) => Promise<void>): Promise<void> => {
    if (real !== undefined) return act(real);
    const acted = sent.then(() => there.promise).then(act);
    sent = acted.catch(() => {});
    return acted;
  };
  return {
    door: {
      snapshot: () => real?.snapshot() ?? starting,
      follow(tell) {
        const one = { tell, stop: real?.follow(tell) ?? (() => {}) };
        told.add(one);
        return () => {
          told.delete(one);
          one.stop();
        };
      },
      submit: (text, commandId) => inOrder((door) => door.submit(text, commandId)),
      respond: (id, given) => inOrder((door) => door.respond(id, given)),
      review: (said) => inOrder((door) => door.review(said)),
      // Nothing is at work yet.
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
      for (const one of told) one.stop = to.follow(one.tell);
    },
  };
}
