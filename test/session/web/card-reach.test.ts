import type { Page } from 'playwright-core';
import type { Report } from '../../../session/state/command.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import * as texts from '../scenes/scene-texts.ts';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';
import { servePage, type Told, toldSession } from './serve-page.ts';

const telephone = { viewport: { width: 375, height: 700 } };
const focused = 'document.activeElement?.outerHTML.slice(0, 90)';

/** Whether all of it is on the screen. */
async function isSeen(page: Page, name: string): Promise<boolean> {
  const box = await page.locator('section.card').getByRole('button', { name, exact: true }).boundingBox();
  const composer = await page.locator('.composer').boundingBox();
  return box !== null && composer !== null && box.y >= 0 && box.y + box.height <= composer.y + 1;
}

const lacks = 'nobody may approve it: `.writ/allowed_signers` is not there';
const intent: Told<Report> = {
  type: 'ask',
  subject: 'review 1',
  kind: 'intent_review_choice',
  title: texts.contractTitle,
  prompt: 'Is this what you mean?',
  description: `${texts.contract}\n## Missing here, and needed before it can be committed\n\n- ${lacks}\n`,
  metadata: {
    riskLevel: 'medium',
    revision: 2,
    scope: ['src/'],
    checks: ['unit'],
    networkPolicy: 'deny',
    lacks: [lacks],
    essence: { unusual: ['commands have a network'] },
    changes: Array.from({ length: 20 }, (_, n) => `\`value.${n}\` was "${'long '.repeat(20)}", and is 1`),
  },
};
const choice: Told<Report> = {
  type: 'ask',
  subject: `choice ${texts.plan.id}`,
  kind: 'post_plan_choice',
  title: texts.plan.title ?? '',
  prompt: 'Execute this plan?',
  metadata: texts.planChoice,
};

long('question cards keep their answers in reach', { skip: withoutBrowser }, async (t) => {
  const browser = await openBrowser();
  const asks = async (t: Parameters<typeof toldSession>[0], ...reports: readonly Told<Report>[]) => {
    const session = toldSession(t, { local: 'none' });
    const { baseUrl } = await servePage(t as Parameters<typeof servePage>[0], session);
    const tab = await openTab(browser, baseUrl, telephone);
    await tab.page.locator('#composer').fill('Go.');
    await tab.page.keyboard.press('Enter');
    await tab.page.locator('.control-mine').waitFor();
    await session.report(...reports);
    await tab.page.locator('section.card:not(.fresh)').waitFor();
    const last = () => session.channel.state.interactions.at(-1);
    return { session, tab, page: tab.page, card: tab.page.locator('section.card'), last };
  };

  await t.test(
    'a spec card shows its essence and missing parts, with the answers on the screen',
    async (t) => {
      const { tab, page, card } = await asks(t, intent);
      await using _ = tab;
      for (const name of ['Confirm', 'Modify', 'Cancel']) t.ok(await isSeen(page, name), name);
      const bad = card.locator('.changes-bad');
      t.match(await bad.innerText(), /nobody may approve it/);
      t.ok(await bad.isVisible());
      await card.getByText('otherwise than is usual at medium risk').waitFor();
      await card.getByText('commands have a network').waitFor();
      await card.getByText('differs from the draft before: 20 values').waitFor();
      t.notOk(await card.getByText('value.19').isVisible());
      const whole = card.getByText('The whole spec');
      t.notOk(await card.getByText('Rights of tools', { exact: true }).isVisible());
      await whole.click();
      t.ok(await card.getByText('Rights of tools', { exact: true }).isVisible());
      t.ok(await isSeen(page, 'Confirm'), 'however long what is read');
      await card.getByRole('button', { name: 'Modify' }).click();
      await page.keyboard.type('c');
      t.equal(await page.locator('#note').inputValue(), 'c', 'whoever modifies writes');
      t.ok(await isSeen(page, 'Confirm'));
      t.strictSame(tab.wrongs, []);
    },
  );

  await t.test(
    'a note on a plan line has the focus, and its letters do not answer the question',
    async (t) => {
      const { tab, page, card, last } = await asks(t, { type: 'planned', plan: texts.plan }, choice);
      await using _ = tab;
      for (const name of ['Execute plan', 'Modify plan', 'Cancel']) t.ok(await isSeen(page, name), name);
      await card.getByRole('button', { name: 'Note' }).first().click();
      await page.keyboard.type('each cent');
      t.equal(await card.getByRole('textbox').inputValue(), 'each cent');
      t.equal(last()?.status, 'pending');
      await page.keyboard.press('Enter');
      t.match(await page.evaluate(focused), 'class="card ');
      await card.getByRole('button', { name: 'Put aside' }).click();
      t.notOk(await card.getByRole('button', { name: 'Execute plan' }).isVisible());
      await page.keyboard.press('e');
      await card.getByRole('button', { name: 'Execute plan' }).waitFor();
      t.equal(last()?.status, 'pending', 'what is put aside is shown first');
      await card.focus();
      await page.keyboard.press('e');
      await until(() => last()?.status === 'resolved');
      await card.waitFor({ state: 'detached' });
      await page.locator('#dock:focus').waitFor();
      t.strictSame(tab.wrongs, []);
    },
  );

  await t.test('a key that is held down answers only one question', async (t) => {
    const { kind, title, metadata } = texts.approval;
    const approval: Told<Report> = { type: 'ask', subject: 'consent 1', kind, title, metadata };
    const second = { ...approval, subject: 'consent 2', title: 'Second' };
    const { tab, page, card, session } = await asks(t, approval, second);
    await using _ = tab;
    const answered: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/interactions/')) answered.push(request.url());
    });
    await card.focus();
    await page.keyboard.down('y');
    await card.getByRole('heading', { name: 'Second' }).waitFor();
    await page.locator('section.card:focus:not(.fresh)').waitFor();
    await page.keyboard.down('y');
    await page.keyboard.up('y');
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve()))');
    t.strictSame(answered.length, 1);
    const answers = session.channel.state.interactions.map(({ status }) => status);
    t.strictSame(answers, ['resolved', 'pending']);
    t.strictSame(tab.wrongs, []);
  });

  await t.test(
    'a digit selects the option of a single-choice question, whose prompt is shown once',
    async (t) => {
      const options = [
        { id: '1', label: 'cents' },
        { id: '2', label: 'euros' },
      ];
      const { tab, page, card, last } = await asks(t, {
        type: 'ask',
        subject: 'question 1',
        kind: 'request_user_input',
        prompt: 'Cents or euros?',
        metadata: { questions: [{ id: 'a', prompt: 'Cents or euros?', kind: 'single', options }] },
      });
      await using _ = tab;
      t.equal(await card.locator('legend.heard').innerText(), 'Cents or euros?');
      await card.focus();
      await page.keyboard.press('2');
      t.ok(await card.getByRole('radio', { name: 'euros' }).isChecked());
      await page.keyboard.press('Enter');
      t.equal(last()?.status, 'pending', 'what is chosen is not answered yet');
      for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
      await until(() => last()?.status === 'resolved');
      t.strictSame(tab.wrongs, []);
    },
  );
});
