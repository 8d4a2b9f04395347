import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';
import { servePage, type ToldSession, toldSession } from './serve-page.ts';

/** So many notes in one session, of which the window shows the last 500. */
async function longTalk(t: Test, notes: number): Promise<ToldSession> {
  const session = toldSession(t);
  await session.say('Go.');
  await session.report(
    ...Array.from(
      { length: notes },
      (_, at) => ({ type: 'noted', id: `n${at}`, text: `Note ${at}` }) as const,
    ),
  );
  return session;
}

const shown = (page: Page) => page.locator('.entry').count();
const drawn = (page: Page, entries: number) =>
  page
    .locator('.entry')
    .nth(entries - 1)
    .waitFor({ state: 'attached' });
const frames = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** Presses the button without going there. */
const press = (page: Page) => page.evaluate("document.querySelector('button.earlier').click()");
const scrollTo = (page: Page, px: number) =>
  page.evaluate(`document.querySelector('.entries').scrollTop = ${px}`);

/** How many pixels below the upper edge of the list an entry stands. */
const placeOf = (page: Page, id: number) =>
  page.evaluate(`(() => {
  const list = document.querySelector('.entries');
  const found = [...list.querySelectorAll('.entry')].find((one) => one.textContent.endsWith('Note ${id}'));
  return Math.round(found.getBoundingClientRect().top - list.getBoundingClientRect().top);
})()`);

long('earlier entries of a session', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();

  await t.test('earlier entries load by button and by scrolling, without moving the reader', async (t) => {
    const session = await longTalk(t, 639);
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    const button = page.getByRole('button', { name: 'Load earlier' });
    await page.getByRole('button', { name: 'Load earlier (140)' }).waitFor();
    t.equal(await shown(page), 500);
    await page.evaluate("document.querySelector('button.earlier').focus({ preventScroll: true })");
    await page.keyboard.press('Enter');
    await drawn(page, 550);
    await page
      .getByRole('status')
      .filter({ hasText: '50 earlier entries loaded, 90 before them.' })
      .waitFor();
    t.equal(await page.evaluate('document.activeElement?.className'), 'earlier', 'the focus stays');
    // Nobody is moved: what he read stands where it stood.
    await scrollTo(page, 601);
    await page.evaluate(frames);
    t.equal(await shown(page), 550);
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/code\/transcript/, (route) => held.promise.then(() => route.continue()));
    await scrollTo(page, 0);
    await page.evaluate(frames);
    const read = await placeOf(page, 89);
    t.ok(Number(read) > 0 && Number(read) < 200, `the first entry can be read: ${read} pixels`);
    held.resolve();
    await drawn(page, 600);
    await page.evaluate(frames);
    t.equal(await placeOf(page, 89), read, 'what was read is still read');
    await session.report({ type: 'noted', id: 'late', text: 'One more note' });
    await page.getByText('One more note').waitFor({ state: 'attached' });
    t.equal(await placeOf(page, 89), read, 'also when something comes at the end');
    // By the keyboard alone, until the thread begins.
    await page.locator('.entries').focus();
    for (let pages = 0; pages < 4 && (await button.count()) > 0; pages += 1) {
      const had = await shown(page);
      await page.keyboard.press('Home');
      await drawn(page, had + 1);
    }
    const words = await page.locator('.entry').allTextContents();
    t.equal(words.length, 641);
    t.match(words[0], /Go\./);
    t.strictSame(
      words.slice(1, -1).map((text) => /Note (\d+)/.exec(text)?.[1]),
      Array.from({ length: 639 }, (_, at) => `${at}`),
      'each once, in order',
    );
    t.strictSame(tab.wrongs, []);
  });

  await t.test('the reading position is kept after a reload and a change of pane', async (t) => {
    const session = await longTalk(t, 880);
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl, { viewport: { width: 375, height: 700 } });
    const { page } = tab;
    await page.getByRole('button', { name: 'Load earlier (381)' }).waitFor({ state: 'attached' });
    /** The first entry that is seen, and where it stands. */
    const read = async (): Promise<readonly [string, number]> =>
      (await page.evaluate(`(() => {
        const list = document.querySelector('.entries');
        const { top } = list.getBoundingClientRect();
        const one = [...list.querySelectorAll('.entry')].find((one) => one.getBoundingClientRect().bottom > top);
        return [/(Note \\d+)$/.exec(one.textContent)?.[1], Math.round(one.getBoundingClientRect().top - top)];
      })()`)) as readonly [string, number];
    const isBack = async (want: readonly [string, number]): Promise<void> => {
      await page.locator('.entry').first().waitFor({ state: 'attached' });
      await until(async () => JSON.stringify(await read()) === JSON.stringify(want));
    };
    for (const inThread of [500, 120]) {
      while ((await page.locator('.entry').getByText(`Note ${inThread}`, { exact: true }).count()) === 0) {
        const had = await shown(page);
        await press(page);
        await drawn(page, had + 1);
      }
      await page.evaluate(`(() => {
        const one = [...document.querySelectorAll('.entry')].find((one) => one.textContent.endsWith('Note ${inThread}'));
        one.scrollIntoView();
        document.querySelector('.entries').scrollTop += 7;
      })()`);
      await isBack([`Note ${inThread}`, -7]);
      await page.reload();
      await isBack([`Note ${inThread}`, -7]);
      t.equal(await page.getByRole('button', { name: 'New below' }).count(), 0, 'nothing is new');
      await page.getByRole('tab', { name: 'Diff' }).click();
      await page.getByRole('tab', { name: 'Transcript' }).click();
      await isBack([`Note ${inThread}`, -7]);
    }
    // Whoever read the end is at the end again.
    await page.evaluate("document.querySelector('.entries').scrollTop = 1e7");
    await page.evaluate(frames);
    await page.reload();
    await page.getByText('Note 879', { exact: true }).waitFor();
    await session.report({ type: 'noted', id: 'late', text: 'One more note' });
    await page.getByText('One more note').waitFor();
    t.strictSame(tab.wrongs, []);
  });

  await t.test('after a failure only the button loads earlier entries again', async (t) => {
    const session = await longTalk(t, 600);
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    let asked = 0;
    let isAway = true;
    await page.route(/\/api\/code\/transcript/, (route) => {
      asked += 1;
      return isAway ? route.abort() : route.continue();
    });
    const button = page.getByRole('button', { name: 'Load earlier (101)' });
    await button.waitFor({ state: 'attached' });
    await press(page);
    await page.getByRole('alert').waitFor();
    for (const px of [400, 100, 300, 0]) {
      await scrollTo(page, px);
      await page.evaluate(frames);
    }
    t.equal(asked, 1, 'a scroll does not ask in vain again and again');
    isAway = false;
    await press(page);
    await drawn(page, 550);
    t.strictSame(tab.wrongs, []);
  });

  await t.test('loaded earlier entries stay after a reconnect to the same session', async (t) => {
    const session = await longTalk(t, 600);
    const { baseUrl, away } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.getByRole('button', { name: 'Load earlier (101)' }).waitFor({ state: 'attached' });
    await press(page);
    await drawn(page, 550);
    const back = await away();
    await page.locator('.state-offline').waitFor();
    await back();
    await page.locator('.state-offline').waitFor({ state: 'detached' });
    t.equal(await shown(page), 550);
    t.strictSame(tab.wrongs, []);
  });
});
