import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { startLoopbackServer } from '../../../http/loopback-server.ts';
import { threadRoutes } from '../../../session/api/session-routes.ts';
import { listThreads } from '../../../session/thread/check-threads.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { firstWords } from '../../../session/thread/read-thread.ts';
import { threadIndexPath } from '../../../session/thread/thread-index.ts';
import { formatJournal } from '../../../store/journal-witness.ts';
import { openSql } from '../../../store/sql.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { ground } from '../state/walk.ts';
import { threadPlace } from './said-thread.ts';

const all = { limit: 200, offset: 0 };

t.test('threads are listed in pages, last updated first and then by id', async (t) => {
  const box = t.testdir();
  const { repository, witness, say } = threadPlace(box);
  t.strictSame(await listThreads(repository, all), { items: [] });
  t.strictSame(readdirSync(repository.commonDir), [], 'and nothing is made where there was none');
  await say('b', 1000, [5000, 'of b']);
  await say('c', 2000);
  await say('a', 3000, [5000, `  two\nlines \u202e of\u0000 a  `], [4000, 'and a clock that went back']);
  const { items } = await listThreads(repository, all);
  t.strictSame(items, [
    {
      id: 'a',
      title: 'two lines of a',
      archived: false,
      createdAt: '1970-01-01T00:00:03.000Z',
      updatedAt: '1970-01-01T00:00:05.000Z',
    },
    {
      id: 'b',
      title: 'of b',
      archived: false,
      createdAt: '1970-01-01T00:00:01.000Z',
      updatedAt: '1970-01-01T00:00:05.000Z',
    },
    {
      id: 'c',
      archived: false,
      createdAt: '1970-01-01T00:00:02.000Z',
      updatedAt: '1970-01-01T00:00:02.000Z',
    },
  ]);
  t.strictSame(await listThreads(repository, { limit: 2, offset: 0 }), {
    items: items.slice(0, 2),
    nextOffset: 2,
  });
  t.strictSame(await listThreads(repository, { limit: 2, offset: 2 }), { items: items.slice(2) });
  t.strictSame(await listThreads(repository, { limit: 2, offset: 9 }), { items: [] });
  await using _begun = await openThread(threadDirectory(repository, 'd'), 'd', {
    clock: systemClock,
    witness,
  });
  t.equal((await listThreads(repository, all)).items.length, 3, 'before its opening it is no session');
});

t.test('a list shows messages added since and drops threads that were removed', async (t) => {
  const { repository, witness, say } = threadPlace(t.testdir());
  const directory = await say('a', 1000);
  await say('b', 2000, [2000, 'b']);
  await listThreads(repository, all);
  {
    await using thread = await openThread(directory, 'a', { clock: systemClock, witness });
    const by = { kind: 'tui' } as const;
    await thread.append([{ type: 'said', id: '1', text: 'x'.repeat(500), by, atMs: 3000 }]);
    const draft = { runId: 'r', revision: 1, said: [], summary: 's', digest: 'd', intentId: 'intent-1' };
    await thread.append([{ type: 'drafted', draft, atMs: 3500 }]);
    const [first] = (await listThreads(repository, all)).items;
    t.match(first, { id: 'a', updatedAt: '1970-01-01T00:00:03.500Z', currentIntentId: 'intent-1' });
    t.equal([...(first?.title ?? '')].length, 80);
  }
  const other = [
    { type: 'opened', ground: ground({ threadId: 'a' }), atMs: 9000 },
    { type: 'said', text: 'another\n'.repeat(1000), atMs: 9000 },
  ];
  const path = join(directory, 'journal.jsonl');
  writeFileSync(path, formatJournal([{ at: 'x', type: 'facts', data: other }]).bytes);
  const { items } = await listThreads(repository, all);
  t.match(items, [
    { id: 'a', title: /^another another/, createdAt: '1970-01-01T00:00:09.000Z' },
    { id: 'b' },
  ]);
  rmSync(directory, { recursive: true });
  t.strictSame(
    (await listThreads(repository, all)).items.map(({ id }) => id),
    ['b'],
  );
});

t.test('damaged or foreign threads do not hide intact threads', async (t) => {
  const box = t.testdir();
  const { repository, say } = threadPlace(box);
  const journalOf = (id: string): string => join(threadDirectory(repository, id), 'journal.jsonl');
  for (const id of ['whole', 'cut', 'changed', 'torn']) await say(id, 1000, [2000, id], [3000, 'later']);
  // Of its second line there is only a part.
  truncateSync(journalOf('cut'), readFileSync(journalOf('cut')).indexOf('\n') + 60);
  writeFileSync(
    journalOf('changed'),
    readFileSync(journalOf('changed'), 'utf8').replace('"text":"changed"', '"text":"hullo"'),
  );
  appendFileSync(journalOf('torn'), '{"half');
  const root = dirname(threadDirectory(repository, 'any'));
  const made = (id: string, facts: unknown): void => {
    mkdirSync(threadDirectory(repository, id));
    writeFileSync(journalOf(id), formatJournal([{ at: 'x', type: 'facts', data: facts }]).bytes);
  };
  made('foreign', [
    { type: 'opened', ground: ground({ threadId: 'foreign' }), atMs: 500 },
    { type: 'said', text: 'hi', atMs: 600 },
  ]);
  made('of-another', [{ type: 'opened', ground: ground({ threadId: 'whole' }), atMs: 500 }]);
  made('hostile', { length: 1e9 });
  made('timeless', [{ type: 'opened', ground: ground({ threadId: 'timeless' }), atMs: 0.5 }]);
  mkdirSync(join(root, 'empty'));
  writeFileSync(join(root, 'a-file'), '');
  symlinkSync(threadDirectory(repository, 'whole'), join(root, 'a-link'));
  mkdirSync(join(root, 'linked'));
  symlinkSync(journalOf('whole'), journalOf('linked'));
  const titles = async (): Promise<unknown> =>
    (await listThreads(repository, all)).items.map(({ id, title }) => [id, title]);
  const expected = [
    ['torn', 'torn'],
    ['whole', 'whole'],
    ['changed', 'hullo'],
    ['cut', undefined],
    ['foreign', 'hi'],
  ];
  t.strictSame(await titles(), expected);
  t.strictSame(await titles(), expected, 'and the same from the index');
  const words = ['whole', 'changed', 'foreign', 'of-another', 'linked', 'none'];
  t.strictSame(await Promise.all(words.map((id) => firstWords(repository, id))), [
    'whole',
    undefined,
    'hi',
    undefined,
    undefined,
    undefined,
  ]);
});

t.test('the title of a thread is its first request, and a command only if there is none', async (t) => {
  const { repository, say } = threadPlace(t.testdir());
  const titles = async (): Promise<unknown> =>
    Object.fromEntries((await listThreads(repository, all)).items.map(({ id, title }) => [id, title]));
  await say('a', 1000, [1001, '/network allow'], [1002, '!npm ci'], [1003, 'fix prices'], [1004, 'and more']);
  await say('b', 1000, [1001, ' /network allow']);
  t.same(await titles(), { a: 'fix prices', b: '/network allow' });
  await say('b', 1000, [1005, '/budget'], [1006, 'fix taxes']);
  t.same(await titles(), { a: 'fix prices', b: 'fix taxes' }, 'also if the index has the command');
  t.same(await Promise.all(['a', 'b'].map((id) => firstWords(repository, id))), ['fix prices', 'fix taxes']);
});

t.test('a symlinked directory or damaged index makes the list fail with its own error code', async (t) => {
  const box = t.testdir();
  const { repository, say } = threadPlace(box);
  await say('a', 1000);
  await listThreads(repository, all);
  const path = threadIndexPath(repository);
  const whole = readFileSync(path);
  writeFileSync(path, 'x'.repeat(5000));
  await t.rejects(listThreads(repository, all), { code: 'DB_UNAVAILABLE', detail: { path } });
  writeFileSync(path, whole);
  const index = dirname(path);
  renameSync(index, join(box, 'aside'));
  symlinkSync(join(box, 'aside'), index);
  await t.rejects(listThreads(repository, all), { code: 'DB_UNAVAILABLE' });
  rmSync(index);
  renameSync(join(box, 'aside'), index);
  t.equal((await listThreads(repository, all)).items.length, 1);
  const root = dirname(threadDirectory(repository, 'any'));
  renameSync(root, join(box, 'threads'));
  symlinkSync(join(box, 'threads'), root);
  await t.rejects(listThreads(repository, all), { code: 'STORAGE_PATH_INVALID', detail: { path: root } });
});

t.test(
  'a disk error fails the thread list with `THREAD_LIST_FAILED`, and over HTTP with status 500',
  async (t) => {
    const { repository, say } = threadPlace(t.testdir());
    await say('a', 1000);
    const state = join(repository.commonDir, 'writ');
    renameSync(state, `${state}-aside`);
    symlinkSync('writ', state);
    await t.rejects(listThreads(repository, all), { code: 'THREAD_LIST_FAILED', message: /ELOOP/ });
    const faults: unknown[] = [];
    const server = await startLoopbackServer({
      host: '127.0.0.1',
      port: 0,
      routes: threadRoutes((page) => listThreads(repository, page)),
      body: { maxBytes: 1024, withinMs: 5000, maxDepth: 4 },
      headersWithinMs: 5000,
      report: (fault) => faults.push(fault),
    });
    t.teardown(() => server.close(0));
    const answer = await fetch(`${server.baseUrl}/api/code/threads`);
    t.equal(answer.status, 500);
    t.match(await answer.json(), { error: { code: 'THREAD_LIST_FAILED' } });
    t.match(faults, [{ code: 'THREAD_LIST_FAILED' }], 'it is a fault of ours');
    rmSync(state);
    renameSync(`${state}-aside`, state);
    t.equal((await listThreads(repository, all)).items.length, 1, 'and it is over with its cause');
  },
);

t.test('concurrent lists wait for each other, and an index of a newer version is refused', async (t) => {
  const { repository, say } = threadPlace(t.testdir());
  for (const id of ['a', 'b', 'c']) await say(id, 1000, [2000, id]);
  const path = threadIndexPath(repository);
  mkdirSync(join(dirname(path), 'threads.db.lock'), { recursive: true });
  const lists = await Promise.all(Array.from({ length: 4 }, () => listThreads(repository, all)));
  for (const { items } of lists) t.equal(items.length, 3);
  const busy = (): WritError => new WritError('INTERNAL');
  const lock = await acquireProcessLock(join(dirname(path), 'lock'), { busy });
  const waiting = listThreads(repository, all);
  await lock.release();
  t.equal((await waiting).items.length, 3);
  (await openSql(path, ['', '', ''])).close();
  await t.rejects(listThreads(repository, all), { code: 'DB_UNAVAILABLE' }, 'of a newer writ');
});
