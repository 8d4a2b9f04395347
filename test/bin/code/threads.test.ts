import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { threadDirectory } from '../../../session/thread/open-thread.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { makeSample } from '../../engine/sample.ts';
import { sayIn } from '../../session/thread/said-thread.ts';
import { faultsOf } from '../faults-of.ts';
import { runLine } from '../host.ts';

t.test('threads are searched, archived, exported and deleted, and none that is in use', async (t) => {
  const { root, env, home, remove } = makeSample();
  t.teardown(remove);
  const repository = await openRepository(root);
  const say = sayIn(repository, join(home, '..'));
  await say('aaaaaaaa-1', 1000, [60_000, 'make prices exact']);
  await say('bbbbbbbb-2', 2000, [120_000, 'another']);
  await say('cccccccc-3', 3000, [180_000, 'in use']);
  const run = async (...argv: readonly string[]) => {
    const ran = await runLine(['threads', ...argv, '--json'], commands, { cwd: root, env });
    const { data } = JSON.parse(ran.out);
    if (data !== undefined) t.strictSame(faultsOf(`threads ${argv[0]}`, data), [], argv.join(' '));
    return { code: ran.code, data };
  };
  const ids = async (...argv: readonly string[]) =>
    (await run('list', ...argv)).data.threads.map(({ id }: { readonly id: string }) => id);
  t.strictSame(await ids(), ['cccccccc-3', 'bbbbbbbb-2', 'aaaaaaaa-1']);
  t.strictSame(await ids('--search', 'PRICES'), ['aaaaaaaa-1']);
  t.match(await run('archive', 'bbbbbbbb'), { code: 0, data: { id: 'bbbbbbbb-2', archived: true } });
  t.strictSame(await ids(), ['cccccccc-3', 'aaaaaaaa-1']);
  t.strictSame(await ids('--archived'), ['bbbbbbbb-2']);
  await run('archive', 'bbbbbbbb-2', '--undo');
  t.strictSame(await ids('--archived'), []);
  t.equal((await run('archive', 'nothing1')).code, 1);

  const held = join(threadDirectory(repository, 'cccccccc-3'), 'lock');
  const lock = await acquireProcessLock(held, { busy: () => new Error('busy') as never });
  t.teardown(() => lock.release());
  t.not((await run('delete', 'cccccccc-3')).code, 0);
  const { data } = await run('delete', '--older-than', '30');
  t.strictSame([data.deleted.toSorted(), data.kept], [['aaaaaaaa-1', 'bbbbbbbb-2'], ['cccccccc-3']]);
  t.notOk(existsSync(threadDirectory(repository, 'aaaaaaaa-1')));
  t.strictSame(await ids(), ['cccccccc-3']);
  t.equal((await run('delete')).code, 129);
});
