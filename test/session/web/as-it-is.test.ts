import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { run } from '../scenes/scene-texts.ts';
import { withoutBrowser } from './open-browser.ts';
import { openSources } from './open-sources.ts';
import { toldSession } from './serve-page.ts';

const skip = withoutBrowser;

t.test(
  'a plan whose run waits for an approval is shown as waiting, and a failed one as failed',
  { skip },
  async (t) => {
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
  },
);

t.test(
  'the page ignores duplicate and late events, and loads a new snapshot after a gap',
  { skip },
  async (t) => {
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
  },
);

t.test('a long word wraps in every pane of a narrow page', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  const word = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetzesänderungsantrag';
  await session.say(`/goal start ${word}`);
  const outcome = { runId: run, decision: 'abandon', why: word } as const;
  const gate = { stage: 'fast', status: 'failed', ran: 1, expected: 1, failed: [word] } as const;
  const steps = [{ id: 'task-1.1', step: word, status: 'in_progress' }] as const;
  await session.report(
    { type: 'noted', id: 'n', title: word, text: word },
    { type: 'noted', id: 'g', title: 'Gate fast', text: word, gate },
    { type: 'noted', id: 'd', title: 'Refused', text: word, outcome },
    { type: 'planned', plan: { id: `${run}/1`, title: word, status: 'running', steps } },
    { type: 'tasked', task: { id: `${run}/task-1`, title: 'task-1', status: 'completed', details: word } },
    {
      type: 'ask',
      subject: 'a',
      kind: 'approval',
      title: word,
      metadata: {
        subject: `workspace.fs write ${word}`,
        cwd: '/w',
        reason: word,
        unproven: [word],
        reuse: {},
      },
    },
  );
  await using tab = await openSources(t, session, { viewport: { width: 375, height: 812 } });
  const { page } = tab;
  await page.locator('section.card').waitFor();
  for (const pane of ['Transcript', 'Workflow', 'Summary']) {
    await page.getByRole('tab', { name: pane }).click();
    const cut = await page.evaluate(`[...document.querySelectorAll('#page *')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 4)
      .filter((one) => getComputedStyle(one).display !== 'inline' && !one.matches('pre, .tabs'))
      .map((one) => one.tagName + '.' + one.className)`);
    t.strictSame(cut, [], pane);
  }
});
