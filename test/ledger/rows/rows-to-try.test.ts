import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fixedTenth, touchedRows } from '../../../scripts/removal/rows-to-try.ts';
import { recentFiles } from '../../../scripts/tests/changed-files.ts';
import { outputOf } from '../../starter/run-program.ts';

const rows = Array.from({ length: 95 }, (_, index) => ({
  name: `row.${index}`,
  file: index < 30 ? 'engine/reader.ts' : 'engine/other.ts',
  test: index === 40 ? 'fixtures/runs/a-case' : 'test/one.test.ts',
}));

t.test(
  'the fixed tenth is the same rows in any order of the list, and a new row takes one place',
  async (t) => {
    const tenth = fixedTenth(rows);
    t.equal(tenth.length, 9);
    t.strictSame(fixedTenth(rows.toReversed()), tenth);
    const more = fixedTenth([...rows, { name: 'row.new', file: 'x.ts', test: 'y' }]);
    t.ok(tenth.filter((row) => !more.includes(row)).length <= 1);
  },
);

t.test('touched are rows whose reader changed, then those whose test did, in an order by seed', async (t) => {
  const names = (files: readonly string[], seed = ''): readonly string[] =>
    touchedRows(rows, files, seed).map(({ name }) => name);
  t.strictSame(names([]), []);
  t.strictSame(names(['fixtures/runs/a-case/change.diff']), ['row.40']);
  t.strictSame(names(['fixtures/runs/a-case-and-more/change.diff']), []);
  const both = names(['fixtures/runs/a-case/change.diff', 'engine/reader.ts']);
  t.equal(both.length, 31);
  t.equal(both.at(-1), 'row.40');
  t.notSame(names(['engine/reader.ts'], 'a'), names(['engine/reader.ts'], 'b'));
});

t.test(
  'the last commits are read on main, where a branch left it off it, and nowhere without history',
  async (t) => {
    const dir = t.testdir({ inner: {} });
    const git = (...args: readonly string[]): void => {
      const own = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
      outputOf('git', [...own, ...args], { cwd: dir });
    };
    t.equal(recentFiles('/', 1), undefined, 'no repository');
    git('init', '-q', '-b', 'main');
    for (const name of ['a', 'b', 'c']) {
      writeFileSync(join(dir, name), name);
      git('add', name);
      git('commit', '-qm', name);
    }
    t.strictSame(recentFiles(dir, 2)?.files, ['b', 'c']);
    t.equal(recentFiles(dir, 3), undefined, 'fewer commits');
    t.equal(recentFiles(join(dir, 'inner'), 2), undefined, 'the repository of somebody else around it');
    git('switch', '-qc', 'work');
    writeFileSync(join(dir, 'd'), 'd');
    git('add', 'd');
    git('commit', '-qm', 'd');
    writeFileSync(join(dir, 'e'), 'e');
    t.strictSame(recentFiles(dir, 3)?.files, ['d', 'e']);
  },
);
