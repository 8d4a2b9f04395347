import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { drawDemo } from '../../scripts/pictures/demo-picture.ts';
import { textOfSvg } from '../../scripts/pictures/terminal-svg.ts';
import { long } from '../rooms/long.ts';
import { blocksOf, runBlocks } from './run-page.ts';
import { withoutVolatile } from './same-output.ts';

t.setTimeout(240_000);

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

t.test('README has at most 130 lines', async (t) => {
  t.ok(readme.split('\n').length <= 131);
});

t.test('a newcomer installs, tries and tests the project with scripts that package.json has', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const command of ['npm ci && npm run demo', 'npm ci && npm test'])
    t.ok(readme.includes(command), command);
  for (const [, name = ''] of readme.matchAll(/npm run ([\w:]+)/g)) t.ok(scripts[name], name);
});

const picture = /<img src="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/.exec(readme);
const shown = picture?.[1] ?? picture?.[2] ?? '';

t.test('the picture is in the repository', async (t) => {
  t.ok(existsSync(join(root, shown)), shown);
});

long('the picture shows what `writ demo` prints now; `node scripts/docs-pictures.ts` draws it', async (t) => {
  const rows = (svg: string): readonly string[] =>
    textOfSvg(svg).map((row) => withoutVolatile(row).replaceAll(' ', ''));
  t.strictSame(rows(readFileSync(join(root, shown), 'utf8')), rows(await drawDemo()));
});

long('the five commands lead to a verified change in a project with tests', async (t) => {
  const [block, ...more] = blocksOf('README.md').filter(({ commands }) => commands.includes('writ seal'));
  t.strictSame(more, []);
  const lines = block?.commands.trim().split('\n') ?? [];
  t.equal(lines.length, 5);
  const project = `git init -q
    echo '{ "scripts": { "test": "node --test" } }' > package.json
    echo 'require("node:test")("one", () => {})' > one.test.js
    git add -A && git commit -qm project && echo 'exports.price = 1' > price.js`;
  const verified = {
    commands: `${block?.commands}`,
    shown: '…\nCommitted  feat: exact prices\n…\nverified  HEAD  …\n…',
  };
  t.strictSame(await runBlocks([{ commands: project, shown: undefined }, verified]), []);
});
