import t from 'tap';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';
import { servePage, toldSession } from './serve-page.ts';

const run = '01a2071a-1111-7111-8111-111111111111';
const hunk = (id: string) => ({ id, header: '@@ -1,1 +1,1 @@' });
const changes = (id: string, path: string) => [
  { path, changeType: 'modify', diff: '@@ -1,1 +1,1 @@\n-x\n+y\n', hunks: [hunk(id)] },
];

t.test('verification and review on the page', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();

  await t.test('a button verifies the seal, and a failed verification is shown in red', async (t) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t, session);
    await using tab = await openTab(browser, baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('Go.');
    await page.keyboard.press('Enter');
    await page.locator('.control-mine').waitFor();
    const outcome = { runId: run, decision: 'commit', why: 'all passed', commit: 'f'.repeat(40) } as const;
    await session.report(
      { type: 'noted', id: 'd', title: 'Committed', text: 'done', outcome },
      { type: 'end', end: 'decided' },
    );
    await page.getByRole('tab', { name: 'Summary' }).click();
    const verify = page.getByRole('button', { name: 'Verify the seal' });
    await verify.click();
    await page.locator('.entry-user_message').getByText(`/verify ${run}`).waitFor();
    t.ok(await verify.isDisabled(), 'one verification at a time');
    await session.report(
      { type: 'noted', id: 'v1', title: 'Verified', text: run },
      { type: 'end', end: 'done' },
    );
    await page.locator('.seal .good').getByText('Verified').waitFor();
    await verify.click();
    await page.locator('.state-thinking').waitFor();
    const why = 'VERIFY_REFUTED: `manifest-complete` failed: mismatch: evidence/0001-unit.json';
    await session.report(
      { type: 'noted', id: 'v2', title: 'Not verified', text: `${run}: ${why}` },
      { type: 'end', end: 'done' },
    );
    const bad = page.locator('.seal .bad');
    await bad.waitFor();
    t.match(
      await bad.innerText(),
      /^Not verified at .*: VERIFY_REFUTED: manifest-complete failed.*0001-unit\.json$/,
    );
    const [colour, text] = (await page.evaluate(
      `['.seal .bad', '.seal .soft'].map((one) => getComputedStyle(document.querySelector(one)).color)`,
    )) as readonly string[];
    t.not(colour, text);
    t.match(
      await page.locator('.entry-info_note .by.bad').innerText(),
      'Not verified',
      'in what was said, too',
    );
    t.equal(await page.locator('.seal .good').count(), 0);
    t.strictSame(tab.wrongs, []);
  });

  await t.test(
    'the newest change comes first, and earlier attempts have no review buttons during a held review',
    async (t) => {
      const session = toldSession(t, { local: 'none' });
      const { baseUrl } = await servePage(t, session);
      await session.say('Go.');
      session.pass(1000);
      const same = { id: 'same', changes: changes('h1', 'src/same.js') } as const;
      await session.report({ type: 'patched', patchset: { ...same, status: 'accepted' }, isWhole: true });
      session.pass(1000);
      await session.report({
        type: 'patched',
        patchset: { id: `${run}/1/call`, status: 'proposed', changes: changes('h2', 'src/try.js') },
      });
      session.pass(1000);
      await session.report({ type: 'patched', patchset: { ...same, status: 'proposed' }, isWhole: true });
      await session.report({
        type: 'noted',
        id: 'n',
        text: 'held',
      });
      await using tab = await openTab(browser, baseUrl);
      const { page } = tab;
      await page.locator('.entry-diff').nth(1).waitFor();
      t.equal(await page.locator('.entry-diff').count(), 2, 'a change that is made again is told again');
      await page.getByRole('tab', { name: 'Diff' }).click();
      const patches = page.locator('.patchset');
      t.match(await patches.nth(0).innerText(), /src\/same\.js/);
      t.match(await patches.nth(1).innerText(), /src\/try\.js/);
      t.equal(
        await patches
          .nth(1)
          .getByRole('button', { name: /^Reject/ })
          .count(),
        1,
      );
      const review = {
        runId: run,
        branch: 'refs/heads/writ/r',
        plan: 'p',
        commit: 'c',
        patchset: 'same',
        summary: 's',
      };
      const target = { ref: 'refs/heads/main', head: undefined } as never;
      await session.report({ type: 'review-began', review: { ...review, target } });
      await page.getByRole('heading', { name: 'Held for your review' }).waitFor();
      t.equal(
        await patches
          .nth(0)
          .getByRole('button', { name: /^Reject/ })
          .count(),
        1,
      );
      t.equal(
        await patches
          .nth(1)
          .getByRole('button', { name: /^Reject/ })
          .count(),
        0,
        'nobody would hear of it',
      );
      t.strictSame(tab.wrongs, []);
    },
  );
});
