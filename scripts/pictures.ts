/* Pictures of both screens of a session in every state that people meet: `node scripts/pictures.ts [DIR] [WORD…]`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { type SceneName, scenes } from '../test/session/scenes/scenes.ts';
import { showInTerminal } from '../test/session/scenes/show-in-terminal.ts';
import { playScene, showScene } from '../test/session/scenes/show-scene.ts';
import { browserPath, openTab, withoutBrowser } from '../test/session/web/open-browser.ts';
import type { SessionOwner } from '../test/session/web/serve-page.ts';
import { type Ground, terminalHtml, terminalStyle } from './pictures/terminal-html.ts';

const sizes = [
  { columns: 40, rows: 10 },
  { columns: 40, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 160, rows: 40 },
] as const;
const terminalLooks = [
  ['dark', 'colour'],
  ['light', 'colour'],
  ['bare', 'mono'],
] as const;
const pageWidths = [375, 1280] as const;
const grounds: readonly Ground[] = ['light', 'dark'];
/** Which pane of the page shows the state. */
const panes: Partial<Record<SceneName, readonly string[]>> = {
  review: ['Diff'],
  done: ['Workflow', 'Diff', 'Terminal', 'Summary', 'Threads', 'Graph'],
  repair: ['Workflow', 'Terminal'],
  empty: ['Workflow', 'Diff'],
};

if (withoutBrowser !== false) {
  process.stderr.write(`no pictures: ${withoutBrowser}\n`);
  process.exit(1);
}
const [to = mkdtempSync(join(tmpdir(), 'writ-pictures-')), ...words] = process.argv.slice(2);
mkdirSync(to, { recursive: true });
const isWanted = (name: string): boolean => words.every((word) => name.includes(word));
let count = 0;

const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
try {
  for (const scene of Object.keys(scenes) as SceneName[]) {
    await owned((owner) => drawTerminal(owner, scene, browser));
    await owned((owner) => drawPage(owner, scene, browser));
  }
} finally {
  await browser.close();
}
process.stdout.write(`${count} pictures in ${to}\n`);

/** Every size and look of the terminal; at 80 columns also with what has scrolled away. */
async function drawTerminal(owner: SessionOwner, scene: SceneName, browser: Browser): Promise<void> {
  const page = await browser.newPage();
  for (const size of sizes)
    for (const [look, theme] of terminalLooks) {
      const name = `terminal-${scene}-${size.columns}x${size.rows}-${look}`;
      const wanted = [name, ...(look === 'dark' ? [`${name}-all`] : [])].filter(isWanted);
      if (wanted.length === 0) continue;
      const emulator = await showInTerminal(await playScene(owner, scene), { size, theme, scene });
      for (const one of wanted) {
        const html = terminalHtml(emulator, look === 'light' ? 'light' : 'dark', one.endsWith('-all'));
        await page.setContent(`<style>body{margin:0}${terminalStyle}</style>${html}`);
        await page.locator('.terminal').screenshot({ path: join(to, `${one}.png`) });
        count += 1;
      }
    }
  await page.close();
}

/** Every width and ground of the page. */
async function drawPage(owner: SessionOwner, scene: SceneName, browser: Browser): Promise<void> {
  for (const width of pageWidths)
    for (const colorScheme of grounds)
      for (const pane of panes[scene] ?? ['Workflow']) {
        const name = `page-${scene}-${pane.toLowerCase()}-${width}-${colorScheme}`;
        const isTalk = width < 900 && pane === 'Workflow';
        const names = [name, ...(isTalk ? [`${name}-talk`] : [])].filter(isWanted);
        for (const one of names) {
          const { baseUrl } = await showScene(owner, scene);
          await using tab = await openTab(browser, baseUrl, {
            viewport: { width, height: width < 900 ? 812 : 800 },
            colorScheme,
          });
          await tab.page.locator('.bar .state').waitFor();
          const take = tab.page.getByRole('button', { name: 'Take control' }).first();
          if (await take.isVisible()) await take.click();
          if (!one.endsWith('-talk')) await tab.page.getByRole('tab', { name: pane }).click();
          await tab.page.waitForTimeout(150);
          await tab.page.screenshot({ path: join(to, `${one}.png`) });
          count += 1;
        }
      }
}

/** What is opened on the way is ended. */
async function owned(use: (owner: SessionOwner) => Promise<void>): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    await use({
      teardown: (end: () => unknown) => void ends.push(end),
      fail: (what) => process.stderr.write(`${what}\n`),
      testdir: () => {
        const place = mkdtempSync(join(tmpdir(), 'writ-scene-'));
        ends.push(() => rmSync(place, { recursive: true, force: true }));
        return place;
      },
    });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
