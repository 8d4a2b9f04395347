import { readGraph } from '../../../bin/code/serve-code.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import { long } from '../../rooms/long.ts';
import { ground } from '../state/walk.ts';
import { scriptSession } from '../work/scripted-session.ts';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';
import { servePage } from './serve-page.ts';

long(
  'the page sends a question to a real session and shows the reply',
  { skip: withoutBrowser },
  async (t) => {
    await using scene = await scriptSession([{ text: 'It adds **a cent**.' }], {
      ground: ground({ local: 'none' }),
    });
    const { baseUrl } = await servePage(t, scene.session);
    await using tab = await openTab(await openBrowser(), baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('/ask What does price do?');
    await page.keyboard.press('Enter');
    await page.locator('.entry-assistant_message .tone-strong').getByText('a cent').waitFor();
    await page.locator('.state-idle').waitFor();
    t.strictSame(tab.wrongs, []);
  },
);

long(
  'a change goes from the first message to the commit on the page alone',
  { skip: withoutBrowser },
  async (t) => {
    const plans = {
      calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
    } as const;
    await using scene = await scriptSession([submits(priceDraft), plans, ...makesFix], {
      ground: ground({ local: 'none' }),
    });
    const { sample, session, model } = scene;
    const place = { cwd: sample.root, stores: (await sample.engine()).slots.store };
    const { baseUrl } = await servePage(t, session, { graph: readGraph(place) });
    await using tab = await openTab(await openBrowser(), baseUrl);
    const { page } = tab;
    await page.locator('#composer').fill('A price is one cent too high: make it exact.');
    await page.keyboard.press('Enter');
    const card = page.locator('section.card');
    await card.getByText('Is this what you mean?').waitFor();
    await card.getByRole('button', { name: 'Confirm' }).click();
    await page.locator('.card-post_plan_choice').waitFor();
    await card.getByRole('button', { name: 'Note' }).nth(1).click();
    await card.getByRole('textbox').fill('only that cent');
    await card.getByRole('button', { name: 'Execute plan' }).click();
    await page.locator('.state-completed').waitFor({ timeout: 240_000 });
    t.ok(
      model.asked.some(({ body }) => JSON.stringify(body).includes('only that cent')),
      'what was noted on a line reaches whoever does it',
    );
    t.match(sample.git('log', '-1', '--format=%s'), /Prices are exact/);
    await page.getByRole('tab', { name: 'Summary' }).click();
    const commit = sample.git('rev-parse', 'HEAD').trim();
    await page.getByText(commit).first().waitFor();
    await page
      .locator('.summary .to-type')
      .getByText(/^writ verify /)
      .waitFor();
    await page.getByRole('tab', { name: 'Diff' }).click();
    await page.locator('.line-added').first().waitFor();
    await page.getByRole('tab', { name: 'Workflow' }).click();
    await page.locator('.tag-passed').first().waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.node-decision').first().waitFor();
    for (const kind of ['intent', 'plan', 'task', 'run', 'patchset', 'evidence'])
      t.ok((await page.locator(`.node-${kind}`).count()) > 0, kind);
    t.strictSame(tab.wrongs, []);
  },
);
