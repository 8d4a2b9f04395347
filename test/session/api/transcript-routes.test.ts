import t from 'tap';
import { transcriptRoutes } from '../../../session/api/session-routes.ts';
import { openWriteDoor } from '../../../session/api/write-door.ts';
import type { TranscriptAsk } from '../../../session/state/restored-state.ts';
import { kept } from '../../../session/state/state.ts';
import { serveSession } from './serve-session.ts';

t.test('returns earlier transcript entries in pages and refuses invalid parameters', async (t) => {
  const asked: TranscriptAsk[] = [];
  const entry = { id: 'e', kind: 'user_message', content: 'hello', streaming: false, metadata: {} } as const;
  const { port, channel } = await serveSession(t, {
    ground: { local: 'tui' },
    routes: (api) =>
      transcriptRoutes(openWriteDoor(api), async (ask) => {
        asked.push(ask);
        return { entries: [{ ...entry, createdAtMs: 0, updatedAtMs: 1000 }], earlier: 7 };
      }),
  });
  for (let at = 0; at < kept.transcript + 60; at += 1) {
    const { turn = '' } = await channel.send({ type: 'submit', text: 'xyz', proof: { from: 'local' } });
    await channel.send({ type: 'end', turn: channel.state.turn ?? turn, end: 'done' });
  }
  const ask = async (query: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/code/transcript${query}`);
    return { status: answer.status, body: await answer.json() };
  };
  const times = { createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:01.000Z' };
  t.strictSame(await ask(''), {
    status: 200,
    body: { transcript: [{ ...entry, ...times }], earlier: 7 },
  });
  await ask('?before=12&limit=5&other=x');
  await ask('?before=99999&limit=201');
  await ask('?before=0');
  t.strictSame(asked, [
    { before: 60, limit: 50 },
    { before: 12, limit: 5 },
    // What the window shows is in no page.
    { before: 60, limit: 200 },
    { before: 0, limit: 50 },
  ]);
  for (const query of [
    'before=',
    'before=-1',
    'before=1.0',
    'before=i7',
    'before=1&before=1',
    'limit=0',
    'limit=x',
  ])
    t.match(await ask(`?${query}`), { status: 400, body: { error: { code: 'INVALID_QUERY_PARAM' } } }, query);
});
