import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { disprovable, hasPassed, keepPassed } from '../../../plugins/sandbox/kept-probe.ts';

delete process.env.XDG_CACHE_HOME;
const onLinux = { skip: process.platform === 'linux' ? false : 'namespaces are read from /proc' };

function formIn(home: string) {
  return {
    name: 'bubblewrap',
    facts: { path: process.env.PATH ?? '', home, execPath: process.execPath },
    words: ['--unshare-net'],
  };
}

t.test('a passed probe is kept for the same sandbox alone', onLinux, async (t) => {
  const form = formIn(t.testdir());
  t.equal(await hasPassed(form), false, 'nothing is kept yet');
  await keepPassed(form);
  t.equal(await hasPassed(form), true);
  t.equal(await hasPassed({ ...form, words: [] }), false);
  t.equal(await hasPassed({ ...form, name: 'unshare' }), false);
  t.equal(await hasPassed({ ...form, facts: { ...form.facts, path: '/usr/bin' } }), false);
  const program = join(t.testdirName, 'bwrap-of-ours');
  writeFileSync(program, '1', { mode: 0o755 });
  const own = { ...form, facts: { ...form.facts, execPath: program } };
  await keepPassed(own);
  t.equal(await hasPassed(own), true);
  renameSync(program, `${program}-before`);
  writeFileSync(program, '1', { mode: 0o755 });
  t.equal(await hasPassed(own), false, 'a program of the same name is another one');
});

t.test('a sandbox that could not be set up is not believed any longer', onLinux, async (t) => {
  const form = formIn(t.testdir());
  await keepPassed(form);
  const broken = (code: 'SANDBOX_FAILED' | 'SANDBOX_UNSAFE') =>
    disprovable(form, Promise.reject(new WritError(code)));
  await t.rejects(broken('SANDBOX_UNSAFE'), { code: 'SANDBOX_UNSAFE' });
  t.equal(await hasPassed(form), true, 'a request that was refused shows nothing about the sandbox');
  await t.rejects(broken('SANDBOX_FAILED'), { code: 'SANDBOX_FAILED' });
  t.equal(await hasPassed(form), false);
  await t.rejects(broken('SANDBOX_FAILED'), { code: 'SANDBOX_FAILED' }, 'nothing is kept');
});

t.test(
  'what another user could have written, or what is older than an hour, is not believed',
  onLinux,
  async (t) => {
    const form = formIn(t.testdir());
    const directory = join(t.testdirName, '.cache/writ/probes');
    const file = join(directory, 'bubblewrap');
    await keepPassed(form);
    const kept = readFileSync(file, 'utf8');
    t.equal(statSync(directory).mode & 0o777, 0o700);
    t.equal(statSync(file).mode & 0o777, 0o600);
    const aged = (ms: number): string => `${systemClock.now() - ms} ${kept.slice(14)}`;
    const cases: Readonly<Record<string, () => void>> = {
      'an hour old': () => writeFileSync(file, aged(3_600_000)),
      'from the future': () => writeFileSync(file, aged(-60_000)),
      'cut off': () => writeFileSync(file, kept.slice(0, -2)),
      'with more lines': () => writeFileSync(file, kept + kept),
      'of another digest': () => writeFileSync(file, `${kept.slice(0, 14)}${'0'.repeat(64)}\n`),
      'readable by others': () => chmodSync(file, 0o644),
      'in a directory that others enter': () => chmodSync(directory, 0o755),
      'a link': () => {
        renameSync(file, `${file}-elsewhere`);
      },
      'in a directory that is a link': () => {
        renameSync(directory, `${directory}-elsewhere`);
      },
      'a directory': () => {
        rmSync(file);
        mkdirSync(file);
      },
    };
    for (const [how, spoil] of Object.entries(cases)) {
      rmSync(join(t.testdirName, '.cache'), { recursive: true });
      await keepPassed(form);
      t.equal(await hasPassed(form), true);
      spoil();
      t.equal(await hasPassed(form), false, how);
    }
    rmSync(join(t.testdirName, '.cache'), { recursive: true });
    writeFileSync(join(t.testdirName, '.cache'), '');
    await keepPassed(form);
    t.equal(await hasPassed(form), false, 'a place that cannot be made costs nothing but time');
  },
);
