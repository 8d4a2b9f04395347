import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { run } from '../scenes/scene-texts.ts';
import { withoutBrowser } from './open-browser.ts';
import { openSources } from './open-sources.ts';
import { toldSession } from './serve-page.ts';

const skip = withoutBrowser;

t.test('a plan is told as it is, and one whose run waits for people waits', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  const plan = { title: 'Prices', steps: [{ id: 's', step: 'exact', status: 'in_progress' }] } as const;
  await session.say('Go.');
  const outcome = { runId: run, decision: 'waiting', why: 'an approval' } as const;
  const attempts = { attempt: 0, limit: 3, cap: 10 };
  const of = { runId: run, revision: 1, advice: [], repair: attempts };
  await session.report(
    { type: 'run-began', runId: run },
    { type: 'planned', plan: { id: `${run}/1`, status: 'running', run: of, ...plan } },
    { type: 'noted', id: 'w', title: 'Waiting', text: 'for an approval', outcome },
    { type: 'end', end: 'done' },
  );
  await using tab = await openSources(t, session);
  const tag = tab.page.locator('.plan-view summary .tag');
  t.equal(await tag.innerText(), 'waits');
  await session.say('Another.');
  await session.report(
    { type: 'planned', plan: { id: `${run}/2`, status: 'running', ...plan } },
    { type: 'end', end: 'failed', reason: 'away' },
  );
  await tag.getByText('failed').first().waitFor();
  await tab.page.locator('.plan-view').first().getByText('not done').waitFor();
  t.strictSame(tab.wrongs, []);
});

t.test('what a stream lost, or told twice, is shown as it is', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await session.say('Go.');
  await session.report({ type: 'replying', id: 'm', text: 'one' });
  const snapshot = toSnapshot(session.channel.state);
  await using tab = await openSources(t, session);
  const { page } = tab;
  const at = snapshot.updatedAt;
  const id = snapshot.transcript.at(-1)?.id;
  const frame = (cursor: number, kind: string, payload: object): string =>
    `event: ${kind}\nid: ${cursor}\ndata: ${JSON.stringify({ cursor, kind, at, payload })}\n\n`;
  const more = (cursor: number, text: string): string => frame(cursor, 'text_delta', { id, text });
  let opened = 0;
  const gone = Promise.withResolvers<void>();
  await page.route('**/api/code/events*', async (route) => {
    opened += 1;
    if (opened > 1) return gone.promise.then(() => route.continue());
    const body = [
      frame(7, 'resync', { snapshot }),
      more(8, ' two'),
      more(8, ' two'),
      more(6, ' old'),
      more(10, ' four'),
      more(11, ' five'),
    ];
    await route.fulfill({ contentType: 'text/event-stream', body: body.join('') });
  });
  await page.reload();
  const said = page.locator('.entry-assistant_message');
  await page.locator('.state-offline').waitFor();
  t.match(await said.innerText(), /one two$/, 'nothing twice, nothing out of order, nothing behind a gap');
  gone.resolve();
  await page.locator('.state-thinking').waitFor();
  t.match(await said.innerText(), /one$/, 'then the whole of it');
});
