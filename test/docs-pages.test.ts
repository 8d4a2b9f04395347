/* Pages of the documentation: the paths that sources name, the generated ones, configuration keys and controls. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { commands } from '../bin/command-table.ts';
import { globalOptions } from '../bin/help.ts';
import { configKeys, generateReference } from '../scripts/gen-reference.ts';

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));

t.test('every page that a source or a message names exists', async (t) => {
  const named = tracked
    .filter(
      (path) => !/^(?:docs|fixtures|test|bench|scripts)\//.test(path) && /\.(?:ts|js|yml|yaml)$/.test(path),
    )
    .flatMap((path) =>
      [...read(path).matchAll(/docs\/(?:start|concepts|guides|reference|decisions)\/[a-z0-9-]+\.md/g)].map(
        ([page]) => ({ path, page }),
      ),
    );
  t.ok(named.length > 30);
  t.strictSame(
    named.filter(({ page }) => !existsSync(join(root, page))),
    [],
  );
});

t.test('the generated reference pages are up to date', async (t) => {
  for (const [name, text] of generateReference())
    t.ok(read(`docs/reference/${name}`) === text, `${name} is up to date (else: npm run gen)`);
});

t.test('the page of the configuration names every key', async (t) => {
  const page = read('docs/reference/config.md');
  const keys = new Set(configKeys().flatMap(([path]) => path.split('.').map((key) => key.replace('[]', ''))));
  for (const key of keys) if (/^[a-z_]+$/.test(key)) t.match(page, new RegExp(`\\b${key}\\b`), key);
});

t.test('each row of the control mapping names a test file that exists', async (t) => {
  const rows = read('docs/reference/controls.md')
    .split('\n')
    .filter((line) => /^\| (?!(?:practice|level|requirement|criterion) )/.test(line));
  t.ok(rows.length >= 30);
  for (const row of rows) {
    const [, file = ''] = /\| `(test\/[\w./-]+\.test\.ts)` \|$/.exec(row) ?? [];
    t.ok(file !== '' && existsSync(join(root, file)), row);
  }
});

t.test('each command and option on a page exists', async (t) => {
  const names = commands.map(({ name }) => name).sort((one, other) => other.length - one.length);
  const shared = new Set(globalOptions.map(({ name }) => name));
  let seen = 0;
  for (const page of tracked.filter((path) => /^docs\/(?:concepts|guides|reference)\/.*\.md$/.test(path)))
    for (const [, line = ''] of read(page).matchAll(/\bwrit ((?:[a-z]|--json)[^\n`|;#&]* --[^\n`|;#&]*)/g)) {
      const bare = line.replace(/^--json /, '');
      const command = commands.find(({ name }) => name === names.find((one) => bare.startsWith(`${one} `)));
      t.ok(command, `${page}: writ ${bare}`);
      for (const [, option = ''] of bare.matchAll(/ --([a-z][a-z-]*)/g)) {
        seen += 1;
        const isKnown = shared.has(option) || command?.options.some(({ name }) => name === option);
        t.ok(isKnown, `${page}: writ ${command?.name} --${option}`);
      }
    }
  t.ok(seen > 100, `${seen} options`);
});
