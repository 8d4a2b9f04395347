import type { Browser, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { textOf } from '../../../session/screen/line.ts';
import { contractEssence } from '../../../session/screen/question-body.ts';
import type { DraftMetadata } from '../../../session/state/question.ts';
import { long } from '../../rooms/long.ts';
import type { SceneName } from '../scenes/scenes.ts';
import { showScene } from '../scenes/show-scene.ts';
import { openBrowser, openTab, violations, withoutBrowser } from './open-browser.ts';

const allPanes = ['Workflow', 'Diff', 'Terminal', 'Summary', 'Threads', 'Graph'];

/** Looks at a state in every size and colour, each pane that is named in turn; holds the form of control, too. */
async function look(
  t: Test,
  browser: Browser,
  name: SceneName,
  panes: readonly string[],
  looks: readonly (readonly [width: number, colorScheme: 'light' | 'dark'])[],
): Promise<void> {
  const { baseUrl } = await showScene(t, name);
  for (const [width, colorScheme] of looks) {
    const viewport = { width, height: 760 };
    await using tab = await openTab(browser, baseUrl, { viewport, colorScheme });
    const { page } = tab;
    await page.locator('.bar .state').waitFor();
    for (const pane of panes) {
      await page.getByRole('tab', { name: pane }).click();
      t.strictSame(await violations(page), [], `${name}, ${pane}, ${width} px, ${colorScheme}`);
      const found = Number(await page.evaluate('document.documentElement.scrollWidth'));
      t.ok(found <= width, `${name}, ${pane}: nothing stands beside a screen of ${width} px`);
    }
    t.strictSame(tab.wrongs, []);
  }
}

t.test(
  'an approval has no accessibility violations on a narrow page',
  { skip: withoutBrowser },
  async (t) => {
    await look(t, await openBrowser(), 'approval', ['Workflow'], [[375, 'dark']]);
  },
);

t.test(
  'tool calls on a narrow page are shown in lines of readable width',
  { skip: withoutBrowser },
  async (t) => {
    const { baseUrl } = await showScene(t, 'repair');
    const heights = async (page: Page, what: string): Promise<readonly number[]> =>
      (await page.evaluate(
        `[...document.querySelectorAll(${JSON.stringify(what)})].map((one) => one.getBoundingClientRect().height)`,
      )) as readonly number[];
    const browser = await openBrowser();
    {
      await using tab = await openTab(browser, baseUrl, { viewport: { width: 375, height: 812 } });
      await tab.page.getByRole('tab', { name: 'Transcript' }).click();
      await tab.page.locator('.entry-tool_call code').first().waitFor();
      for (const what of ['.entry-tool_call code', '.call code']) {
        const found = await heights(tab.page, what);
        t.ok(found.length > 3, what);
        t.ok(Math.max(...found) < 48, `${what}: ${found.join(', ')} px`);
        await tab.page.getByRole('tab', { name: 'Terminal' }).click();
      }
      await tab.page.getByRole('tab', { name: 'Transcript' }).click();
      const by = await heights(tab.page, '.entry .by');
      t.ok(by.length > 3 && Math.max(...by) < 24, `who says it: ${by.join(', ')} px`);
      const [bar = 999] = await heights(tab.page, '.bar');
      t.ok(bar < 140, `the line above takes ${bar} px`);
      t.ok(await tab.page.getByText('exit code 1').isVisible(), 'and how a command ended');
    }
    await using tab = await openTab(browser, baseUrl, { viewport: { width: 1280, height: 800 } });
    await tab.page.locator('#composer').waitFor({ state: 'attached' });
    const [bar = 999] = await heights(tab.page, '.bar');
    t.ok(bar < 48, `on a screen the line above is one: ${bar} px`);
  },
);

t.test(
  'the cost of a plan step is shown below the step on a narrow page',
  { skip: withoutBrowser },
  async (t) => {
    const { baseUrl } = await showScene(t, 'plan');
    await using tab = await openTab(await openBrowser(), baseUrl, { viewport: { width: 375, height: 812 } });
    await tab.page.locator('.steps .cost').first().waitFor({ state: 'attached' });
    const beside = await tab.page.evaluate(
      `[...document.querySelectorAll('.steps .cost')].map((cost) =>
       cost.getBoundingClientRect().top - cost.parentElement.querySelector('.step').getBoundingClientRect().bottom)`,
    );
    for (const gap of beside as readonly number[]) t.ok(gap >= 0, `${gap} px`);
    t.ok((beside as readonly number[]).length > 0, 'the plan of the scene has a cost');
  },
);

long(
  'on a narrow page a held change shows its diff, its lines wrap, and the graph fits and zooms',
  { skip: withoutBrowser },
  async (t) => {
    const browser = await openBrowser();
    const viewport = { width: 375, height: 812 };
    const beside = (page: Page, of: string) =>
      page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${of}'))`,
      );
    {
      const { baseUrl } = await showScene(t, 'held');
      await using tab = await openTab(browser, baseUrl, { viewport });
      const diff = tab.page.locator('section.card pre').first();
      await diff.getByText('note: (body.note').waitFor();
      t.equal(await beside(tab.page, 'section.card pre'), 0, 'no line goes on beside the screen');
    }
    const { baseUrl } = await showScene(t, 'done');
    await using tab = await openTab(browser, baseUrl, { viewport });
    await tab.page.getByRole('tab', { name: 'Graph' }).click();
    const drawing = tab.page.locator('.drawing');
    await drawing.locator('svg').waitFor();
    t.equal(await beside(tab.page, '.drawing'), 0, 'the whole graph is seen');
    for (const _ of [1, 2, 3]) await tab.page.getByRole('button', { name: 'Zoom in' }).click();
    t.ok(Number(await beside(tab.page, '.drawing')) > 200, 'and then a part of it');
    t.strictSame(await violations(tab.page), []);
    await drawing.press('0');
    await tab.page.getByText('whole', { exact: true }).waitFor();
    t.equal(await beside(tab.page, '.drawing'), 0);
    t.strictSame(tab.wrongs, []);
  },
);

long(
  'every theme of the page has enough contrast, and a choice is kept',
  { skip: withoutBrowser },
  async (t) => {
    const { baseUrl } = await showScene(t, 'done');
    await using tab = await openTab(await openBrowser(), baseUrl, { colorScheme: 'dark' });
    const { page } = tab;
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.getByRole('tab', { name: 'Diff' }).click();
    await page.locator('.line-added').first().waitFor();
    const grounds = { auto: 'rgb(22, 22, 21)', light: 'rgb(251, 251, 250)', dark: 'rgb(22, 22, 21)' };
    for (const [theme, expected] of Object.entries({ ...grounds, 'high contrast': 'rgb(0, 0, 0)' })) {
      const button = page.getByRole('button', { name: `Theme: ${theme}`, exact: true });
      await button.waitFor();
      t.equal(await ground(), expected, theme);
      t.strictSame(await violations(page), [], theme);
      if (theme !== 'high contrast') await button.click();
    }
    await page.reload();
    await page.getByRole('button', { name: 'Theme: high contrast' }).waitFor();
    t.equal(await ground(), 'rgb(0, 0, 0)');
    await using other = await openTab(await openBrowser(), baseUrl, { contrast: 'more' });
    await other.page.getByRole('button', { name: 'Theme: auto' }).waitFor();
    t.equal(
      await other.page.evaluate('getComputedStyle(document.body).backgroundColor'),
      'rgb(255, 255, 255)',
    );
  },
);

long('a spec card shows what the terminal shows, in its order', { skip: withoutBrowser }, async (t) => {
  const { baseUrl, session } = await showScene(t, 'intent');
  await using tab = await openTab(await openBrowser(), baseUrl);
  const card = tab.page.locator('section.card .read');
  const question = session.channel.state.interactions.find(({ kind }) => kind === 'intent_review_choice');
  const lines = contractEssence(question?.metadata as DraftMetadata)?.map(textOf) ?? [];
  const words = (text: string) => text.replace(/[•:`]/g, ' ').trim().split(/\s+/);
  const shown = words(await card.innerText()).join(' ');
  t.ok(lines.length > 10);
  t.equal(shown, words(`${lines.join('\n')} The whole spec`).join(' '));
});

t.test('the page respects reduced motion and forced colours', { skip: withoutBrowser }, async (t) => {
  const { baseUrl } = await showScene(t, 'repair');
  const options = { reducedMotion: 'reduce', forcedColors: 'active' } as const;
  await using tab = await openTab(await openBrowser(), baseUrl, options);
  await tab.page.locator('.bar .state-executing_tool').waitFor();
  t.equal(await tab.page.evaluate('document.getAnimations().length'), 0);
  const lines = (await tab.page.evaluate(
    `[...document.querySelectorAll('[role=tab]')].map((one) => getComputedStyle(one).borderBottomColor)`,
  )) as readonly string[];
  const ground = await tab.page.evaluate('getComputedStyle(document.body).backgroundColor');
  t.equal(lines.filter((line) => line !== ground).length, 1, 'one pane is marked as the one that is shown');
});

long(
  'every scene has no accessibility violations and fits a narrow and a wide page',
  { skip: withoutBrowser },
  async (t) => {
    const browser = await openBrowser();
    const looks = [375, 1280].flatMap((width) =>
      (['light', 'dark'] as const).map((colour) => [width, colour] as const),
    );
    const named = {
      empty: ['Workflow', 'Terminal'],
      talk: ['Workflow'],
      intent: ['Workflow'],
      plan: ['Workflow'],
      review: ['Diff'],
    };
    for (const [name, panes] of Object.entries({
      ...named,
      approval: ['Workflow'],
      question: ['Workflow'],
      done: allPanes,
    }))
      await t.test(name, (t) => look(t, browser, name as SceneName, panes, looks));
  },
);
