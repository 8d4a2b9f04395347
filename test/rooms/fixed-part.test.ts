import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseTests } from '../../scripts/tests/choose-tests.ts';
import { readTestTree } from '../../scripts/tests/read-test-tree.ts';
import { fixedPart } from './fixed-part.ts';
import { partVariable } from './part-variable.ts';

const root = join(import.meta.dirname, '../..');
const table = { one: 1, two: 2, three: 3 };

t.test('a table is whole unless the part is asked for, which keeps what is named', async (t) => {
  t.strictSame(fixedPart(table, ['two'], true), Object.entries(table));
  t.strictSame(fixedPart(table, ['three', 'one'], false), [
    ['one', 1],
    ['three', 3],
  ]);
  for (const kept of [[], ['four'], ['toString']])
    for (const isWhole of [true, false]) t.throws(() => fixedPart(table, kept, isWhole), /no case/);
});

t.test('a long test runs by itself, and is noted where it is left', async (t) => {
  const modules = ['long-test', 'fixed-part'].map((name) => new URL(`${name}.ts`, import.meta.url).href);
  const lines = [
    `const { longTest } = await import('${modules[0]}'), { fixedPart } = await import('${modules[1]}');`,
    "await longTest('slow', async (t) => { t.ok(true); });",
    "(await import('tap')).default.test('kept', async (t) => { t.equal(fixedPart({ a: 1, b: 2 }, ['a']).length, 1); });",
  ];
  const outcome = (env: NodeJS.ProcessEnv): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', lines.join('\n')], {
      cwd: root,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    }).stdout;
  const part = outcome({ [partVariable]: '1' });
  t.notMatch(part, /^ok .* slow/m);
  t.match(part, /^ok .* kept/m);
  t.match(part, /^ *# note: left to `npm run test:long`: slow$/m);
  t.match(part, /^ *# note: left to `npm run test:long`: 1 of 2 cases, `b` …$/m);
  const whole = outcome({ [partVariable]: undefined });
  t.match(whole, /^ok .* slow/m);
  t.match(whole, /^not ok .* kept/m);
  t.notMatch(whole, /note: left/);
});

t.test('the long script runs every file of which something is left', async (t) => {
  const tree = readTestTree(root);
  const all = [...tree.rooms.values()].flat();
  const long = chooseTests(
    { words: [], standingOn: ['test/rooms/fixed-part.ts', 'test/rooms/long-test.ts'] },
    tree,
  ).rooms.flatMap(({ files }) => files);
  const say = /rooms\/(?:fixed-part|long-test)\.ts'/;
  const leaving = all.filter((file) => say.test(readFileSync(join(root, file), 'utf8')));
  t.ok(leaving.length > 2, `${leaving.length} files`);
  t.strictSame(
    leaving.filter((file) => !long.includes(file)),
    [],
  );
});
