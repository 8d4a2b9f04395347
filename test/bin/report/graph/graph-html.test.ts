import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { toGraph } from '../../../../api/graph/to-graph.ts';
import type { GraphData } from '../../../../api/schemas/other-schemas.ts';
import { renderGraphHtml } from '../../../../bin/report/graph/graph-html.ts';
import { madeRun, madeThread } from '../../../api/graph/made-thread.ts';
import { long } from '../../../rooms/long.ts';
import { violations } from '../../../session/web/open-browser.ts';
import { hostileText } from '../sample-view.ts';

const chromium = '/usr/bin/chromium';
const inPage = readFileSync(new URL('../in-page.js', import.meta.url), 'utf8');
const small = toGraph(madeThread({ runs: ['one', 'two'].map((name) => madeRun(name)) }));
const huge = toGraph(
  madeThread({
    runs: Array.from({ length: 30 }, (_, index) => madeRun(`run ${index}`, 100)),
    isTruncated: true,
  }),
);
/** Every text is somebody else’s, tags as well. */
const hostile: GraphData = {
  ...small,
  thread_id: hostileText,
  title: hostileText,
  nodes: small.nodes.map((node) => ({
    ...node,
    label: hostileText,
    tags: [...node.tags, hostileText, 'constructor', '__proto__'],
    detail: `${hostileText}${'y'.repeat(3000)}`,
  })),
};
const empty: GraphData = { thread_id: 't', title: 'nothing yet', nodes: [], edges: [] };

t.test('the page is one document without requests, forms, handlers or inline styles', async (t) => {
  for (const graph of [small, hostile, huge, empty]) {
    const page = renderGraphHtml(graph);
    t.notMatch(page, /<(?:img|iframe|object|embed|link|form|base)\b/i);
    t.equal(page.match(/<script>/g)?.length ?? 0, graph === empty ? 0 : 1);
    const tags = [...(page.split('<script>')[0] ?? '').matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
    const scripted = tags.filter((tag) => /\s(?:on\w+|style|src)\s*=/i.test(tag.replace(/"[^"]*"/g, '""')));
    t.strictSame(scripted, []);
    const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, target]) => target ?? '');
    t.ok(targets.every((target) => /^#n\d+$/.test(target)));
    t.match(page, /default-src 'none'; style-src 'sha256-/);
  }
  t.match(renderGraphHtml(huge), 'This is not all of it');
  const loud = huge.nodes.map((node) => ({ ...node, label: '<'.repeat(200), detail: '<'.repeat(4000) }));
  const { length } = renderGraphHtml({ ...huge, nodes: loud });
  t.ok(length < 30_000_000, `${length} characters`);
});

const named = existsSync(chromium) ? false : `no browser at ${chromium}`;

long('the page works in a real browser', { skip: named }, async (t) => {
  const { chromium: engine } = await import('playwright-core');
  const browser = await engine.launch({ executablePath: chromium, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  const dir = t.testdir({});
  const write = (name: string, html: string): string => {
    writeFileSync(join(dir, name), html);
    return pathToFileURL(join(dir, name)).href;
  };
  const address = write('small.html', renderGraphHtml(small));

  await t.test('the page fits 375 px and 1280 px and loads nothing else', async (t) => {
    for (const [name, graph] of Object.entries({ small, hostile, empty })) {
      const url = write(`${name}.html`, renderGraphHtml(graph));
      const { page, told, asked } = await open(browser, url, { width: 375 });
      for (const width of [375, 1280]) {
        await page.setViewportSize({ width, height: 812 });
        const found = await ask<number>(page, 'document.documentElement.scrollWidth');
        t.ok(found <= width, `${name}: no horizontal scroll at ${width}, found ${found}`);
      }
      t.equal(await ask(page, 'globalThis.pwned'), undefined);
      t.equal(await page.locator('h1').count(), 1);
      t.strictSame(told, [], 'the console is empty');
      t.strictSame(asked, [url], 'nothing else is loaded');
      await page.close();
    }
  });

  await t.test('the graph pans and zooms by pointer, wheel, keys and buttons', async (t) => {
    const { page, told } = await open(browser, address, { width: 375 });
    const frame = page.locator('#frame');
    t.ok(await ask(page, seesAll), 'it opens fitted');
    await frame.focus();
    await page.keyboard.press('Home');
    const world = async (): Promise<readonly number[]> =>
      ((await page.locator('#world').getAttribute('transform')) ?? '').match(/-?[\d.]+/g)?.map(Number) ?? [];
    t.strictSame(await world(), [0, 0, 1]);
    const box = await frame.boundingBox();
    if (!box) throw new Error('the drawing is shown');
    await page.mouse.move(box.x + 300, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 200, box.y + 150, { steps: 4 });
    await page.mouse.up();
    t.strictSame(await world(), [-100, -50, 1], 'dragged');
    await page.mouse.wheel(30, 20);
    await page.waitForFunction(
      'document.getElementById("world").getAttribute("transform").startsWith("translate(-130 -70)")',
    );
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await page.waitForFunction(
      '!document.getElementById("world").getAttribute("transform").endsWith("scale(1)")',
    );
    t.ok(((await world())[2] ?? 0) > 1, 'zoomed in');
    await frame.focus();
    await page.keyboard.press('Home');
    t.strictSame(await world(), [0, 0, 1]);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    t.strictSame(await world(), [-60, -60, 1]);
    await page.keyboard.press('-');
    t.equal((await world())[2], 0.8);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    t.equal((await world())[2], 1);
    t.notOk(await ask(page, seesAll));
    await page.getByRole('button', { name: 'Fit' }).click();
    t.ok(await ask(page, seesAll), 'all of it is seen');
    await frame.focus();
    for (let times = 0; times < 60; times += 1) await page.keyboard.press('ArrowLeft');
    t.ok(((await world())[0] ?? 0) <= box.width, 'it is not lost at a side');
    t.strictSame(told, []);
    await page.close();
  });

  await t.test(
    'the whole graph is in view at opening, in each width, and stays so when the width changes',
    async (t) => {
      for (const [name, graph] of Object.entries({ small, huge })) {
        const url = write(`fit-${name}.html`, renderGraphHtml(graph));
        for (const width of [375, 1280]) {
          const { page } = await open(browser, url, { width });
          t.ok(await ask(page, seesAll), `${name} at ${width}`);
          await page.setViewportSize({ width: 1655 - width, height: 812 });
          await page.waitForFunction(seesAll);
          await page.close();
        }
      }
    },
  );

  await t.test('axe finds nothing wrong, and paper shows the drawing without its buttons', async (t) => {
    const { page } = await open(browser, address, { width: 1280 });
    t.strictSame(await violations(page), []);
    await page.emulateMedia({ media: 'print' });
    t.equal(await page.getByRole('button').count(), 0);
    t.equal(await page.locator('#view').isVisible(), true);
    t.ok(
      await ask(page, 'document.querySelector("#n0 pre").checkVisibility({ contentVisibilityAuto: true })'),
      'details are open',
    );
    await page.close();
  });

  await t.test('tapping a node opens its entry, and dragging it does not', async (t) => {
    const { page } = await open(browser, address, { width: 375, hasTouch: true });
    const plan = small.nodes.findIndex(({ kind }) => kind === 'plan');
    await page.locator(`#view a[href="#n${plan}"]`).tap({ position: { x: 8, y: 4 } });
    await page.waitForFunction(`document.querySelector('#n${plan} > details').open`);
    t.equal(new URL(page.url()).hash, `#n${plan}`);
    t.match(await page.locator('#view .here').getAttribute('href'), `#n${plan}`);
    await page.goto(address);
    const box = await page.locator('#view a[href="#n0"]').boundingBox();
    if (!box) throw new Error('the intent is shown');
    await page.mouse.move(box.x + 4, box.y + 4);
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + 60, { steps: 4 });
    await page.mouse.up();
    t.equal(new URL(page.url()).hash, '');
    const click = "new MouseEvent('click', { bubbles: true, cancelable: true })";
    const isFollowed = `document.querySelector('#view a').dispatchEvent(${click})`;
    t.equal(await ask(page, isFollowed), false, 'nor where the browser gives the click to the node');
    await page.locator('#n2 > details > summary').click();
    t.match(await page.locator('#view .here').getAttribute('href'), '#n2');
    await page.close();
  });

  await t.test('without scripts the page is a nested list of all nodes', async (t) => {
    const { page } = await open(browser, address, { width: 375, javaScriptEnabled: false });
    t.equal(await page.locator('.drawing').isVisible(), false);
    t.equal(await page.locator('.tree li').count(), small.nodes.length);
    t.equal(await page.locator('.tree > ul > li > ul > li').count(), 2, 'two plans below one intent');
    const entry = page.locator('#n1');
    await entry.locator('summary').first().click();
    t.equal(await entry.locator('pre').first().isVisible(), true);
    await page.close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`text has enough contrast in the ${colorScheme} colour scheme`, async (t) => {
      const { page } = await open(browser, address, { width: 1280, colorScheme });
      for (const what of ['contrasts()', 'drawnContrasts()']) {
        const all = await ask<readonly { ratio: number }[]>(page, what);
        t.ok(all.length > 20);
        t.strictSame(
          all.filter(({ ratio }) => ratio < 4.5),
          [],
        );
      }
      await page.close();
    });
  }

  await t.test('the content security policy blocks injected scripts and styles', async (t) => {
    const injected =
      '<script>window.pwned=1</script><img src=x onerror="window.pwned=1"><p style="color:red" id="styled">x</p><h1>';
    const url = write('injected.html', renderGraphHtml(small).replace('<h1>', injected));
    const { page } = await open(browser, url, { width: 375 });
    t.equal(await ask(page, 'globalThis.pwned'), undefined);
    t.not(await ask(page, "getComputedStyle(document.getElementById('styled')).color"), 'rgb(255, 0, 0)');
    t.equal(await page.locator('.drawing').isVisible(), true, 'ours runs');
    await page.close();
  });
});

/** Whether every node of the drawing lies inside of its frame. */
const seesAll = `(() => {
  const frame = document.getElementById('frame').getBoundingClientRect();
  return [...document.querySelectorAll('.node')].every((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom;
  });
})()`;

/** Evaluates an expression over the functions of in-page.js in the page. */
function ask<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(`(() => { ${inPage}; return (${expression}); })()`);
}

async function open(
  browser: Browser,
  url: string,
  { width, ...how }: Omit<NonNullable<Parameters<Browser['newPage']>[0]>, 'viewport'> & { width: number },
): Promise<{ page: Page; told: string[]; asked: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 812 }, ...how });
  const told: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => told.push(message.text()));
  page.on('pageerror', (fault) => told.push(fault.message));
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(url);
  return { page, told, asked };
}
