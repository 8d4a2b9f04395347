import type { Route } from '../../http/send-answer.ts';
import { toEntry } from '../state/snapshot.ts';
import type { SessionState } from '../state/state.ts';
import type { TranscriptAsk, TranscriptPage } from '../thread/open-transcript.ts';
import { readLimit, readWhole } from './read-page.ts';
import type { WriteDoor } from './write-door.ts';

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

/** A page as clients get it. What the window shows is in none: it is told once. */
export async function readEarlier(
  { earlier: most }: Pick<SessionState, 'earlier'>,
  { before, limit }: TranscriptAsk,
  read: (ask: TranscriptAsk) => Promise<TranscriptPage>,
): Promise<EarlierPage> {
  const { entries, earlier } = await read({ before: Math.min(before, most), limit });
  return { transcript: entries.map(toEntry), earlier };
}
