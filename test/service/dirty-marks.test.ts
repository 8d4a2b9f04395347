import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { type DirtyMarks, openDirtyMarks } from '../../service/dirty-marks.ts';
import { openSql } from '../../store/sql.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { long } from '../rooms/long.ts';
import { killWriters } from './dirty-marks/kill-writers.ts';

function openBox(t: Test): string {
  const box = mkdtempSync(join(tmpdir(), 'writ-marks-'));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  return box;
}

async function openIn(t: Test, box: string, clock: Clock = systemClock): Promise<DirtyMarks> {
  const marks = await openDirtyMarks(join(box, 'service.db'), clock);
  t.teardown(() => marks.close());
  return marks;
}

const everything = { limit: 1000 };

t.test('marks a path once with the time of its last mark', async (t) => {
  let now = 1_700_000_000_001;
  const marks = await openIn(t, openBox(t), { ...systemClock, now: () => now });
  marks.mark(['b', 'a', 'b']);
  t.strictSame(marks.list(everything), [
    { path: 'a', markedAt: now },
    { path: 'b', markedAt: now },
  ]);
  now += 5;
  marks.mark(['b', 'c']);
  t.strictSame(marks.list(everything), [
    { path: 'a', markedAt: now - 5 },
    { path: 'b', markedAt: now },
    { path: 'c', markedAt: now },
  ]);
  t.equal(marks.count(), 3);
  marks.mark([]);
  t.equal(marks.count(), 3);
});

t.test('pages marks in byte order without folding case or Unicode forms', async (t) => {
  const marks = await openIn(t, openBox(t));
  const paths = ['B', 'a', 'a-b', 'a/b', 'e\u0301', '\u00e9', '\uffee', '\u{1f600}'];
  marks.mark(paths.toReversed());
  const seen: string[] = [];
  for (let after: string | undefined; ; after = seen.at(-1)) {
    const page = marks.list(after === undefined ? { limit: 3 } : { after, limit: 3 });
    seen.push(...page.map(({ path }) => path));
    if (page.length < 3) break;
  }
  t.strictSame(seen, paths);
  t.strictSame(
    marks.list({ after: 'a/', limit: 1 }).map(({ path }) => path),
    ['a/b'],
    'no mark itself',
  );
  for (const limit of [0, -1, 1.5, Number.NaN]) t.throws(() => marks.list({ limit }), RangeError);
});

t.test('a batch with one invalid path stores nothing', async (t) => {
  const marks = await openIn(t, openBox(t));
  for (const bad of ['', 'nul\0byte', 'half \ud800']) {
    t.throws(() => marks.mark(['good', bad, 'better']));
    t.equal(marks.count(), 0, JSON.stringify(bad));
    marks.mark(['next']);
    t.equal(marks.clear().length, 1, 'the next batch is taken');
  }
});

t.test('clearing returns what it removed, and reopening does not find it', async (t) => {
  const box = openBox(t);
  const marks = await openIn(t, box, { ...systemClock, now: () => 7 });
  t.strictSame(marks.clear(), []);
  marks.mark(['b', 'a']);
  const listed = marks.list(everything);
  marks.mark(['c']);
  t.strictSame(
    marks.clear().map(({ path, markedAt }) => [path, markedAt]),
    [
      ['a', 7],
      ['b', 7],
      ['c', 7],
    ],
    `made after ${listed.length} were listed, and told`,
  );
  t.equal(marks.count(), 0);
  marks.mark(['g', 'f', 'e']);
  t.strictSame(
    marks.clear(2).map(({ path }) => path),
    ['e', 'f'],
    'in parts, each told',
  );
  t.strictSame(
    marks.list(everything).map(({ path }) => path),
    ['g'],
  );
  for (const limit of [0, -1]) t.throws(() => marks.clear(limit), RangeError);
  marks.clear();
  marks.mark(['d']);
  marks.close();
  marks.close();
  const again = await openIn(t, box);
  t.strictSame(again.list(everything), [{ path: 'd', markedAt: 7 }]);
});

t.test('marks are in the write-ahead log before `mark` returns', async (t) => {
  const box = openBox(t);
  const marks = await openIn(t, box);
  const before = statSync(join(box, 'service.db-wal')).size;
  marks.mark(['a']);
  t.ok(statSync(join(box, 'service.db-wal')).size > before);
  t.ok(existsSync(join(box, 'service.db.lock')), 'the database is ours between statements');
});

t.test('repeated marking and clearing does not grow the file or its log', async (t) => {
  const box = openBox(t);
  const marks = await openIn(t, box);
  const size = (end: string) => statSync(join(box, `service.db${end}`)).size;
  const paths = (round: number) =>
    Array.from({ length: 1000 }, (_, row) => `packages/p-${row % 13}/src/file-${round}-${row}.ts`);
  let largest = 0;
  for (let round = 0; round < 24; round += 1) {
    for (let batch = 0; batch < 3; batch += 1) marks.mark(paths(round * 3 + batch));
    t.equal(marks.list({ limit: 5 }).length, 5);
    if (round % 2 === 1) marks.clear();
    largest = Math.max(largest, size('-wal'));
  }
  t.ok(largest < 6 * 1024 * 1024, `the log had ${largest} bytes at most`);
  marks.close();
  t.ok(size('') < 2 * 1024 * 1024, `the file has ${size('')} bytes`);
});

t.test('refuses and closes a database of another kind', async (t) => {
  const path = join(openBox(t), 'service.db');
  const other = await openSql(path, ['CREATE TABLE other (x)']);
  other.close();
  await t.rejects(openDirtyMarks(path, systemClock), { code: 'STATE_CORRUPT' });
  t.notOk(existsSync(`${path}.lock`));
  t.notOk(existsSync(`${path}-wal`));
});

long('acknowledged marks survive a killed writer, and the next writer starts', async (t) => {
  const report = await killWriters(openBox(t), 10, toldSeed(t));
  t.strictSame(report.complaints, []);
  t.ok(report.acknowledged > 10, JSON.stringify(report));
  t.comment(JSON.stringify(report));
});
