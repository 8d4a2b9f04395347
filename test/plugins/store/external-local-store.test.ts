import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { openExternalLocalStore } from '../../../plugins/store/external-local-store.ts';
import { mountTiny } from '../../store/tiny-mount.ts';

const ref = 'refs/ai/runs/one';
const text = (value: string): Buffer => Buffer.from(value);

function open(commonDir: string) {
  const root = join(commonDir, 'writ', 'store');
  const store = openExternalLocalStore({ commonDir }, { clock: systemClock, actorId: 'tester' });
  const put = (files: [string, Buffer][], name = ref) =>
    store.writeTree(name, { message: 'm', files, keepExisting: true });
  const objectAt = (sha256: string): string => join(root, 'objects', sha256.slice(0, 2), sha256.slice(2));
  return { root, store, put, objectAt };
}

function everything(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
}

t.test('stores objects under their digest, readable only by the user', async (t) => {
  const { root, put, objectAt } = open(t.testdir());
  const version = await put([['a', text('content')]]);
  t.equal(readFileSync(objectAt(sha256Hex(text('content'))), 'utf8'), 'content');
  t.match(JSON.parse(readFileSync(objectAt(version), 'utf8')), {
    by: 'tester',
    parents: [],
    files: [{ path: 'a', sha256: sha256Hex(text('content')), size_bytes: 7 }],
  });
  t.equal(readFileSync(join(root, 'refs/ai/runs/one~'), 'utf8'), `${version}\n`);
  for (const path of [root, ...everything(root)]) {
    const found = statSync(path);
    t.equal(found.mode & 0o777, found.isDirectory() ? 0o700 : 0o600, path);
  }
  t.strictSame(readdirSync(join(root, '..', 'tmp')), []);
});

t.test('a damaged, missing or replaced blob is OBJECT_CORRUPT, and other blobs stay readable', async (t) => {
  const { store, put, objectAt } = open(t.testdir());
  const sha256 = sha256Hex(text('content'));
  const path = objectAt(sha256);
  await put([
    ['a', text('content')],
    ['b', text('fine')],
  ]);
  const damages: Readonly<Record<string, () => void>> = {
    damaged: () => writeFileSync(path, 'Content'),
    longer: () => appendFileSync(path, 'x'),
    missing: () => rmSync(path),
    link: () => {
      const elsewhere = join(t.testdirName, 'elsewhere');
      writeFileSync(elsewhere, 'content');
      rmSync(path, { force: true });
      symlinkSync(elsewhere, path);
    },
    directory: () => {
      rmSync(path);
      mkdirSync(path);
    },
  };
  for (const [what, damage] of Object.entries(damages)) {
    damage();
    await t.rejects(store.read(ref, 'a'), { code: 'OBJECT_CORRUPT', detail: { object: sha256 } }, what);
    await t.rejects(store.readMany(ref, ['b', 'a']), {
      code: 'OBJECT_CORRUPT',
      detail: { object: sha256 },
    });
    t.equal((await store.read(ref, 'b'))?.toString(), 'fine');
  }
  rmSync(path, { recursive: true });
  await put([['c', text('content')]]);
  t.equal((await store.read(ref, 'a'))?.toString(), 'content', 'written again, it is whole again');
});

t.test('a damaged version, or a ref that names no version, is OBJECT_CORRUPT', async (t) => {
  const { root, store, put, objectAt } = open(t.testdir());
  const version = await put([['a', text('1')]]);
  const whole = readFileSync(objectAt(version));
  writeFileSync(objectAt(version), whole.toString().replace('"m"', '"n"'));
  await t.rejects(store.list(ref), { code: 'OBJECT_CORRUPT', detail: { object: version } });
  writeFileSync(objectAt(version), whole);
  const file = join(root, 'refs/ai/runs/one~');
  const other = await put([['x', text('{"files":[],"more":1}')]], 'refs/ai/runs/two');
  for (const content of [
    '',
    'main\n',
    `${'f'.repeat(64)}\n`,
    `${sha256Hex(text('{"files":[],"more":1}'))}\n`,
  ]) {
    writeFileSync(file, content);
    await t.rejects(store.list(ref), { code: 'OBJECT_CORRUPT' }, content);
  }
  rmSync(file);
  symlinkSync(join(root, 'refs/ai/runs/two~'), file);
  await t.rejects(store.version(ref), { code: 'OBJECT_CORRUPT' });
  rmSync(file);
  t.equal(await store.version('refs/ai/runs/two'), other);
});

t.test('never reads or writes through a symlinked directory', async (t) => {
  for (const inner of ['.', 'objects', 'refs', 'refs/ai']) {
    const dir = t.testdir({ outside: {} });
    const { root, store, put } = open(dir);
    await put([['a', text('1')]]);
    const target = join(root, inner);
    renameSync(target, join(dir, 'outside', 'moved'));
    symlinkSync(join(dir, 'outside', 'moved'), target);
    const before = everything(join(dir, 'outside')).sort();
    await t.rejects(store.read(ref, 'a'), { code: 'OBJECT_CORRUPT' }, `${inner} read`);
    const files: [string, Buffer][] = [['b', text('2')]];
    await t.rejects(put(files), { code: 'EVIDENCE_WRITE_FAILED' }, `${inner} written`);
    await t.rejects(
      put(files, 'refs/ai/runs/new'),
      { code: 'EVIDENCE_WRITE_FAILED' },
      `${inner} written anew`,
    );
    await t.rejects(
      store.remove(ref),
      { code: /^(?:EVIDENCE_WRITE_FAILED|OBJECT_CORRUPT)$/ },
      `${inner} removed`,
    );
    t.strictSame(everything(join(dir, 'outside')).sort(), before, inner);
  }
});

t.test('removing a ref deletes its content unless another ref still uses it', async (t) => {
  const { root, store, put, objectAt } = open(t.testdir());
  await put([
    ['shared', text('shared')],
    ['own', text('own')],
  ]);
  await put([['shared', text('shared')]], 'refs/ai/runs/two');
  await put([['later', text('later')]], 'refs/ai/runs/two');
  await store.remove(ref);
  t.throws(() => statSync(objectAt(sha256Hex(text('own')))), { code: 'ENOENT' });
  t.equal((await store.read('refs/ai/runs/two', 'shared'))?.toString(), 'shared');
  await store.remove('refs/ai/runs/two');
  t.strictSame(
    everything(join(root, 'objects')).filter((path) => statSync(path).isFile()),
    [],
  );
});

t.test(
  'a write to a read-only directory fails and changes nothing',
  { skip: process.getuid?.() === 0 },
  async (t) => {
    const { root, store, put } = open(t.testdir());
    const first = await put([['a', text('1')]]);
    chmodSync(join(root, 'objects'), 0o500);
    t.teardown(() => chmodSync(join(root, 'objects'), 0o700));
    await t.rejects(put([['b', text('2')]]), { code: 'EVIDENCE_WRITE_FAILED' });
    t.equal(await store.version(ref), first);
  },
);

const mount = mountTiny('2m');
t.teardown(() => mount?.remove());

t.test(
  'a full disk fails the write and loses nothing that was stored',
  { skip: mount ? false : 'mounting a small file system needs more rights' },
  async (t) => {
    if (mount === undefined) return;
    const { store, put } = open(mount.dir);
    const first = await put([['a', text('kept')]]);
    await t.rejects(put([['big', Buffer.alloc(4_000_000, 'x')]]), { code: 'EVIDENCE_WRITE_FAILED' });
    t.strictSame(await store.refs('refs/ai/'), [{ ref, version: first }]);
    t.equal((await store.read(ref, 'a'))?.toString(), 'kept');
    await put([['b', text('room again')]]);
    t.equal((await store.list(ref)).length, 2);
  },
);
