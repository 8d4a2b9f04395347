import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { Journal } from '../../store/journal.ts';
import { type JournalReach, processWitness } from '../../store/journal-witness.ts';
import { isJournalBegun, readJournal } from '../../store/parse-journal.ts';
import { journalPath, listRunDirectories } from '../../store/run-directory.ts';
import { mountTiny } from './tiny-mount.ts';

const options = { clock: systemClock };

t.test('records are read in order, numbered and chained, across reopenings', async (t) => {
  const path = join(t.testdir(), 'writ/runs/r/journal.jsonl');
  t.same((await readJournal(path)).records, []);
  const first = await Journal.open(path, { clock: systemClock });
  const made = await Promise.all([
    first.append('a', { n: 1 }),
    first.append('b', undefined),
    first.append('c', 'text\nwith newline'),
  ]);
  t.match(made, [
    { seq: 1, type: 'a', data: { n: 1 }, prev: '0'.repeat(64) },
    { seq: 2, data: null },
    { seq: 3 },
  ]);
  t.match((await readJournal(path)).records, made, 'readers need no lock and see it at once');
  await first.close();
  await t.rejects(first.append('late', 1), { code: 'EVIDENCE_WRITE_FAILED' });
  const second = await Journal.open(path, options);
  t.equal(second.records.length, 3);
  t.match(await second.append('d', []), { seq: 4 });
  await second.close();
  t.same(
    (await readJournal(path)).records.map(({ type }) => type),
    ['a', 'b', 'c', 'd'],
  );
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('two hundred concurrent appends are all recorded in call order', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const journal = await Journal.open(path, { clock: systemClock });
  await Promise.all(Array.from({ length: 200 }, (_, index) => journal.append('n', index)));
  await journal.close();
  t.same(
    (await readJournal(path)).records.map(({ data }) => data),
    Array.from({ length: 200 }, (_, index) => index),
  );
});

t.test('a torn last line is ignored, and the next writer cuts it off', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const journal = await Journal.open(path, options);
  await journal.append('a', 1);
  await journal.append('b', 2);
  await journal.close();
  const whole = readFileSync(path);
  for (const cut of [1, 10, 50]) {
    writeFileSync(path, whole);
    truncateSync(path, whole.length - cut);
    const found = await readJournal(path);
    t.equal(found.records.length, 1);
    t.equal(found.isTorn, true);
  }
  writeFileSync(path, whole);
  appendFileSync(path, Buffer.alloc(100));
  const again = await Journal.open(path, options);
  t.match(await again.append('c', 3), { seq: 3 });
  await again.close();
  t.same(
    (await readJournal(path)).records.map(({ type }) => type),
    ['a', 'b', 'c'],
  );
});

t.test('every confirmed record survives a killed writer', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const module = new URL('../../store/journal.ts', import.meta.url).href;
  const clock = new URL('../../core/base/clock.ts', import.meta.url).href;
  const script = `import { Journal } from ${JSON.stringify(module)}; import { systemClock } from ${JSON.stringify(clock)};
    const journal = await Journal.open(${JSON.stringify(path)}, { clock: systemClock });
    for (let n = 1; n <= 20; n += 1) await journal.append('n', n);
    journal.append('n', 21); process.kill(process.pid, 'SIGKILL');`;
  spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  t.ok((await readJournal(path)).records.length >= 20);
});

t.test('a witness knows a record once it is on disk, and one sync is for all who wait', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const reached: number[] = [];
  const known = await processWitness.open('a-run');
  const reach = async ({ records }: JournalReach): Promise<void> => {
    reached.push(records);
  };
  const witness = { ...known, vouch: known.vouch, vouched: known.vouched, reached: undefined, reach };
  const journal = await Journal.open(path, { clock: systemClock, witness });
  await journal.append('a', 1);
  await journal.append('b', 2);
  t.equal((await readJournal(path)).records.length, 2, 'written at once: a kill loses nothing');
  t.same(reached, [0]);
  await Promise.all([journal.sync(), journal.sync(), journal.sync()]);
  await journal.sync();
  t.same(reached, [0, 2]);
  await journal.append('c', 3);
  await journal.close();
  t.same(reached, [0, 2, 3]);
});

t.test('damage in any other line is reported with its line number', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const journal = await Journal.open(path, options);
  for (const n of [1, 2, 3]) await journal.append('n', { n });
  await journal.close();
  const lines = readFileSync(path, 'utf8').split('\n');
  const damaged: readonly (readonly [string, readonly string[], number])[] = [
    ['a changed record', [lines[0]?.replace('"n":1', '"n":9') ?? '', ...lines.slice(1)], 2],
    ['a missing record', [lines[0] ?? '', ...lines.slice(2)], 2],
    ['a missing first record', lines.slice(1), 1],
    ['swapped records', [lines[1] ?? '', lines[0] ?? '', ...lines.slice(2)], 1],
    ['a broken line', [lines[0] ?? '', '{"seq":2', ...lines.slice(2)], 2],
    ['another shape', [lines[0] ?? '', '{"seq":2}', ...lines.slice(2)], 2],
    ['an unknown field', [lines[0]?.replace('{', '{"x":1,') ?? '', ...lines.slice(1)], 1],
    ['an empty line', [lines[0] ?? '', '', ...lines.slice(1)], 2],
  ];
  for (const [what, changed, line] of damaged) {
    writeFileSync(path, changed.join('\n'));
    await t.rejects(readJournal(path), { code: 'JOURNAL_CORRUPT', detail: { line } }, what);
    await t.rejects(Journal.open(path, options), { code: 'JOURNAL_CORRUPT', detail: { line } }, what);
  }
});

t.test('a second read reuses records, and changed bytes are verified again', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const journal = await Journal.open(path, options);
  for (const n of [1, 2, 3]) await journal.append('n', { n });
  const before = await readJournal(path);
  await journal.append('n', { n: 4 });
  const after = await readJournal(path);
  t.same(
    after.records.map(({ data }) => data),
    [1, 2, 3, 4].map((n) => ({ n })),
  );
  t.equal(before.records.length, 3);
  t.equal(after.records[0], before.records[0], 'the very same record');
  await journal.close();
  const bytes = readFileSync(path);
  const changed = Buffer.from(bytes);
  changed[bytes.indexOf('"n":1') + 4] = 0x39;
  writeFileSync(path, changed);
  await t.rejects(readJournal(path), { code: 'JOURNAL_CORRUPT', detail: { line: 2 } });
  writeFileSync(path, bytes.subarray(0, bytes.indexOf('\n') + 1));
  t.equal((await readJournal(path)).records.length, 1, 'a shorter one');
  writeFileSync(path, bytes);
  t.equal((await readJournal(path)).records.length, 4);
});

t.test('a journal longer than one chunk is split at its lines', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  const journal = await Journal.open(path, options);
  const text = 'ä'.repeat(300_000);
  for (const n of [1, 2, 3, 4, 5, 6]) await journal.append('n', `${n}${text}`);
  await journal.close();
  const again = await Journal.open(path, options);
  t.same(
    again.records.map(({ data }) => String(data)[0]),
    ['1', '2', '3', '4', '5', '6'],
  );
  await again.close();
});

t.test('a journal has begun once its first line is complete', async (t) => {
  const path = join(t.testdir(), 'journal.jsonl');
  t.equal(await isJournalBegun(path), false, 'there is none');
  writeFileSync(path, 'x'.repeat(200_000));
  t.equal(await isJournalBegun(path), false, 'torn');
  appendFileSync(path, '\n');
  t.equal(await isJournalBegun(path), true);
});

t.test('a symlink in place of the journal is not followed', async (t) => {
  const dir = t.testdir({ other: '' });
  symlinkSync(join(dir, 'other'), join(dir, 'journal.jsonl'));
  await t.rejects(Journal.open(join(dir, 'journal.jsonl'), options), {
    code: 'EVIDENCE_WRITE_FAILED',
    detail: { errno: 'ELOOP' },
  });
});

t.test('an append of data that is not JSON fails without breaking the journal', async (t) => {
  const journal = await Journal.open(join(t.testdir(), 'journal.jsonl'), options);
  await t.rejects(journal.append('bad', 1n), { code: 'EVIDENCE_WRITE_FAILED' });
  t.match(await journal.append('good', 1), { seq: 1 });
  await journal.close();
});

const mount = mountTiny('64k');
t.teardown(() => mount?.remove());

t.test(
  'an append on a full disk fails, keeps earlier records, and later appends succeed',
  { skip: mount ? false : 'mounting a small file system needs more rights' },
  async (t) => {
    if (mount === undefined) return;
    const path = join(mount.dir, 'journal.jsonl');
    const journal = await Journal.open(path, { clock: systemClock });
    await journal.append('kept', 'x');
    await t.rejects(journal.append('big', 'y'.repeat(200_000)), {
      code: 'EVIDENCE_WRITE_FAILED',
      detail: { errno: 'ENOSPC' },
    });
    t.match(await readJournal(path), { isTorn: false, records: [{ type: 'kept' }] });
    t.match(await journal.append('after', 'z'), { seq: 2 });
    await journal.close();
    t.same(
      (await readJournal(path)).records.map(({ type }) => type),
      ['kept', 'after'],
    );
  },
);

t.test('runs are found by their directories', async (t) => {
  const commonDir = t.testdir();
  t.same(await listRunDirectories({ commonDir }), []);
  t.equal(journalPath({ commonDir }, 'a/b'), join(commonDir, 'writ/runs/a%2Fb/journal.jsonl'));
  mkdirSync(join(commonDir, 'writ/runs/b'), { recursive: true });
  mkdirSync(join(commonDir, 'writ/runs/a'));
  writeFileSync(join(commonDir, 'writ/runs/file'), '');
  t.same(await listRunDirectories({ commonDir }), ['a', 'b']);
});

t.test(
  'a journal that another program changed while it was open takes no record and loses none',
  async (t) => {
    const box = t.testdir();
    const changes: readonly (readonly [name: string, change: (path: string) => void])[] = [
      ['appended to', (path) => appendFileSync(path, 'a line of another\n')],
      ['truncated', (path) => truncateSync(path, 10)],
      ['emptied', (path) => truncateSync(path, 0)],
      [
        'rewritten at the same length',
        (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('"b"', '"x"')),
      ],
      ['replaced by a copy', replaceByCopy],
      ['removed', (path) => rmSync(path)],
    ];
    for (const [name, change] of changes) {
      const path = join(box, name, 'journal.jsonl');
      const journal = await Journal.open(path, options);
      await journal.append('a', 1);
      await journal.append('b', 2);
      change(path);
      const changed = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
      for (const again of [1, 2])
        await t.rejects(
          journal.append('c', again),
          { code: 'EVIDENCE_WRITE_FAILED', detail: { path } },
          name,
        );
      t.equal(existsSync(path) ? readFileSync(path, 'utf8') : undefined, changed, `${name}: as it was`);
      await journal.close();
    }
  },
);

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.new`);
  renameSync(`${path}.new`, path);
}
