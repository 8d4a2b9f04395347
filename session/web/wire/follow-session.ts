/* Follows the events of a session and reconnects. */
import { type Change, changeKinds } from './fold-change.ts';

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
