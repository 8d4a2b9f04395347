import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  openPrivateDirectory,
  readPrivateFile,
  removeOwnFile,
  writePrivateFile,
} from '../../http/private-files.ts';

function openBox(t: Test): string {
  const box = realpathSync(mkdtempSync(join(tmpdir(), 'writ-private-')));
  t.teardown(() => rmSync(box, { recursive: true, force: true }));
  return box;
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;
const unsafe = { code: 'PRIVATE_FILE_UNSAFE' };
const canChangeOwner = process.getuid?.() === 0;

t.test('creates a private directory that only its owner can enter', async (t) => {
  const box = openBox(t);
  const path = await openPrivateDirectory(box, ['.writ', 'service']);
  t.equal(path, join(box, '.writ', 'service'));
  t.equal(modeOf(path), 0o700);
  writeFileSync(join(path, 'kept'), '');
  chmodSync(path, 0o755);
  await openPrivateDirectory(box, ['.writ', 'service']);
  t.equal(modeOf(path), 0o700, 'one that others could enter is closed');
  t.strictSame(readdirSync(path), ['kept']);
});

t.test('refuses a symlink or file in place of the directory and leaves it as it is', async (t) => {
  for (const segments of [['a'], ['a', 'b'], ['b', 'a']]) {
    for (const make of [
      (path: string, box: string) => symlinkSync(join(box, 'elsewhere'), path),
      (path: string, box: string) => symlinkSync(join(box, 'none'), path),
      (path: string) => symlinkSync('.', path),
      (path: string) => writeFileSync(path, 'x'),
    ]) {
      const box = openBox(t);
      mkdirSync(join(box, 'elsewhere'));
      const path = join(box, ...segments.slice(0, segments.indexOf('a') + 1));
      mkdirSync(join(path, '..'), { recursive: true });
      make(path, box);
      await t.rejects(openPrivateDirectory(box, segments), { ...unsafe, detail: { path } });
      t.strictSame(readdirSync(join(box, 'elsewhere')), [], 'nothing is made where it leads');
      t.notOk(existsSync(join(box, 'none')));
    }
  }
});

t.test(
  'a directory of another user is refused',
  { skip: canChangeOwner ? false : 'needs root' },
  async (t) => {
    const box = openBox(t);
    mkdirSync(join(box, 'a', 'b'), { recursive: true });
    chownSync(join(box, 'a'), 65_534, 65_534);
    await t.rejects(openPrivateDirectory(box, ['a', 'b']), unsafe);
    chownSync(join(box, 'a'), 0, 0);
    chownSync(join(box, 'a', 'b'), 65_534, 65_534);
    await t.rejects(openPrivateDirectory(box, ['a', 'b']), unsafe);
  },
);

t.test('writes a private file with mode 600 and replaces a symlink without following it', async (t) => {
  const box = openBox(t);
  const path = join(box, 'file');
  await writePrivateFile(path, 'one\n');
  t.equal(readFileSync(path, 'utf8'), 'one\n');
  t.equal(modeOf(path), 0o600);
  chmodSync(path, 0o666);
  await writePrivateFile(path, 'two\n');
  t.equal(modeOf(path), 0o600);
  const target = join(box, 'target');
  writeFileSync(target, 'kept');
  rmSync(path);
  symlinkSync(target, path);
  await writePrivateFile(path, 'three\n');
  t.ok(lstatSync(path).isFile());
  t.equal(readFileSync(target, 'utf8'), 'kept', 'a link is not written through');
  t.strictSame(readdirSync(box), ['file', 'target'], 'no draft is left');
  mkdirSync(join(box, 'directory'));
  await t.rejects(writePrivateFile(join(box, 'directory'), 'x'), unsafe);
  await t.rejects(writePrivateFile(join(box, 'none', 'file'), 'x'), unsafe);
  t.strictSame(readdirSync(box), ['directory', 'file', 'target']);
});

t.test('reads a private file of up to 16 KiB and returns undefined if there is none', async (t) => {
  const box = openBox(t);
  const path = join(box, 'file');
  t.equal(await readPrivateFile(path), undefined, 'none is no fault');
  t.equal(await readPrivateFile(join(box, 'none', 'file')), undefined);
  writeFileSync(path, 'x'.repeat(16 * 1024), { mode: 0o600 });
  t.equal((await readPrivateFile(path))?.length, 16 * 1024);
  t.equal(await readPrivateFile(join(path, 'below')), undefined);
});

t.test('refuses symlinks, special files, files open to others and files that are too large', async (t) => {
  const box = openBox(t);
  const path = join(box, 'file');
  const reasons: unknown[] = [];
  const judge = async (): Promise<void> => {
    const fault = await readPrivateFile(path).then(
      () => undefined,
      (fault: { readonly code: string; readonly detail: { readonly reason: string } }) => fault,
    );
    t.equal(fault?.code, 'PRIVATE_FILE_UNSAFE');
    reasons.push(fault?.detail.reason);
    rmSync(path, { recursive: true });
  };
  writeFileSync(join(box, 'target'), 'secret', { mode: 0o600 });
  symlinkSync('target', path);
  await judge();
  symlinkSync('/dev/zero', path);
  await judge();
  execFileSync('mkfifo', [path]);
  await judge();
  mkdirSync(path);
  await judge();
  for (const mode of [0o644, 0o620, 0o602, 0o604, 0o610]) {
    writeFileSync(path, 'x');
    chmodSync(path, mode);
    await judge();
  }
  writeFileSync(path, 'x'.repeat(16 * 1024 + 1), { mode: 0o600 });
  await judge();
  t.strictSame(reasons, [
    'it is a symbolic link',
    'it is a symbolic link',
    'it is not a regular file',
    'it is not a regular file',
    'others have rights to it (mode 644)',
    'others have rights to it (mode 620)',
    'others have rights to it (mode 602)',
    'others have rights to it (mode 604)',
    'others have rights to it (mode 610)',
    'it has 16385 octets, expected at most 16384',
  ]);
});

t.test('a file of another user is refused', { skip: canChangeOwner ? false : 'needs root' }, async (t) => {
  const path = join(openBox(t), 'file');
  writeFileSync(path, 'x', { mode: 0o600 });
  chownSync(path, 65_534, 65_534);
  await t.rejects(readPrivateFile(path), { ...unsafe, detail: { reason: 'it belongs to user 65534' } });
});

t.test('removes a file only if it still has the content that was written', async (t) => {
  const box = openBox(t);
  const path = join(box, 'file');
  await removeOwnFile(path, 'ours');
  await writePrivateFile(path, 'another’s');
  await removeOwnFile(path, 'ours');
  t.equal(readFileSync(path, 'utf8'), 'another’s');
  rmSync(path);
  writeFileSync(join(box, 'target'), 'ours', { mode: 0o600 });
  symlinkSync('target', path);
  await removeOwnFile(path, 'ours');
  t.ok(lstatSync(path).isSymbolicLink(), 'a link to the same text is not ours');
  rmSync(path);
  await writePrivateFile(path, 'ours');
  await removeOwnFile(path, 'ours');
  t.notOk(existsSync(path));
  t.ok(statSync(join(box, 'target')).isFile());
});
