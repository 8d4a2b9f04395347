import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import { openStatedRepository } from '../../../engine/open/repository-checks.ts';
import { ownerFile, removeStaleRunFiles } from '../../../engine/record/stale-run-files.ts';
import { Journal } from '../../../store/journal.ts';
import { acquireRunLock, journalPath, runDirectory } from '../../../store/run-directory.ts';
import { ownIdentity } from '../../../workspace/process/process-lock.ts';
import { makeRepository } from '../../workspace/git/sample-repository.ts';

const anHourAgo = Date.now() - 3_600_000;

t.test('`gc` removes the leftovers of killed runs and nothing else', async (t) => {
  const dir = t.testdir({ tmp: {}, common: {}, elsewhere: { precious: 'p' } });
  const repository = { commonDir: join(dir, 'common') };
  const temporary = join(dir, 'tmp');
  const root = (id: string): string => join(temporary, `writ-run-${id}`);
  const make = async (
    given: { types?: readonly string[]; held?: boolean; gone?: boolean; owner?: string; mode?: number },
    bornMs = anHourAgo,
  ): Promise<string> => {
    const id = uuidV7(bornMs);
    mkdirSync(root(id), { mode: given.mode ?? 0o700 });
    chmodSync(root(id), given.mode ?? 0o700);
    if (given.owner !== undefined) writeFileSync(join(root(id), ownerFile), given.owner);
    if (given.gone) return id;
    mkdirSync(runDirectory(repository, id), { recursive: true });
    if (given.held) await acquireRunLock(runDirectory(repository, id));
    if (given.types) {
      const journal = await Journal.open(journalPath(repository, id), { clock: systemClock });
      for (const type of given.types) await journal.append(type, {});
      await journal.close();
    }
    return id;
  };
  const ended = ['run-started', 'run-finished'];
  const stays = {
    'can be resumed': await make({ types: ['run-started'] }),
    'is worked on': await make({ types: ended, held: true }),
    'was begun just now': await make({}, Date.now()),
    'is being begun': await make({ held: true }),
    'of another repository': await make({ gone: true, owner: '/another/.git' }),
    'of nobody knows whom': await make({ gone: true }),
    'open to others': await make({ types: ended, mode: 0o755 }),
    'looked at for a draft': await make({ gone: true, owner: repository.commonDir }),
  };
  await acquireRunLock(root(stays['looked at for a draft']));
  const damaged = await make({});
  writeFileSync(journalPath(repository, damaged), 'not a journal\n');
  const linked = uuidV7(anHourAgo);
  symlinkSync(join(dir, 'elsewhere'), root(linked));
  mkdirSync(runDirectory(repository, linked), { recursive: true });
  const journal = await Journal.open(journalPath(repository, linked), { clock: systemClock });
  for (const type of ended) await journal.append(type, {});
  await journal.close();
  const goes = {
    finished: await make({ types: ended }),
    gone: await make({ gone: true, owner: `${repository.commonDir}\n` }),
  };
  const unbegun = await make({});
  writeFileSync(join(root(unbegun), ownerFile), repository.commonDir);

  const stale = join(runDirectory(repository, goes.finished), 'lock');
  writeFileSync(stale, JSON.stringify({ ...(await ownIdentity()), pid: 4_194_303 }));
  const removed = await removeStaleRunFiles(repository, systemClock, temporary);
  t.notOk(existsSync(stale), 'the lock of a killed process');
  t.same(
    [...removed].sort(),
    [root(goes.finished), root(goes.gone), runDirectory(repository, unbegun), root(unbegun)].sort(),
  );
  for (const [what, id] of Object.entries(stays)) t.ok(existsSync(root(id)), what);
  t.ok(existsSync(runDirectory(repository, damaged)), 'a damaged journal is kept');
  t.same(readdirSync(join(dir, 'elsewhere')), ['precious'], 'nothing is removed through a link');
  t.same(await removeStaleRunFiles(repository, systemClock, temporary), []);
  t.same(await removeStaleRunFiles(repository, systemClock, join(dir, 'nowhere')), []);
});

t.test('a linked worktree and its main worktree count as the same repository', async (t) => {
  const dir = t.testdir();
  const sample = makeRepository(join(dir, 'main'));
  sample.commit({ 'sub/a': '1' });
  const side = join(dir, 'side');
  sample.git('worktree', 'add', '-q', side);
  makeRepository(join(dir, 'other')).commit({ a: '1' });
  const open = (repositoryPath: string, locator: string) =>
    openStatedRepository(
      { repositoryPath } as Parameters<typeof openStatedRepository>[0],
      { effective: { metadata: { target: { repo: { type: 'local', locator } } } } } as Parameters<
        typeof openStatedRepository
      >[1],
    );
  t.equal((await open(side, sample.dir)).root, side);
  t.equal((await open(sample.dir, side)).root, sample.dir);
  for (const locator of [join(dir, 'other'), join(sample.dir, 'sub'), join(sample.dir, '.git'), '/nowhere'])
    await t.rejects(open(side, locator), { code: 'REPOSITORY_MISMATCH' }, locator);
});
