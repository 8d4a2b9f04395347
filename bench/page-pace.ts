/*
 * `npm run bench:page`: the page of a session in Chromium. First paint, one change applied to 1,000 tool calls, a whole
 * snapshot applied, and frames while 10,000 entries are scrolled. Exit 1 where one misses its limit.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Report } from '../session/state/command.ts';
import { launchBrowser, openTab, withoutBrowser } from '../test/session/web/open-browser.ts';
import { servePage, toldSession } from '../test/session/web/serve-page.ts';
import { figure, median, printTable } from './measure.ts';
import { sized } from './sized.ts';

const at = '2026-11-23T09:00:00.000Z';

/** The snapshot of a long session, as the page receives it. */
function longSnapshot(entries: number, calls: number, shown: object) {
  const transcript = Array.from({ length: entries }, (_, n) => ({
    id: `e${n}`,
    kind: n % 5 === 0 ? 'user_message' : n % 3 === 0 ? 'tool_call' : 'assistant_message',
    content: n % 5 === 0 ? `Question ${n}` : `Reply **${n}**: price() adds a cent.\n\n- once\n- twice`,
    streaming: false,
    metadata: {},
    createdAt: at,
    updatedAt: at,
  }));
  const toolCalls = Array.from({ length: calls }, (_, n) => ({
    id: `c${n}`,
    toolName: 'workspace.fs',
    status: 'completed',
    summary: `read src/${n}.js (done, 3 ms)`,
    updatedAt: at,
  }));
  return { ...shown, transcript, toolCalls };
}

/** Frames of a scroll through everything: the time between two of them, in milliseconds. */
const scroll = `new Promise((resolve) => {
  const list = document.querySelector('.entries');
  const frames = [];
  let last = performance.now();
  list.scrollTop = 0;
  const step = list.scrollHeight / 120;
  const next = (now) => {
    frames.push(now - last);
    last = now;
    list.scrollTop += step;
    if (frames.length < 120) requestAnimationFrame(next);
    else resolve(frames.slice(2));
  };
  requestAnimationFrame(next);
})`;

/** Serves the page with a stream that begins with this snapshot instead of its own. */
async function withSnapshot(page: Page, snapshot: object): Promise<void> {
  const event = { cursor: 1, eventId: 'x.1', kind: 'resync', at, payload: { reason: 'opened', snapshot } };
  await page.route(/\/api\/code\/events/, (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `retry: 600000\nevent: resync\nid: 1\ndata: ${JSON.stringify(event)}\n\n`,
    }),
  );
}

/** In place of the stream: a test tells the page a snapshot, and is answered how long the page worked on it. */
const shownByBench = `(() => {
  let source;
  const frames = [];
  window.EventSource = class extends EventTarget {
    constructor() { super(); source = this; }
    close() {}
  };
  window.requestAnimationFrame = (draw) => frames.push(draw);
  window.show = (snapshot) => {
    const started = performance.now();
    const payload = '{"reason":"opened","snapshot":' + snapshot + '}';
    const data = '{"kind":"resync","at":"${at}","payload":' + payload + '}';
    source.dispatchEvent(new MessageEvent('resync', { data }));
    while (frames.length > 0) frames.shift()(performance.now());
    return performance.now() - started;
  };
  setInterval(() => { while (frames.length > 0) frames.shift()(performance.now()); }, 5);
})()`;

if (withoutBrowser) {
  process.stdout.write(`skipped: ${withoutBrowser}\n`);
  process.exit(0);
}

const closers: (() => unknown)[] = [];
const owner = {
  teardown: (close: () => unknown) => void closers.push(close),
  fail: (what: string): never => {
    throw new Error(what);
  },
  testdir: () => mkdtempSync(join(tmpdir(), 'writ-page-')),
};
const rounds = sized(30, 2);
const browser = await launchBrowser(owner);
const session = toldSession(owner, { local: 'none' });
const { baseUrl } = await servePage(owner, session);
const shown = await (await fetch(`${baseUrl}/api/code/session`)).json();
const held = [await firstPaint(), await oneChange(), await wholeSnapshot(), await scrolling()];
printTable();
for (const close of closers.toReversed()) await close();
process.exit(held.every(Boolean) ? 0 : 1);

async function firstPaint(): Promise<boolean> {
  const times: number[] = [];
  for (let round = 0; round < sized(5, 1); round += 1) {
    await using tab = await openTab(browser, baseUrl);
    await tab.page.locator('#composer').waitFor();
    const painted = await tab.page.evaluate(
      "performance.getEntriesByName('first-contentful-paint')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart",
    );
    times.push(Number(painted));
  }
  return figure('first paint after the answer', median(times), 300, 'ms', `${times.length} rounds`);
}

/** Milliseconds of the frames that draw one more tool call beside 1,000. */
async function oneChange(): Promise<boolean> {
  const call = (id: string, summary: string): Omit<Extract<Report, { type: 'tool' }>, 'turn'> => ({
    type: 'tool',
    id,
    toolName: 'workspace.fs',
    status: 'completed',
    summary,
  });
  await session.say('Go.');
  await session.report(...Array.from({ length: 1000 }, (_, n) => call(`c${n}`, `read src/${n}.js`)));
  await using tab = await openTab(browser, baseUrl);
  const { page } = tab;
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.locator('.call').first().waitFor();
  await page.evaluate(`(() => {
    window.spent = [];
    const own = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => own((now) => {
      const started = performance.now();
      draw(now);
      window.spent.push(performance.now() - started);
    });
  })()`);
  for (let n = 0; n < rounds; n += 1) {
    await session.report(call(`n${n}`, `read n${n}`));
    await page.getByText(`read n${n}`, { exact: true }).first().waitFor();
  }
  const spent = (await page.evaluate('window.spent')) as readonly number[];
  return figure('one change beside 1,000 tool calls', median(spent), 10, 'ms', `${spent.length} frames`);
}

async function wholeSnapshot(): Promise<boolean> {
  await using tab = await openTab(browser, baseUrl);
  const { page } = tab;
  await page.addInitScript(shownByBench);
  await page.reload();
  await page.getByRole('status').first().waitFor({ state: 'attached' });
  const snapshots = Array.from({ length: rounds + 1 }, (_, round) => {
    const snapshot = longSnapshot(500, 1000, shown);
    const [changed] = snapshot.toolCalls;
    if (changed !== undefined) changed.summary = `read round-${round}`;
    return snapshot;
  });
  const show = (one: object) => page.evaluate(`window.show(${JSON.stringify(JSON.stringify(one))})`);
  await show(snapshots[0] ?? {});
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.getByRole('button', { name: 'Show 800 more' }).click();
  await page.locator('.call').nth(999).waitFor({ state: 'attached' });
  const times: number[] = [];
  for (const [round, one] of snapshots.slice(1).entries()) {
    times.push(Number(await show(one)));
    await page.getByText(`read round-${round + 1}`, { exact: true }).waitFor({ state: 'attached' });
  }
  return figure('a whole snapshot of 1,000 tool calls', Math.min(...times), 10, 'ms', `least of ${rounds}`);
}

async function scrolling(): Promise<boolean> {
  await using tab = await openTab(browser, baseUrl);
  const { page } = tab;
  await withSnapshot(page, longSnapshot(sized(10_000, 500), 200, shown));
  await page.reload();
  await page.locator('.entry').first().waitFor({ state: 'attached' });
  const frames = (await page.evaluate(scroll)) as readonly number[];
  return figure('a frame while 10,000 entries are scrolled', median(frames), 34, 'ms', '120 frames');
}
