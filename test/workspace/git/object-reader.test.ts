import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hashTree } from '../../../workspace/git/hash-tree.ts';
import { keepObjectReaders } from '../../../workspace/git/object-reader.ts';
import { setAlternate } from '../../../workspace/git/packs.ts';
import { describeObjects, readBlob, readBlobs, readObjects } from '../../../workspace/git/read-objects.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { makeRepository } from './sample-repository.ts';
import { startedChildren } from './started-children.ts';

t.test('a kept reader answers every read with one git process until it is disposed', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: 'one', 'd/b': 'two' });
  const repo = await openRepository(sample.dir);
  using children = startedChildren();
  {
    await using readers = keepObjectReaders();
    readers.keep(repo);
    readers.keep({ ...repo, settings: [] });
    t.equal((await readBlob(repo, 'HEAD', 'a'))?.toString(), 'one');
    const asked = await Promise.all([
      readBlobs(repo, 'HEAD', ['a', 'd/b', 'none']),
      readObjects(repo, ['HEAD', 'HEAD:none']),
      describeObjects(repo, ['HEAD:d', 'f'.repeat(40)]),
    ]);
    t.equal(asked[0].size, 2);
    t.match(asked.slice(1), [
      [{ type: 'commit' }, undefined],
      [{ type: 'tree', sizeBytes: 29 }, undefined],
    ]);
    t.equal(children.running().length, 1);
  }
  t.same(children.gits(), ['cat-file']);
  t.same(children.running(), []);
  t.equal((await readBlob(repo, 'HEAD', 'a'))?.toString(), 'one', 'without it, one git for the question');
  t.same(children.gits().length, 2);
  t.same(children.running(), []);
});

t.test('a shared reader ends when its last keeper is disposed', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: 'one' });
  const repo = await openRepository(sample.dir);
  using children = startedChildren();
  const first = keepObjectReaders();
  const second = keepObjectReaders();
  first.keep(repo);
  second.keep(repo);
  await readBlob(repo, 'HEAD', 'a');
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await readBlob(repo, 'HEAD', 'a');
  t.equal(children.running().length, 1);
  await second[Symbol.asyncDispose]();
  t.same(children.running(), []);
  t.equal(children.gits().length, 1);
});

t.test('a kept reader sees objects that are written, moved, packed or borrowed meanwhile', async (t) => {
  const sample = makeRepository(t.testdir({}));
  sample.commit({ a: 'one' });
  const repo = await openRepository(sample.dir);
  const scratch = await createScratch(join(t.testdirName, '.git', 'scratch'), repo);
  await using readers = keepObjectReaders();
  readers.keep(repo);
  readers.keep(scratch);
  t.equal((await readBlob(repo, 'main', 'a'))?.toString(), 'one');
  t.equal((await readBlob(scratch, sample.git('rev-parse', 'HEAD').trim(), 'a'))?.toString(), 'one');
  const second = sample.commit({ a: 'two' });
  t.equal((await readBlob(repo, 'main', 'a'))?.toString(), 'two');
  t.equal((await readBlob(scratch, second, 'a'))?.toString(), 'two');
  sample.git('gc', '-q', '--prune=now');
  t.equal((await readBlob(repo, 'main~1', 'a'))?.toString(), 'one');
  t.equal((await readBlob(scratch, second, 'a'))?.toString(), 'two');

  const other = makeRepository(join(t.testdirName, 'other'));
  const borrowed = other.commit({ a: 'borrowed' });
  t.equal(await readBlob(repo, borrowed, 'a'), undefined);
  await setAlternate(repo.objectsDir, join(other.dir, '.git/objects'), true);
  t.equal((await readBlob(repo, borrowed, 'a'))?.toString(), 'borrowed', 'what is borrowed from now on');
  await setAlternate(repo.objectsDir, join(other.dir, '.git/objects'), false);
  t.equal(await readBlob(repo, borrowed, 'a'), undefined, 'and not any more');
});

t.test('an answer is never mistaken for the answer to another request', async (t) => {
  const sample = makeRepository(t.testdir());
  const big = 'x'.repeat(3_000_000);
  sample.commit({ a: 'one', big, 'b\r': 'odd', b: 'even' });
  const repo = await openRepository(sample.dir);
  await using readers = keepObjectReaders();
  readers.keep(repo);
  using children = startedChildren();
  const [large, small] = await Promise.allSettled([
    readBlob(repo, 'HEAD', 'big', 1000),
    readBlob(repo, 'HEAD', 'a'),
  ]);
  t.match(large, { reason: { code: 'INPUT_TOO_LARGE' } });
  t.match(small, { value: Buffer.from('one') });
  t.equal((await readBlob(repo, 'HEAD', 'big'))?.length, big.length);
  t.equal(children.gits().length, 2, 'the git that was answering too much is gone');
  for (const name of ['HEAD\ncontents HEAD:a', 'HEAD:a\n', '\n'])
    await t.rejects(readObjects(repo, [name]), { code: 'REF_INVALID' });
  t.equal((await readBlobs(repo, 'HEAD', ['b\r', 'a\nb'])).size, 0, 'git would cut these names');
  t.match(await readObjects(repo, ['', ' ', 'flush', '--all', 'HEAD:a']), [
    undefined,
    undefined,
    undefined,
    undefined,
    { bytes: Buffer.from('one') },
  ]);
});

t.test('a killed reader is restarted, and an unreadable object is reported', async (t) => {
  const sample = makeRepository(t.testdir());
  sample.commit({ a: 'one', torn: Array.from({ length: 999 }, (_, n) => n * n).join() });
  const repo = await openRepository(sample.dir);
  await using readers = keepObjectReaders();
  readers.keep(repo);
  using children = startedChildren();
  await readBlob(repo, 'HEAD', 'a');
  for (const pid of children.running()) process.kill(pid, 'SIGKILL');
  t.equal((await readBlob(repo, 'HEAD', 'a'))?.toString(), 'one', 'before anybody has noticed');
  for (const pid of children.running()) process.kill(pid, 'SIGINT');
  await until(() => children.running().length === 0, 'the end of the interrupted ones');
  t.equal((await readBlob(repo, 'HEAD', 'a'))?.toString(), 'one');

  const id = sample.git('rev-parse', 'HEAD:torn').trim();
  const path = join(sample.dir, '.git/objects', id.slice(0, 2), id.slice(2));
  chmodSync(path, 0o644);
  writeFileSync(path, readFileSync(path).fill(0, 200));
  await t.rejects(readObjects(repo, [id]), { code: 'GIT_FAILED', detail: { command: 'cat-file' } });
  t.match(await readObjects(repo, ['HEAD']), [{ type: 'commit' }], 'the next question is answered');
});

t.test('a tree is hashed by the kept git process, which is restarted after a kill', async (t) => {
  const sample = makeRepository(t.testdir());
  const torn = Array.from({ length: 999 }, (_, n) => n * n).join();
  sample.commit({ a: 'one', 'd/b': 'two', 'd/e/c': torn });
  const repo = await openRepository(sample.dir);
  const tree = sample.git('rev-parse', 'HEAD^{tree}').trim();
  const whole = { trees: 3, files: 3, absent: [], wrong: [], isCut: false };
  using children = startedChildren();
  t.match(await hashTree(repo, tree), whole);
  t.equal(children.gits().length, 1, 'one for all of it where none is kept');
  t.same(children.running(), []);

  await using readers = keepObjectReaders();
  readers.keep(repo);
  readers.start(repo);
  t.equal(children.running().length, 1, 'started before it is asked');
  await readBlob(repo, 'HEAD', 'a');
  const [hashed, blob] = await Promise.all([hashTree(repo, tree), readBlob(repo, 'HEAD', 'd/b')]);
  t.match(hashed, whole);
  t.equal(blob?.toString(), 'two', 'who asks meanwhile gets an answer of his own');
  t.equal(children.gits().length, 2);
  for (const pid of children.running()) process.kill(pid, 'SIGKILL');
  t.match(await hashTree(repo, tree), whole, 'a git that is gone damages no object');
  t.equal(children.gits().length, 3);

  const id = sample.git('rev-parse', 'HEAD:d/e/c').trim();
  const path = join(sample.dir, '.git/objects', id.slice(0, 2), id.slice(2));
  chmodSync(path, 0o644);
  writeFileSync(path, readFileSync(path).fill(0, 200));
  await readBlob(repo, 'HEAD', 'a');
  t.match(await hashTree(repo, tree), { files: 2, wrong: [`file \`c\` ${id} cannot be read`], absent: [] });
  t.equal((await readBlob(repo, 'HEAD', 'a'))?.toString(), 'one', 'the next question is answered');
});

long(
  'many readers leave no process and no open file behind',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const sample = makeRepository(t.testdir());
    sample.commit({ a: 'one', big: 'x'.repeat(500_000) });
    const repo = await openRepository(sample.dir);
    using children = startedChildren();
    const round = async (): Promise<void> => {
      await using readers = keepObjectReaders();
      readers.keep(repo);
      await readBlob(repo, 'HEAD', 'a');
      await t.rejects(readBlob(repo, 'HEAD', 'big', 1000), { code: 'INPUT_TOO_LARGE' });
      await readBlob(repo, 'HEAD', 'big');
    };
    await round();
    const before = readdirSync('/proc/self/fd').length;
    for (let index = 0; index < 50; index += 1) await round();
    const after = readdirSync('/proc/self/fd').length;
    t.ok(after <= before + 10, `${before} open files before, ${after} after`);
    t.ok(
      children.running().length <= 1,
      `${children.running().length} of ${children.gits().length} still run`,
    );
  },
);
