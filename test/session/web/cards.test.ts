import t from 'tap';
import type { Report } from '../../../session/state/command.ts';
import { stoppedQuestion, undoQuestion } from '../../../session/state/questions.ts';
import { long } from '../../rooms/long.ts';
import { fixed } from '../scenes/scene-texts.ts';
import { scenes } from '../scenes/scenes.ts';
import { openBrowser, openTab, type Tab, withoutBrowser } from './open-browser.ts';
import { madeScript } from './open-sources.ts';
import { servePage, type Told, type ToldSession, toldSession } from './serve-page.ts';

const skip = withoutBrowser;

interface CardTab extends Tab {
  /** Bodies of the answers that it sent. */
  readonly sent: readonly string[];
}

/** A tab on a question that waits; the page is what its sources make now. */
async function openCard(of: Parameters<typeof servePage>[0], session: ToldSession): Promise<CardTab> {
  const { baseUrl } = await servePage(of, session);
  const tab = await openTab(await openBrowser(), baseUrl, { script: await madeScript() });
  const sent: string[] = [];
  tab.page.on('request', (request) => {
    if (request.url().includes('/interactions/')) sent.push(request.postData() ?? '');
  });
  await tab.page.locator('section.card').waitFor();
  return { ...tab, sent };
}

/** The same of a page that steers. */
async function steerCard(of: Parameters<typeof servePage>[0], session: ToldSession): Promise<CardTab> {
  const tab = await openCard(of, session);
  await tab.page.getByRole('button', { name: 'Take control' }).first().click();
  await tab.page.locator('.control-mine').waitFor();
  await tab.page.locator('section.card:not(.fresh)').waitFor();
  return tab;
}

const approval: Told<Report> = {
  type: 'ask',
  subject: 'a',
  kind: 'approval',
  title: 'Run a command',
  metadata: {
    command: 'echo \u202egnp.exe',
    verdict: 'dangerous',
    segments: [],
    cwd: '/w',
    reuse: { approve_session: 'exactly this', allow_all_commands: 'every command' },
  },
};

long('a page without control has no enabled button that changes anything', { skip }, async (t) => {
  const session = toldSession(t);
  await scenes.goal(session);
  await session.report(
    { type: 'patched', patchset: { id: 'p', status: 'proposed', changes: fixed } },
    approval,
  );
  const at = session.grants.now();
  const place = { cwd: '/w', sandbox: 'bubblewrap', branch: 'main' };
  session.grants.add([
    {
      id: 'g',
      kind: 'session',
      tool: 'x',
      action: 'y',
      key: 'k',
      what: 'ls',
      grantedBy: { kind: 'tui' },
      at,
      ...place,
    },
  ]);
  await using tab = await openCard(t, session);
  const { page } = tab;
  const open = async (): Promise<readonly string[]> =>
    (await page.evaluate(
      `[...document.querySelectorAll('button:enabled, input:enabled')].map((one) => one.ariaLabel || one.innerText)`,
    )) as readonly string[];
  await page.locator('#composer').fill('typed');
  await page.getByRole('button', { name: '1 approval live' }).click();
  const known = /^(?:Workflow|Diff|Terminal|Summary|Threads|Graph|Take control|Put aside|1 approval live)$/;
  await page.getByRole('button', { name: 'Revoke' }).waitFor();
  for (const pane of ['Workflow', 'Diff']) {
    await page.getByRole('tab', { name: pane }).click();
    await page
      .getByRole('button', { name: pane === 'Diff' ? 'Reject' : 'Give the goal up' })
      .first()
      .waitFor();
    t.strictSame(
      (await open()).filter((name) => !known.test(name)),
      [],
      pane,
    );
  }
  await page.locator('section.card').focus();
  await page.keyboard.press('y');
  t.equal(await page.locator('section.card button:disabled').count(), 8);
  t.strictSame(tab.sent, []);
});

t.test(
  'an answer is sent once, and a hidden or broad option is shown before it is sent',
  { skip },
  async (t) => {
    const session = toldSession(t);
    await session.say('Go.');
    await session.report(approval);
    await using tab = await steerCard(t, session);
    const { page } = tab;
    const card = page.locator('section.card');
    t.match(await card.locator('pre.command').innerText(), /^echo \\u\{202e\}gnp\.exe$/);
    t.equal(await card.locator('button.main').count(), 0, 'what is dangerous has no answer that stands out');
    await card.focus();
    await page.keyboard.press('s');
    await card.locator('details[open]').waitFor();
    t.strictSame(tab.sent, [], 'what is not to be seen is shown before it is chosen');
    const held = Promise.withResolvers<void>();
    await page.route('**/interactions/*', async (route) => {
      await held.promise;
      await route.continue();
    });
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('n');
    t.equal(
      await card.locator('#question-body button:enabled').count(),
      0,
      'while one is on its way no other is given',
    );
    held.resolve();
    await card.waitFor({ state: 'detached' });
    t.strictSame(
      tab.sent.map((body) => JSON.parse(body)),
      [{ selectedOption: 'deny' }],
    );
  },
);

t.test('one press takes control and answers the question that is opened again', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await session.say('Go.');
  const commandLines = ["cat <<'E' > a.sh", 'rm -rf "\\\\u{a}"', 'E'];
  await session.report({
    ...approval,
    metadata: { ...approval.metadata, command: commandLines.join('\\u{a}'), commandLines },
  });
  await using tab = await openCard(t, session);
  const { page } = tab;
  await page.locator('.control-free').waitFor();
  await page.locator('section.card:not(.fresh)').waitFor();
  t.equal(
    await page.locator('pre.command').innerText(),
    commandLines.join('\n'),
    'in lines, as it was written',
  );
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.locator('section.card').waitFor({ state: 'detached' });
  t.strictSame(
    tab.sent.map((body) => JSON.parse(body)),
    [{ selectedOption: 'deny' }, { selectedOption: 'deny' }],
  );
  t.equal(await page.locator('.notice').count(), 0, 'one press is enough');
  t.strictSame(tab.wrongs, []);
});

t.test('an answer is not sent if the question changed while the page took control', { skip }, async (t) => {
  const session = toldSession(t, { local: 'none' });
  await session.say('Go.');
  await session.report(approval);
  await using tab = await openCard(t, session);
  const { page } = tab;
  await page.route('**/api/code/session', async (route) => {
    const came = await (await route.fetch()).text();
    await route.fulfill({ contentType: 'application/json', body: came.replaceAll('gnp.exe', 'gnp.bat') });
  });
  await page.locator('.control-free').waitFor();
  await page.locator('section.card:not(.fresh)').waitFor();
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('.control-mine').waitFor();
  await page.locator('section.card:not(.fresh)').waitFor();
  await page.locator('.notice, .refused').getByText('Nothing was answered').waitFor();
  t.equal(tab.sent.length, 1);
});

t.test('an approval for a file shows the change as text', { skip }, async (t) => {
  const session = toldSession(t);
  await session.say('Go.');
  const change = {
    changeType: 'modify' as const,
    diff: '@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = "<img src=x onerror=alert(1)>";',
    unshown: 12,
  };
  await session.report({
    type: 'ask',
    subject: 'a',
    kind: 'approval',
    title: 'Change files',
    metadata: { subject: 'workspace.fs write src/<b>.js', cwd: '/w', reuse: {}, change },
  });
  await using tab = await openCard(t, session);
  const shown = tab.page.getByRole('region', { name: 'What it would change' });
  t.match(await shown.innerText(), /<img src=x onerror=alert\(1\)>.*and 12 more lines/s);
  t.equal(
    await shown.locator('.line-added .tone-keyword').innerText(),
    'const',
    'in the tones of its language',
  );
  t.equal(await shown.locator('img').count(), 0);
  t.strictSame(tab.wrongs, []);
});

t.test('a secret answer is not stored and is removed from its field once sent', { skip }, async (t) => {
  const session = toldSession(t);
  await session.say('Go.');
  const questions = [
    { id: 'q', prompt: 'The key?', kind: 'text', secret: true },
    { id: 'o', prompt: 'Which one?', kind: 'text' },
  ] as const;
  await session.report({ type: 'ask', subject: 's', kind: 'request_user_input', metadata: { questions } });
  await using tab = await steerCard(t, session);
  const { page } = tab;
  const field = page.getByLabel('The key?');
  await field.fill('hunter2-the-secret');
  await page.getByLabel('Which one?').fill('the second');
  t.equal(await field.getAttribute('type'), 'password');
  const stored = String(await page.evaluate('JSON.stringify(sessionStorage)'));
  t.match(stored, /the second/);
  t.notMatch(stored, /hunter2/);
  await page.route('**/interactions/*', (route) => route.abort());
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.locator('section.card p.bad').waitFor();
  t.equal(await field.inputValue(), '');
  t.equal(await page.getByLabel('Which one?').inputValue(), 'the second', 'what is no secret is kept');
  t.match(tab.sent, [/hunter2-the-secret/]);
});

t.test('a second press right after an answer does not answer the next question', { skip }, async (t) => {
  const session = toldSession(t);
  await session.say('Go.');
  await session.report(approval, { ...approval, subject: 'b', title: 'Second' });
  await using tab = await steerCard(t, session);
  const { page } = tab;
  // The second press of a hand that presses twice, as soon as there is something to press.
  await page.evaluate(`new MutationObserver(() => {
    const { dataset } = document.documentElement;
    if (document.querySelector('.card h2')?.textContent !== 'Second' || dataset.pressed) return;
    dataset.pressed = 'once';
    document.querySelector('.card .options button').click();
  }).observe(document.body, { subtree: true, childList: true, characterData: true })`);
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.locator('html[data-pressed]').waitFor();
  await page.locator('section.card:not(.fresh)').getByRole('heading', { name: 'Second' }).waitFor();
  t.equal(tab.sent.length, 1);
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.locator('section.card').waitFor({ state: 'detached' });
  t.equal(tab.sent.length, 2, 'once it can have been read, it is answered');
});

long('an undo question needs a chosen option and ignores keys', { skip }, async (t) => {
  const session = toldSession(t);
  await session.say('Go.');
  const link = '[more](/api/code/control/cancel) [else](javascript:x) [<b>out</b>](https://example.org/)';
  const question = undoQuestion({ runId: 'r', commit: 'c', summary: 's', files: [] });
  await session.report({ type: 'ask', ...question, description: link });
  await using tab = await steerCard(t, session);
  const { page } = tab;
  const card = page.locator('section.card');
  t.equal(await card.locator('input:checked').count(), 0);
  t.ok(await card.getByRole('button', { name: 'Answer' }).isDisabled());
  t.strictSame(await card.locator('a').allInnerTexts(), ['<b>out</b>'], 'no link leads to this server');
  await card.focus();
  for (const key of ['1', 'y', 'Enter']) await page.keyboard.press(key);
  t.strictSame(tab.sent, []);
  await card.getByText('Leave it').click();
  await card.getByRole('button', { name: 'Answer' }).click();
  await card.waitFor({ state: 'detached' });
  t.match(
    tab.sent.map((body) => JSON.parse(body)),
    [{ answers: { undo: ['leave'] } }],
  );
});

t.test('the question about an interrupted run is answered on the page', { skip }, async (t) => {
  const session = toldSession(t);
  await session.say('Go.');
  await session.report({ type: 'ask', ...stoppedQuestion('run-1', 'Prices are exact', 'work') });
  await using tab = await steerCard(t, session);
  const card = tab.page.locator('section.card');
  await card.getByText('The run was interrupted; nothing is committed').waitFor();
  await card.getByText('Go on with the run, or drop it?').waitFor();
  t.equal(await card.locator('input:checked').count(), 0);
  await card.getByRole('radio', { name: 'Go on' }).check();
  await card.getByRole('button', { name: 'Answer' }).click();
  await card.waitFor({ state: 'detached' });
  t.match(
    tab.sent.map((body) => JSON.parse(body)),
    [{ answers: { stopped: ['go-on'] } }],
  );
});
