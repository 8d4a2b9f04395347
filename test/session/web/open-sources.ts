import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import type { Test } from 'tap';
import { buildWeb } from '../../../scripts/gen-web.ts';
import { openBrowser, openTab, type Tab } from './open-browser.ts';
import { type ServedPage, servePage, type ToldSession } from './serve-page.ts';

const sources = join(import.meta.dirname, '../../..');
let script: Promise<string> | undefined;

/** The script of the page, made of its sources as they are: once per process. */
export function madeScript(): Promise<string> {
  script ??= buildWeb(sources).then(
    ({ assets }) => assets.find(({ name }) => name.endsWith('.js'))?.text ?? '',
  );
  return script;
}

/** The page of a session, made of its sources as they are: a change in one is a change of the page. */
export async function openSources(
  of: Test,
  session: ToldSession,
  options: BrowserContextOptions = {},
  about: Parameters<typeof servePage>[2] = {},
): Promise<Tab & { readonly served: ServedPage }> {
  const served = await servePage(of, session, about);
  const tab = await openTab(await openBrowser(), served.baseUrl, { script: await madeScript(), ...options });
  await tab.page.locator('.bar .state').waitFor();
  return { ...tab, served };
}
