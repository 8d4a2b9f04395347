import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../core/base/canonical.ts';
import { acquireRunLock } from '../../store/run-directory.ts';
import { isProvenDead, ownIdentity, toNamePart } from '../../workspace/process/process-lock.ts';
import { long } from '../rooms/long.ts';

t.test('a run lock has one holder at a time, and a release frees it', async (t) => {
  const dir = join(t.testdir(), 'run');
  const lock = await acquireRunLock(dir);
  await t.rejects(acquireRunLock(dir), { code: 'RUN_BUSY', detail: { pid: process.pid } });
  await lock.release();
  await lock.release();
  const next = await acquireRunLock(dir);
  await lock.release();
  t.equal(existsSync(join(dir, 'lock')), true, 'a released lock cannot release its successor');
  await next.release();
  t.same(readdirSync(dir), []);
});

t.test('exactly one of many concurrent attempts acquires the lock', async (t) => {
  const dir = t.testdir();
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireRunLock(dir)));
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  t.same(readdirSync(dir), ['lock']);
});

t.test('a lock is replaced only when its holder is proven to be dead', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'lock');
  const own = await ownIdentity();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  const alive = { ...own, pid: child.pid ?? 0, started };
  t.equal(await isProvenDead(alive), false);
  for (const [what, holder] of Object.entries({
    alive,
    'another machine': { ...alive, host: 'elsewhere', pid: 999_999 },
    'another namespace': { ...alive, namespace: 'pid:[1]', pid: 999_999 },
  })) {
    writeFileSync(path, JSON.stringify(holder));
    await t.rejects(acquireRunLock(dir), { code: 'RUN_BUSY' }, what);
  }
  for (const garbage of ['', '{}', 'not json']) {
    writeFileSync(path, garbage);
    await t.rejects(acquireRunLock(dir), { code: 'RUN_BUSY' }, 'unreadable');
  }
  for (const [what, holder] of Object.entries({
    'a pid used again': { ...alive, started: '1' },
    'a boot before this one': { ...alive, boot: 'earlier' },
    'a free pid': { ...alive, pid: 4_194_303 },
  })) {
    writeFileSync(path, JSON.stringify(holder));
    const lock = await acquireRunLock(dir);
    t.match(JSON.parse(readFileSync(path, 'utf8')), { pid: process.pid }, what);
    await lock.release();
  }
});

long('exactly one of many concurrent attempts replaces the lock of a dead holder', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'lock');
  const dead = { ...(await ownIdentity()), pid: 4_194_303 };
  for (let round = 0; round < 30; round += 1) {
    writeFileSync(path, JSON.stringify({ ...dead, token: round }));
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => acquireRunLock(dir)));
    const held = results.filter((result) => result.status === 'fulfilled');
    t.equal(held.length, 1);
    t.same(readdirSync(dir), ['lock']);
    await held[0]?.value.release();
  }
});

t.test('a lock whose replacement was killed midway can be acquired again', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'lock');
  const dead = { ...(await ownIdentity()), pid: 4_194_303 };
  const [first, second] = [JSON.stringify({ ...dead, token: 1 }), JSON.stringify({ ...dead, token: 2 })];
  writeFileSync(path, first);
  writeFileSync(`${path}.after-${sha256Hex(first).slice(0, 32)}`, second);
  const lock = await acquireRunLock(dir);
  await t.rejects(acquireRunLock(dir), { code: 'RUN_BUSY', detail: { pid: process.pid } });
  await lock.release();
  t.same(readdirSync(dir), []);
  const alive = JSON.stringify({ ...(await ownIdentity()), token: 3 });
  writeFileSync(path, first);
  writeFileSync(`${path}.after-${sha256Hex(first).slice(0, 32)}`, alive);
  await t.rejects(acquireRunLock(dir), { code: 'RUN_BUSY' });
});

t.test('the next holder removes lock drafts of killed processes', async (t) => {
  const dir = t.testdir();
  const self = await ownIdentity();
  const dead = `lock.${toNamePart({ ...self, pid: 4_194_303 })}+00`;
  const alive = `lock.${toNamePart(self)}+00`;
  for (const name of [dead, alive, 'lock.after-00', 'lock.of-another']) writeFileSync(join(dir, name), '');
  const lock = await acquireRunLock(dir);
  t.same(readdirSync(dir).sort(), ['lock', 'lock.of-another', alive].sort());
  await lock.release();
});
