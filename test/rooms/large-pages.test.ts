import { spawnSync } from 'node:child_process';
import t from 'tap';
import { forgetLargePages, withLargePages } from './large-pages.ts';

t.test('a test process gets large pages, and its child processes do not', async (t) => {
  const before = { PATH: '/bin' };
  const started = withLargePages(before);
  t.same(Object.keys(started), ['PATH', 'GLIBC_TUNABLES']);
  t.same(before, { PATH: '/bin' });
  forgetLargePages(started);
  t.same(started, before);
});

t.test('keeps allocator settings that the user has made', async (t) => {
  const own = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1' };
  const started = withLargePages(own);
  forgetLargePages(started);
  t.same(started, own);
});

t.test('a test process removes the setting from its environment', async (t) => {
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
