import { long } from '../../rooms/long.ts';
import { showScene } from '../scenes/show-scene.ts';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';
import { servePage, toldSession } from './serve-page.ts';

const plan = {
  id: 'r/1',
  title: 'Prices are exact',
  status: 'proposed',
  steps: [
    { id: 'task-1.1', step: 'take the cent away', status: 'pending' },
    { id: 'task-1.2', step: 'add a test', status: 'pending' },
  ],
} as const;
const choice = {
  type: 'ask',
  subject: 'choice r/1',
  kind: 'post_plan_choice',
  title: 'Prices are exact',
  metadata: { planId: 'r/1', networkAccess: 'deny', workspace: 'f', lines: ['task-1.1', 'task-1.2'] },
} as const;

long('control of a session', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();

  await t.test(
    'one page has control, a second shows the same and takes control once it is free',
    async (t) => {
      const session = toldSession(t, { local: 'none' });
      const { baseUrl } = await servePage(t, session);
      await using first = await openTab(browser, baseUrl);
      await using second = await openTab(browser, baseUrl);
      await first.page.getByText('No one has control').waitFor();
      await first.page.getByRole('button', { name: 'Take control' }).click();
      await first.page.locator('.control-mine').waitFor();
      await second.page.getByText('Another page has control').first().waitFor();
      t.ok(await second.page.getByRole('button', { name: 'Take control' }).isDisabled());
      await first.page.locator('#composer').fill('Make it exact.');
      await first.page.keyboard.press('Enter');
      await second.page.locator('.entry-user_message').getByText('Make it exact.').waitFor();
      await session.report({ type: 'planned', plan }, choice);
      for (const { page } of [first, second]) await page.locator('.card-post_plan_choice').waitFor();
      t.ok(await second.page.getByRole('button', { name: 'Execute plan' }).isDisabled());
      await first.page.getByRole('button', { name: 'Release' }).click();
      await second.page.getByRole('button', { name: 'Take control' }).click();
      await second.page.locator('.control-mine').waitFor();
      await first.page.getByText('Another page has control').first().waitFor();
      await second.page.getByRole('switch', { name: /Network/ }).click();
      await first.page.getByText('Network: Allow').waitFor();
      await second.page.close({ runBeforeUnload: true });
      await first.page.getByText('No one has control').waitFor();
      t.strictSame([...first.wrongs, ...second.wrongs], []);
    },
  );

  await t.test(
    'the terminal reclaims the session, and the page takes control again with one press',
    async (t) => {
      const session = toldSession(t, { local: 'tui' });
      const { baseUrl } = await servePage(t, session);
      await using tab = await openTab(browser, baseUrl);
      const { page } = tab;
      await page.locator('#composer').fill('not sent by itself');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').filter({ hasText: 'take control first' }).waitFor();
      t.equal(session.channel.state.lease, undefined, 'nothing is taken from a terminal without a word');
      await page.getByRole('button', { name: 'Take control' }).click();
      await page.locator('.control-mine').waitFor();
      await session.channel.send({ type: 'reclaim' });
      await page.locator('.control-terminal').waitFor();
      t.ok(await page.getByRole('button', { name: 'Send' }).isDisabled());
      await page.getByRole('button', { name: 'Take control' }).click();
      await page.locator('.control-mine').waitFor();
      t.equal(await page.locator('#composer').inputValue(), 'not sent by itself');
      t.strictSame(tab.wrongs, []);
    },
  );

  await t.test('the page shows that the session is offline and reconnects without losing text', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl, away } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('kept through it all');
    const comeBack = await away();
    await page.getByText('Offline: the session does not answer').waitFor();
    await page.locator('.state-offline').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('nothing was sent').waitFor();
    t.equal(await page.locator('#composer').inputValue(), 'kept through it all');
    await comeBack();
    await page.locator('.state-idle').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.entry-user_message').getByText('kept through it all').waitFor();
    t.equal(session.channel.state.transcript.length, 1, 'it was sent once');
    t.strictSame(tab.wrongs, []);
  });

  await t.test('an unsent note of a closed question is returned to the user', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('Go.');
    await page.keyboard.press('Enter');
    await page.locator('.control-mine').waitFor();
    await session.report({ type: 'planned', plan }, choice);
    await page.getByRole('button', { name: 'Note' }).first().click();
    await page.getByLabel('Note on “take the cent away”').fill('only that cent');
    await page.reload();
    await page.getByLabel('Note on “take the cent away”').waitFor();
    t.equal(await page.getByLabel('Note on “take the cent away”').inputValue(), 'only that cent');
    await session.report({ type: 'end', end: 'done' });
    await page.locator('.notice').getByText('only that cent').waitFor();
    t.equal(await page.locator('section.card').count(), 0);
    t.strictSame(tab.wrongs, []);
  });

  await t.test('a secret answer is neither shown nor stored', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('Publish.');
    await page.keyboard.press('Enter');
    await page.locator('.control-mine').waitFor();
    await session.report({
      type: 'ask',
      subject: 'q',
      kind: 'request_user_input',
      prompt: 'Where, and with what?',
      metadata: {
        questions: [
          { id: 'a', prompt: 'Where?', kind: 'single', options: [{ id: '1', label: 'here' }] },
          { id: 'b', prompt: 'Token', kind: 'text', secret: true },
        ],
      },
    });
    await page.getByRole('radio', { name: 'here' }).check();
    const token = page.getByRole('textbox', { name: /Token/ });
    t.equal(await token.getAttribute('type'), 'password');
    await token.fill('swordfish');
    const kept = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    t.notMatch(kept, /swordfish/);
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('section.card').waitFor({ state: 'detached' });
    t.notMatch(await page.content(), /swordfish/);
    t.match(session.channel.state.interactions.at(-1), { status: 'resolved' });
    t.strictSame(tab.wrongs, []);
  });

  await t.test('the user keeps, rejects and comments on single hunks, and every page shows it', async (t) => {
    const { baseUrl, session } = await showScene(t, 'review');
    await using tab = await openTab(browser, baseUrl);
    await using other = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.getByRole('button', { name: 'Take control' }).click();
    await page.locator('.control-mine').waitFor();
    for (const one of [page, other.page]) await one.getByRole('tab', { name: 'Diff' }).click();
    t.equal(await page.locator('.line-removed').count(), 1);
    t.ok((await page.locator('.line .tone-keyword').count()) > 0, 'code is shown in its tones');
    await page.getByRole('button', { name: 'Keep this hunk' }).first().click();
    await page.getByRole('button', { name: 'Comment on this hunk' }).last().click();
    await page.getByLabel('Words on this hunk').fill('say why, not where');
    await page.getByRole('button', { name: 'Reject this hunk' }).last().click();
    await other.page.locator('.hunk-reject').getByText('say why, not where').waitFor();
    await other.page.locator('.hunk-keep').waitFor();
    t.ok(await other.page.getByRole('button', { name: 'Keep this hunk' }).first().isDisabled());
    t.match(session.channel.state.reviews, [
      { hunk: 'h1', verdict: 'keep' },
      { hunk: 'h3', verdict: 'reject', comment: 'say why, not where' },
    ]);
    t.strictSame([...tab.wrongs, ...other.wrongs], []);
  });
});

long('control of a session over time', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();

  await t.test('an expired lease is requested again by the next message', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session, { clock: session.clock });
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.clock.install();
    await page.reload();
    await page.getByRole('button', { name: 'Take control' }).click();
    await page.locator('.control-mine').waitFor();
    await page.clock.fastForward(121_000);
    session.pass(121_000);
    await session.channel.send({ type: 'tick' });
    t.equal(session.channel.state.lease, undefined);
    await page.locator('.control-lapsed').waitFor();
    await page.locator('#composer').fill('And again.');
    await page.keyboard.press('Enter');
    await page.locator('.entry-user_message').getByText('And again.').waitFor();
    await page.locator('.control-mine').waitFor();
    t.strictSame(tab.wrongs, []);
  });

  await t.test('a goal is shown with its criteria, and cancelling it needs a confirmation', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('/goal start Prices are exact');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Goal' }).waitFor();
    await page.locator('.workflow').getByText('after 0 runs').waitFor();
    t.match(await page.locator('.workflow').innerText(), /open\s+Prices are exact/);
    const giveUp = page.getByRole('button', { name: 'Give the goal up' });
    await giveUp.click();
    await page.getByRole('button', { name: 'Keep it' }).click();
    t.equal(session.channel.state.goal?.status, 'active', 'nothing is given up by one press');
    await giveUp.click();
    await page.getByRole('button', { name: 'Yes, give it up' }).click();
    await page.locator('.tag-cancelled').waitFor();
    t.equal(session.channel.state.goal?.status, 'cancelled');
    t.strictSame(tab.wrongs, []);
  });
});
