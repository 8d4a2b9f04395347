import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { openKilledRun } from '../tui/killed-run.ts';
import { openCodeScene } from '../tui/open-code-scene.ts';
import { noPty, type TerminalScene } from '../tui/open-terminal-scene.ts';
import { openBrowser, openTab, withoutBrowser } from './open-browser.ts';

/** The address of the page, once the terminal shows it. */
async function addressIn(scene: TerminalScene): Promise<string> {
  const found = () => /http:\/\/127\.0\.0\.1:\d+/.exec(scene.lines().join(''))?.[0];
  await until(found, 'the address of the page');
  return found() ?? '';
}

long('a page and a terminal control one session in turn', { skip: noPty || withoutBrowser }, async (t) => {
  await using code = await openCodeScene([], '--browser-control', 'loopback');
  await using scene = code.start();
  await scene.until('you steer');
  await using tab = await openTab(await openBrowser(), await addressIn(scene));
  const { page } = tab;
  await page.getByText('The terminal has control').first().waitFor();
  await page.getByRole('button', { name: 'Take control' }).click();
  await page.locator('.control-mine').waitFor();
  await scene.until(/browser .*steers/);
  await page.locator('#composer').fill('!echo said on the page');
  await page.keyboard.press('Enter');
  await scene.until(/ {2}said on the page\n/);
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.locator('.call .printed').getByText('said on the page').waitFor();
  await scene.until(/ready/);
  scene.type('/control reclaim');
  scene.press('enter');
  await scene.until('you steer');
  await page.getByText('The terminal has control').first().waitFor();
  scene.type('!echo said in the terminal');
  scene.press('enter');
  await page.locator('.call .printed').getByText('said in the terminal').waitFor();
  t.strictSame(tab.wrongs, []);
});

long(
  'an interrupted run goes on from the page up to its commit',
  { skip: noPty || withoutBrowser },
  async (t) => {
    await using killed = await openKilledRun({ words: 'pack-objects', starts: 2 });
    await using scene = killed.start('--continue', '--browser-control', 'loopback');
    await scene.until('Go on with the run, or drop it?');
    await using tab = await openTab(await openBrowser(), await addressIn(scene));
    const { page } = tab;
    await page.getByRole('button', { name: 'Take control' }).first().click();
    await page.locator('section.card:not(.fresh)').waitFor();
    await page.locator('section.card').getByRole('radio', { name: 'Go on' }).check();
    await page.locator('section.card').getByRole('button', { name: 'Answer' }).click();
    await page.locator('.state-completed').waitFor();
    t.equal(killed.commits(), 1);
    t.strictSame(killed.outcomes(), ['commit']);
    t.strictSame(tab.wrongs, []);
  },
);
