import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseTests } from '../../scripts/tests/choose-tests.ts';
import { leavers } from '../../scripts/tests/leavers.ts';
import { readTestTree } from '../../scripts/tests/read-test-tree.ts';
import { fixedCount } from './fixed-count.ts';
import { fixedPart } from './fixed-part.ts';
import { fixedThird } from './fixed-third.ts';
import { partVariable } from './part-variable.ts';

const root = join(import.meta.dirname, '../..');
const unsaid = (): void => {};
const table = { one: 1, two: 2, three: 3 };

t.test('a table is whole unless the part is asked for, which keeps what is named', async (t) => {
  t.strictSame(fixedPart(table, ['two'], true, unsaid), Object.entries(table));
  t.strictSame(fixedPart(table, ['three', 'one'], false, unsaid), [
    ['one', 1],
    ['three', 3],
  ]);
  for (const kept of [[], ['four'], ['toString']])
    for (const isWhole of [true, false]) t.throws(() => fixedPart(table, kept, isWhole, unsaid), /no case/);
});

t.test('a third that nobody chose is the same in any order, and gives way by one', async (t) => {
  const names = Array.from({ length: 60 }, (_, index) => `case ${index}`);
  t.strictSame(fixedThird(names, true, unsaid), names);
  const third = fixedThird(names, false, unsaid);
  t.equal(third.length, 20);
  t.strictSame([...fixedThird(names.toReversed(), false, unsaid)].sort(), [...third].sort());
  const more = fixedThird([...names, 'one more'], false, unsaid);
  t.ok(third.filter((name) => !more.includes(name)).length <= 1);
  t.equal(fixedThird(['alone'], false, unsaid).length, 1);
});

t.test('of what is drawn all are tried, or so many as are kept', async (t) => {
  t.equal(fixedCount('rounds', 6, 4, true, unsaid), 6);
  const said: string[] = [];
  t.equal(
    fixedCount('rounds', 6, 4, false, (what) => void said.push(what)),
    4,
  );
  t.equal(
    fixedCount('rounds', 6, 6, false, (what) => void said.push(what)),
    6,
  );
  t.strictSame(said, ['2 of 6 rounds']);
  for (const kept of [0, 7])
    t.throws(() => fixedCount('rounds', 6, kept, true, unsaid), /expected 1 to 6 rounds/);
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
  t.match(part, /^# note: left to `npm run test:long`: slow; 1 of 2 cases like `b`$/m);
  const whole = outcome({ [partVariable]: undefined });
  t.match(whole, /^ok .* slow/m);
  t.match(whole, /^not ok .* kept/m);
  t.notMatch(whole, /note: left/);
});

t.test('the long script runs every file of which something is left', async (t) => {
  const tree = readTestTree(root);
  const all = [...tree.rooms.values()].flat();
  const long = chooseTests({ words: [], standingOn: leavers }, tree).rooms.flatMap(({ files }) => files);
  const say = /rooms\/(?:fixed-count|fixed-part|fixed-third|long-test)\.ts'/;
  const leaving = all.filter((file) => say.test(readFileSync(join(root, file), 'utf8')));
  t.ok(leaving.length > 2, `${leaving.length} files`);
  t.strictSame(
    leaving.filter((file) => !long.includes(file)),
    [],
  );
});
