import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { drawDemo } from '../../scripts/pictures/demo-picture.ts';
import { textOfSvg } from '../../scripts/pictures/terminal-svg.ts';
import { long } from '../rooms/long.ts';
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
