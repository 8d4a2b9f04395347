import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { checkThreads, listThreads, rebuildThreadIndex } from '../../../session/thread/check-threads.ts';
import { threadDirectory } from '../../../session/thread/open-thread.ts';
import { threadIndexPath } from '../../../session/thread/thread-index.ts';
import { openSql } from '../../../store/sql.ts';
import { long } from '../../rooms/long.ts';
import { threadPlace } from './said-thread.ts';

const all = { limit: 200, offset: 0 };

t.test('checking intact threads reports no problem and creates no index', async (t) => {
  const { repository, witness, say } = threadPlace(t.testdir());
  t.strictSame(await checkThreads(repository, witness), { threads: 0, problems: [] });
  await say('a', 1000, [2000, 'a']);
  const torn = await say('torn', 1000, [2000, 'a']);
  appendFileSync(join(torn, 'journal.jsonl'), '{"half');
  mkdirSync(threadDirectory(repository, 'begun'));
  t.strictSame(await checkThreads(repository, witness), { threads: 3, problems: [] });
  t.notOk(existsSync(threadIndexPath(repository)));
  await listThreads(repository, all);
  t.strictSame(await checkThreads(repository, witness), { threads: 3, problems: [] });
});

t.test('a damaged, missing, foreign or linked thread is reported by its id', async (t) => {
  const box = t.testdir();
  const { repository, witness, say } = threadPlace(box);
  const whole = await say('a', 1000, [2000, 'first'], [3000, 'second']);
  const journal = join(whole, 'journal.jsonl');
  const root = dirname(whole);
  const text = readFileSync(journal, 'utf8');
  const codes = async (who = witness): Promise<readonly string[]> =>
    (await checkThreads(repository, who)).problems.map(({ code, dependsOn }) =>
      [code, ...dependsOn].join(' '),
    );
  t.strictSame(await codes(), []);
  const rests = 'thread:a';
  const damages: readonly (readonly [string, string, () => void])[] = [
    [
      'cut by a line',
      'journal-cut',
      () => truncateSync(journal, text.lastIndexOf('\n', text.length - 2) + 1),
    ],
    ['cut in the middle of a record', 'journal-cut', () => truncateSync(journal, text.length - 20)],
    ['emptied', 'journal-cut', () => truncateSync(journal, 0)],
    ['taken away', 'journal-cut', () => rmSync(journal)],
    ['changed', 'journal-corrupt', () => writeFileSync(journal, text.replace('"first"', '"other"'))],
    [
      'changed at its end',
      'thread-unproven',
      () => writeFileSync(journal, text.replace(/"mac":"....(.{60}"\}\n)$/, '"mac":"0000$1')),
    ],
  ];
  for (const [what, code, damage] of damages) {
    damage();
    t.strictSame(await codes(), [`${code} ${rests}`], what);
    writeFileSync(journal, text);
  }
  t.strictSame(await codes(userJournalWitness({ HOME: join(box, 'other') })), [`thread-unproven ${rests}`]);
  for (const name of ['', 'journal.jsonl', 'lock', '..']) {
    const place = join(whole, name);
    if (name === 'lock') writeFileSync(place, '');
    renameSync(place, join(box, 'aside'));
    symlinkSync(join(box, 'aside'), place);
    const expected = name === '' || name === '..' ? 'thread-foreign' : `thread-foreign ${rests}`;
    t.strictSame(await codes(), [expected], `a link as \`${name}\``);
    rmSync(place);
    renameSync(join(box, 'aside'), place);
  }
  writeFileSync(join(root, 'a-file'), '');
  t.strictSame(await codes(), ['thread-foreign']);
});

long('a damaged or wrong thread index is reported and rebuilt', async (t) => {
  const { repository, witness, say } = threadPlace(t.testdir());
  await say('a', 1000, [2000, 'first']);
  await say('b', 1000, [2000, 'first']);
  const { items } = await listThreads(repository, all);
  const where = threadIndexPath(repository);
  const lie = async (): Promise<void> => {
    const database = await openSql(where, ['', '']);
    database.prepare(`UPDATE thread SET title = 'a lie' WHERE id = 'a'`).run([]);
    database.close();
  };
  for (const damage of [lie, () => writeFileSync(where, 'x'.repeat(9000)), () => truncateSync(where, 5000)]) {
    await damage();
    t.match((await checkThreads(repository, witness)).problems, [{ code: 'thread-index', where }]);
    t.strictSame(await rebuildThreadIndex(repository), [where]);
    t.strictSame((await checkThreads(repository, witness)).problems, []);
    t.strictSame((await listThreads(repository, all)).items, items);
  }
  rmSync(where);
  mkdirSync(where);
  t.match((await checkThreads(repository, witness)).problems, [{ code: 'thread-index', where }]);
  t.strictSame(await rebuildThreadIndex(repository), [], 'what is no file is left to a person');
});
