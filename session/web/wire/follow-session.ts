import { type Change, changeKinds } from './fold-change.ts';

/** How the page stands to the session. */
export type Link = 'connecting' | 'live' | 'offline';

const firstWaitMs = 500;
const maxWaitMs = 8_000;

/**
 * Tells every change of the session, and of the link to it; comes back by itself, later each time, and at once when the
 * person looks at the page again. Each coming back begins with the whole session.
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
