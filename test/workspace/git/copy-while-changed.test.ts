import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  changesBetween,
  copyEntry,
  copyLimits,
  copyWorkTree,
  makeDirectory,
  statesIn,
  ticksAfter,
} from '../../../workspace/git/copy-work-tree.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';

const { signal } = new AbortController();
const [memory, tmpfs] = ['/dev/shm', 0x01021994];
const noMemory = existsSync(memory) && statfsSync(memory).type === tmpfs ? false : 'no tmpfs is mounted here';
const files = { d: { a: 'own' }, outside: { a: 'a secret' } };

/** Copies `box/d/a` to `box/copy` while somebody does something between each look at it and its opening. */
async function copyWhile(box: string, meanwhile: (look: number) => void) {
  let looks = 0;
  const isKnown = (): boolean => {
    looks += 1;
    meanwhile(looks);
    return false;
  };
  const [source, copy] = ['d/a', 'copy'].map((name) => Buffer.from(join(box, name))) as [Buffer, Buffer];
  return copyEntry(source, copy, { isKnown, admit: () => {} });
}

const linux = process.platform === 'linux' ? false : 'the kernel does not say where an open file lies';

t.test('a symlink or pipe that replaces a file during the copy is not followed', async (t) => {
  const box = t.testdir(files);
  const file = join(box, 'd', 'a');
  const copy = join(box, 'copy');
  const once = (act: () => void) => (look: number) => {
    if (look === 1) act();
  };
  const linked = once(() => {
    rmSync(file);
    symlinkSync('../outside/a', file);
  });
  t.match(await copyWhile(box, linked), { isDirectory: false });
  t.equal(readlinkSync(copy), '../outside/a', 'a link is copied as a link');
  rmSync(file);
  writeFileSync(file, 'own');
  await copyWhile(box, () => {});
  t.equal(readFileSync(copy, 'utf8'), 'own', 'what stood there is gone');
  t.equal(readFileSync(join(box, 'outside', 'a'), 'utf8'), 'a secret', 'and is not written through');
  t.equal(
    await copyWhile(
      box,
      once(() => rmSync(file)),
    ),
    undefined,
    'it is gone',
  );
  writeFileSync(file, 'own');
  const piped = once(() => {
    rmSync(file);
    execFileSync('mkfifo', [file]);
  });
  t.equal(await copyWhile(box, piped), undefined, 'nobody waits for a pipe');
});

t.test(
  'a directory that is replaced by a symlink during the copy is not followed',
  { skip: linux },
  async (t) => {
    const box = t.testdir(files);
    const swapped = (look: number): void => {
      if (look > 1) return;
      renameSync(join(box, 'd'), join(box, 'before'));
      symlinkSync('outside', join(box, 'd'));
    };
    await t.rejects(copyWhile(box, swapped), { code: 'ESTALE' });
    t.notOk(existsSync(join(box, 'copy')));
  },
);

t.test('a symlink in the copy is replaced by a real directory', async (t) => {
  const box = t.testdir({ ...files, to: {} });
  const made = join(box, 'to', 'd');
  symlinkSync('../outside', made);
  await makeDirectory(Buffer.from(made));
  t.ok(lstatSync(made).isDirectory());
  t.strictSame(readdirSync(made), []);
  t.strictSame(readdirSync(join(box, 'outside')), ['a']);
});

t.test('files that cannot be copied are listed, and the rest is copied', async (t) => {
  const dir = join(t.testdir(), 'repository');
  const sample = makeRepository(dir);
  const name = `${'n'.repeat(200)}/`.repeat(10);
  sample.commit({ [`${name}f`]: '1', a: '1' });
  const to = join(dir, '..', `${'t'.repeat(200)}/`.repeat(11));
  mkdirSync(to, { recursive: true });
  const { leftOut } = await copyWorkTree(await openRepository(dir), to, signal);
  t.strictSame(leftOut, [`${name}f`]);
  t.equal(readFileSync(join(to, 'a'), 'utf8'), '1');
});

t.test('a failed copy has stopped all its work when it rejects', async (t) => {
  const dir = join(t.testdir(), 'repository');
  const sample = makeRepository(dir);
  // As many as are copied at once, but one.
  for (let at = 0; at < 15; at += 1) sample.write({ [`f${at}`]: 'x'.repeat(2_000_000) });
  writeFileSync(join(dir, 'last'), '');
  truncateSync(join(dir, 'last'), copyLimits.bytes + 1);
  const repository = await openRepository(dir);
  const [to, other] = ['to', 'other'].map((name) => join(dir, '..', name)) as [string, string];
  for (const place of [to, other]) mkdirSync(place);
  const copied = () => readdirSync(to).map((name) => [name, lstatSync(join(to, name)).size]);
  let left: unknown;
  const failing = copyWorkTree(repository, to, signal).catch((fault: unknown) => {
    left = copied();
    throw fault;
  });
  await t.rejects(failing, { code: 'WORKTREE_TOO_LARGE' });
  rmSync(join(dir, 'last'));
  await copyWorkTree(repository, other, signal);
  t.strictSame(copied(), left);
});

t.test('a git directory with another name in the working tree is not copied', async (t) => {
  const dir = join(t.testdir(), 'repository');
  const sample = makeRepository(dir);
  sample.commit({ a: '1', 'metadata/b': '2' });
  sample.git('init', '-q', `--separate-git-dir=${join(dir, 'meta')}`);
  sample.write({ 'meta/writ/code/token': 'a secret' });
  const to = join(dir, '..', 'to');
  mkdirSync(to);
  await copyWorkTree(await openRepository(dir), to, signal);
  t.strictSame(readdirSync(to).sort(), ['a', 'metadata']);
});

t.test('permissions that a command gave the copy are reset on the next copy', async (t) => {
  const dir = join(t.testdir(), 'repository');
  makeRepository(dir).commit({ a: '1' });
  const to = join(dir, '..', 'to');
  mkdirSync(to, { mode: 0o755 });
  const repository = await openRepository(dir);
  for (const mode of [0o555, 0, 0o1777]) {
    const last = await copyWorkTree(repository, to, signal);
    const { mode: made } = lstatSync(to);
    chmodSync(to, mode);
    await copyWorkTree(repository, to, signal, { last });
    t.equal(lstatSync(to).mode, made);
    t.equal(readFileSync(join(to, 'a'), 'utf8'), '1');
  }
});

t.test(
  'on tmpfs, where mapped writes leave no trace, files are copied again',
  { skip: noMemory },
  async (t) => {
    const box = mkdtempSync(join(memory, 'writ-'));
    t.teardown(() => rmSync(box, { recursive: true }));
    const dir = join(box, 'repository');
    makeRepository(dir).commit({ a: '1' });
    const to = join(box, 'to');
    mkdirSync(to);
    const repository = await openRepository(dir);
    const last = await copyWorkTree(repository, to, signal, { tickNs: 0n });
    // As long as it is open no other file has its number.
    const held = openSync(join(to, 'a'), 'r');
    t.teardown(() => closeSync(held));
    await copyWorkTree(repository, to, signal, { last, tickNs: 0n });
    t.not(lstatSync(join(to, 'a')).ino, fstatSync(held).ino);
  },
);

t.test('a clock that does not tick is not waited for', async (t) => {
  const box = t.testdir();
  t.ok(await ticksAfter(box, lstatSync(box, { bigint: true }).ctimeNs));
  t.notOk(await ticksAfter(box, lstatSync(box, { bigint: true }).ctimeNs + 10n ** 12n));
});

t.test('a scan stops at its limits and reports no changes beyond them', async (t) => {
  const box = t.testdir({ a: '', b: '', c: { d: '' } });
  const root = Buffer.from(`${box}/`);
  const whole = await statesIn(root);
  t.strictSame([whole.isWhole, whole.states.size], [true, 4]);
  for (const most of [
    { entries: 2, octets: 100 },
    { entries: 100, octets: 2 },
  ]) {
    const some = await statesIn(root, most);
    t.strictSame([some.isWhole, some.states.size], [false, 2]);
    t.strictSame(changesBetween(whole, some, 10), []);
    t.strictSame(changesBetween(some, whole, 10), []);
  }
});
