import { spawnSync } from 'node:child_process';
import t from 'tap';
import { forgetLargePages, withLargePages } from './large-pages.ts';

t.test('a room asks for large pages, and nothing that it starts does', async (t) => {
  const before = { PATH: '/bin' };
  const started = withLargePages(before);
  t.same(Object.keys(started), ['PATH', 'GLIBC_TUNABLES']);
  t.same(before, { PATH: '/bin' });
  forgetLargePages(started);
  t.same(started, before);
});

t.test('what somebody has told the allocator stays', async (t) => {
  const own = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1' };
  const started = withLargePages(own);
  forgetLargePages(started);
  t.same(started, own);
});

t.test('a room itself has forgotten it', async (t) => {
  const room = new URL('room.ts', import.meta.url).href;
  const told = [
    '--input-type=module',
    '-e',
    `await import('${room}'); console.log(process.env.GLIBC_TUNABLES)`,
  ];
  const { stdout } = spawnSync(process.execPath, told, {
    env: withLargePages(process.env),
    encoding: 'utf8',
  });
  t.match(stdout, /^undefined$/m);
});
