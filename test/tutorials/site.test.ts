/* The documentation site as its readers get it: built without network, and used in a browser. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { long } from '../rooms/long.ts';
import { launchBrowser, openTab, violations, withoutBrowser } from '../session/web/open-browser.ts';

const root = join(import.meta.dirname, '../..');
const vitepress = join(root, 'site/node_modules/.bin/vitepress');
const noSite = existsSync(vitepress) ? false : 'the packages of the site are not installed: `npm run docs`';

/** One page of each kind: home, tutorial with pictures, concept with a diagram, wide tables, long code, a decision. */
const pages = [
  'index',
  'start/code-session',
  'concepts/seal',
  'guides/code-control',
  'reference/commands',
  'reference/plugin-types',
  'decisions/0028-many-checks',
];

long('the documentation site', { skip: withoutBrowser || noSite, timeout: 900_000 }, async (t) => {
  const out = t.testdir({});
  // Without a network at all, where the machine lets a user make such a namespace.
  const alone = spawnSync('unshare', ['-rn', 'true']).status === 0 ? ['unshare', '-rn'] : [];
  const [command = vitepress, ...args] = [...alone, vitepress, 'build', join(root, 'site'), '--outDir', out];
  const built = spawnSync(command, args, { encoding: 'utf8' });
  t.equal(built.status, 0, `${built.stdout}${built.stderr}`);
  const baseUrl = await serve(t, out);
  const browser = await launchBrowser(t);

  await t.test('has a page for each page of docs', async (t) => {
    const found = (folder: string, type: string): readonly string[] =>
      globSync(`**/*.${type}`, { cwd: folder }).map((path) => path.slice(0, -type.length - 1));
    t.strictSame(found(out, 'html').toSorted(), ['404', ...found(join(root, 'docs'), 'md')].toSorted());
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [375, 1280])
      await t.test(`is readable at ${width} px, ${colorScheme}`, async (t) => {
        await using tab = await openTab(browser, baseUrl, { viewport: { width, height: 800 }, colorScheme });
        for (const path of pages) {
          await tab.page.goto(`${baseUrl}/${path}.html`);
          await tab.page.locator('main h1').waitFor();
          t.strictSame(await violations(tab.page), [], path);
          t.ok((await scrollWidth(tab.page)) <= width, `${path} has no horizontal scroll`);
          t.strictSame(await lostPictures(tab.page), [], `${path} shows its pictures`);
        }
        t.strictSame(tab.wrongs, [], 'no error, and no request to elsewhere');
      });

  await t.test('finds a page by its words', async (t) => {
    for (const width of [375, 1280]) {
      await using tab = await openTab(browser, baseUrl, { viewport: { width, height: 800 } });
      const { page } = tab;
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('searchbox').fill('compare-and-swap');
      const hit = page.getByRole('option', { name: /^# Seal$/ });
      await hit.waitFor();
      t.strictSame(await violations(page), [], `the search at ${width} px`);
      await hit.click();
      await page.waitForURL('**/concepts/seal.html*');
      await page.getByRole('heading', { level: 1, name: 'Seal' }).waitFor();
      t.strictSame(tab.wrongs, []);
    }
  });
});

function scrollWidth(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}

/** Pictures of the page that the browser could not show. */
function lostPictures(page: Page): Promise<readonly string[]> {
  return page.evaluate(`Promise.all([...document.images].map((image) =>
    image.decode().then(() => image.naturalWidth > 0 ? [] : [image.src], () => [image.src]))).then((lost) => lost.flat())`);
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Serves a folder on this machine until the test ends. */
async function serve(t: Test, folder: string): Promise<string> {
  const server = createServer(({ url = '/' }, response) => {
    const path = new URL(url, 'http://site').pathname.replace(/\/$/, '/index.html');
    const file = join(folder, path);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    return response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
