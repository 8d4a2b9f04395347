import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Test } from 'tap';

export const browserPath = '/usr/bin/chromium';

/** Why there is no browser; `false` where there is one. */
export const withoutBrowser = existsSync(browserPath) ? false : `no browser at ${browserPath}`;

let opened: Promise<Browser> | undefined;

/** The browser of this process, started once and ended with its tests. Each tab has a context of its own. */
export function openBrowser(): Promise<Browser> {
  opened ??= import('tap').then(({ default: t }) => launchBrowser(t));
  return opened;
}

/** A browser that ends with `t`. */
export async function launchBrowser(t: Pick<Test, 'teardown'>): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return browser;
}

/** A tab on the page of a session, and what went wrong in it. */
export interface Tab extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Refusals of its policy, errors of its scripts, and requests to elsewhere: there are to be none. */
  readonly wrongs: readonly string[];
}

/** `script`: what the page runs in place of the script that is shipped. */
export async function openTab(
  browser: Browser,
  baseUrl: string,
  { script, ...options }: BrowserContextOptions & { readonly script?: string } = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  if (script !== undefined)
    await context.route('**/assets/*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: script }),
    );
  const wrongs: string[] = [];
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (fault) => wrongs.push(`error: ${fault.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // A session that is away answers nothing: that is the test's own doing.
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(text)) wrongs.push(text);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !url.startsWith('data:')) wrongs.push(`asks ${url}`);
  });
  await page.goto(`${baseUrl}/`);
  return { page, context, wrongs, [Symbol.asyncDispose]: () => context.close() };
}

/** What axe reports about the page as it is. */
export async function violations(page: Page): Promise<readonly string[]> {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const { violations: found } = (await page.evaluate(
    `(async () => { ${axe}; return axe.run(); })()`,
  )) as AxeResults;
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ target, html }) => `${target.join(' ')} ${html.slice(0, 120)}`).join(' | ')}`,
  );
}
