import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLimitGroup } from '../../../plugins/sandbox/spawn-watched.ts';

const limits = { memoryBytes: 300_000_000, tasks: 4096 };

/**
 * A directory stands for the kernel's: what is written where, and what is made of the answers. On a kernel it was tried
 * by hand (docs/reference/sandbox.md).
 */
t.test('a limit group writes its limits, adds a process, reports an overrun and is removed', async (t) => {
  const above = t.testdir({});
  const group = openLimitGroup(limits, above);
  const [name = ''] = readdirSync(above);
  const written = (file: string): string => readFileSync(join(above, name, file), 'utf8');
  t.match(name, /^writ-\d+-[0-9a-f]{12}$/);
  t.same(['memory.max', 'memory.swap.max', 'memory.oom.group', 'pids.max'].map(written), [
    '300000000',
    '0',
    '1',
    '4096',
  ]);
  t.equal(group?.take(4711), true);
  t.equal(written('cgroup.procs'), '4711');

  t.equal(group?.exceeded(), undefined, 'no events, no verdict');
  writeFileSync(join(above, name, 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\n');
  t.equal(group?.exceeded(), undefined, 'what the kernel could reclaim is no fault');
  writeFileSync(join(above, name, 'memory.events'), 'low 0\nmax 99\noom 1\noom_kill 3\noom_group_kill 1\n');
  t.same(group?.exceeded(), { what: 'memory', limit: 300_000_000, found: 300_000_000 });
  writeFileSync(join(above, name, 'memory.peak'), '300001234\n');
  t.same(group?.exceeded(), { what: 'memory', limit: 300_000_000, found: 300_001_234 });

  // The kernel removes such a directory with its files.
  for (const file of readdirSync(join(above, name))) rmSync(join(above, name, file));
  await group?.remove();
  t.notOk(existsSync(join(above, name)));
});

t.test('returns no group when the kernel refuses one, and leaves no stale files', async (t) => {
  const above = t.testdir({ file: '' });
  t.equal(openLimitGroup(limits, join(above, 'file')), undefined);
  t.equal(openLimitGroup(limits, join(above, 'nowhere')), undefined);
  t.same(readdirSync(above), ['file']);
  const group = openLimitGroup(limits, above);
  const [name = ''] = readdirSync(above).filter((one) => one.startsWith('writ-'));
  mkdirSync(join(above, name, 'cgroup.procs'));
  t.equal(group?.take(1), false);
});
