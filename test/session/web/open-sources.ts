import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import t, { type Test } from 'tap';
import { buildWeb } from '../../../scripts/gen-web.ts';
import { openBrowser, openTab, type Tab } from './open-browser.ts';
import { type ServedPage, servePage, type ToldSession } from './serve-page.ts';

const sources = join(import.meta.dirname, '../../..');
let browser: Promise<Browser> | undefined;
let script: Promise<string | undefined> | undefined;

/** The page of a session, made of its sources as they are: a change in one is a change of the page. */
export async function openSources(
  of: Test,
  session: ToldSession,
  options: BrowserContextOptions = {},
): Promise<Tab & { readonly served: ServedPage }> {
  browser ??= openBrowser(t);
  script ??= buildWeb(sources).then(({ assets }) => assets.find(({ name }) => name.endsWith('.js'))?.text);
  const served = await servePage(of, session);
  const tab = await openTab(await browser, served.baseUrl, { script: (await script) ?? '', ...options });
  await tab.page.locator('.bar .state').waitFor();
  return { ...tab, served };
}
