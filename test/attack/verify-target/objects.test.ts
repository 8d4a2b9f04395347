import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import t from 'tap';
import { sealedPlace } from './place.ts';

const { sample, commit, base, runId, verify } = await sealedPlace();
const { git, root } = sample;
t.teardown(() => sample.remove());

const objects = join(root, '.git/objects');
const pathOf = (id: string, at = objects) => join(at, id.slice(0, 2), id.slice(2));
const blob = git('rev-parse', `${commit}:src/price.js`);
const directory = git('rev-parse', `${commit}:src`);
const tree = git('rev-parse', `${commit}^{tree}`);

// git looks into packs first: what is packed is taken out, so that each object is a file.
git('repack', '-qad');
const packs = join(root, 'packs');
renameSync(join(objects, 'pack'), packs);
mkdirSync(join(objects, 'pack'));
execFileSync('sh', ['-c', 'for pack in packs/*.pack; do git unpack-objects -q < "$pack"; done'], {
  cwd: root,
});
rmSync(packs, { recursive: true });

const loose = (type: string, bytes: Buffer | string) =>
  deflateSync(Buffer.concat([Buffer.from(`${type} ${Buffer.byteLength(bytes)}\0`), Buffer.from(bytes)]));

/** Puts other bytes where git looks for an object (none: removes it), asks, and puts it right again. */
async function spoiling(id: string, file: Buffer | undefined, ask: () => Promise<unknown>): Promise<void> {
  const path = pathOf(id);
  const before = readFileSync(path);
  rmSync(path);
  if (file) writeFileSync(path, file);
  await ask();
  rmSync(path, { force: true });
  writeFileSync(path, before);
}

const check = (of: Awaited<ReturnType<typeof verify>>) =>
  of.data?.checks.find(({ id }: { readonly id: string }) => id === 'tree-objects');
const raw = (type: string, id: string) => execFileSync('git', ['cat-file', type, id], { cwd: root });

t.test('an unmodified commit verifies, and the report counts the hashed files and trees', async (t) => {
  const found = await verify(commit);
  t.equal(found.code, 0);
  const files = new Set(
    git('ls-tree', '-r', commit)
      .split('\n')
      .map((line) => line.split(/\s/)[2]),
  ).size;
  const trees = new Set(
    git('ls-tree', '-rt', commit)
      .split('\n')
      .flatMap((line) => / tree (\w+)/.exec(line)?.[1] ?? []),
  );
  t.match(check(found), { status: 'passed', detail: { files, trees: trees.size + 1 } });
  t.equal(found.data.warnings, undefined);
});

t.test('a file, directory or tree that does not match its id is refused', async (t) => {
  const evil = 'export const price = () => 0;\n';
  const baseTree = raw('tree', git('rev-parse', `${base}^{tree}`));
  for (const [what, id, file] of [
    ['a file', blob, loose('blob', evil)],
    ['a directory', directory, loose('tree', baseTree)],
    ['the tree', tree, loose('tree', baseTree)],
    ['a file of the length it had', blob, loose('blob', Buffer.alloc(raw('blob', blob).length, 'x'))],
    ['a file that is a tree', blob, loose('tree', baseTree)],
    ['an empty tree', tree, loose('tree', '')],
  ] as const)
    await spoiling(id, file, async () => {
      const found = await verify(commit);
      t.equal(found.code, 1, what);
      t.match(check(found), { status: 'failed', code: 'mismatch', detail: { found: [new RegExp(id)] } });
    });
  await spoiling(blob, loose('blob', evil), async () => {
    t.match(git('show', `${commit}:src/price.js`), evil.trim(), 'plain git believes it');
    for (const target of ['main', runId]) t.equal((await verify(target)).code, 1, target);
  });
});

t.test('an object that cannot be read gives a verdict, not an internal error', async (t) => {
  const whole = readFileSync(pathOf(blob));
  const many = loose('blob', Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * n * 31) % 251)));
  for (const [what, file, code] of [
    ['missing', undefined, 3],
    ['empty', Buffer.alloc(0), 3],
    ['garbage', Buffer.alloc(64, 'x'), 3],
    ['cut off', whole.subarray(0, whole.length - 4), 1],
    ['cut off in the middle', many.subarray(0, many.length / 2), 1],
  ] as const)
    await spoiling(blob, file, async () => {
      const found = await verify(commit);
      t.match([1, 3].includes(found.code), true, `${what}: ${found.code} ${found.error?.code}`);
      t.equal(found.code, code, what);
      t.match(JSON.stringify(check(found)), blob, what);
    });
});

t.test('a commit that does not match its id is refused, also as the subject of a bundle', async (t) => {
  const bundle = join(root, 'p.sigstore.json');
  writeFileSync(bundle, git('show', `refs/ai/runs/${runId}:provenance.sigstore.json`));
  t.equal((await verify('./p.sigstore.json')).code, 0);
  const text = raw('commit', commit).toString('utf8');
  await spoiling(commit, loose('commit', text.replace(/^author [^<]*/m, 'author Nobody ')), async () => {
    for (const target of [commit, 'main', runId])
      t.match(await verify(target), { code: 1, error: { details: { check: 'subject-commit' } } }, target);
    t.match(await verify('./p.sigstore.json'), { code: 1, error: { details: { code: 'mismatch' } } });
  });
  // One that names no run is no unsealed commit either.
  await spoiling(commit, loose('commit', text.replace(/^Run-Id: .*\n/m, '')), async () =>
    t.match(await verify(commit), { code: 1, error: { details: { check: 'subject-commit' } } }),
  );
  await spoiling(blob, loose('blob', 'evil'), async () =>
    t.match(await verify('./p.sigstore.json'), { code: 1, error: { details: { code: 'mismatch' } } }),
  );
  rmSync(bundle);
});

t.test('objects from alternates are hashed too, and their use gives a warning', async (t) => {
  const elsewhere = join(sample.home, 'elsewhere', 'objects');
  mkdirSync(dirname(pathOf(blob, elsewhere)), { recursive: true });
  const path = pathOf(blob, elsewhere);
  renameSync(pathOf(blob), path);
  writeFileSync(join(objects, 'info', 'alternates'), `${elsewhere}\n`);
  const borrowed = await verify(commit);
  t.match(borrowed, { code: 0, data: { warnings: [{ code: 'OBJECTS_BORROWED' }] } });
  t.match(borrowed.err, /warning: .*alternates/);
  const before = readFileSync(path);
  rmSync(path);
  writeFileSync(path, loose('blob', 'evil'));
  t.match(await verify(commit), { code: 1, error: { details: { check: 'tree-objects', code: 'mismatch' } } });
  rmSync(path);
  writeFileSync(pathOf(blob), before);
  rmSync(join(objects, 'info', 'alternates'));
});

t.test('a run is rolled back if the repository holds an object that does not match its id', async (t) => {
  const id = git('rev-parse', `${commit}:package.json`);
  const bytes = Buffer.from(
    'diff --git a/src/more.js b/src/more.js\nnew file mode 100644\n--- /dev/null\n+++ b/src/more.js\n@@ -0,0 +1 @@\n+export const more = 1;\n',
  );
  const check = { id: 'quick', kind: 'command', command: 'true', required: true, timeoutSeconds: 30 };
  const spec = {
    metadata: { id: 'sample-intent-0002' },
    intent: { changeType: 'chore' },
    acceptance: { verificationPlan: { fastChecks: [{ ...check, artifactsProduced: ['test-log'] }] } },
  };
  await spoiling(id, loose('blob', '{ "name": "other" }\n'), async () => {
    const { decision } = await sample.run({ source: { kind: 'patch', bytes } }, spec);
    t.match(decision, { type: 'rollback', rationale: /tree-objects failed mismatch/ });
    t.equal(git('rev-parse', 'main'), commit, 'nothing has moved');
  });
});

t.test('a pack with other bytes under an id is refused', async (t) => {
  git('repack', '-qad');
  const pack = join(
    objects,
    'pack',
    execFileSync('ls', [join(objects, 'pack')], { encoding: 'utf8' }).match(/\S+\.idx/)?.[0] ?? '',
  );
  const index = readFileSync(pack);
  // Two files exchange their places: the index says so, and nothing else does.
  const other = git('rev-parse', `${commit}:package.json`);
  const at = (id: string) => index.indexOf(Buffer.from(id, 'hex'));
  const count = index.readUInt32BE(8 + 255 * 4);
  const offsets = 8 + 256 * 4 + count * 24;
  const nth = (id: string) => offsets + ((at(id) - 8 - 256 * 4) / 20) * 4;
  const swapped = Buffer.from(index);
  index.copy(swapped, nth(blob), nth(other), nth(other) + 4);
  index.copy(swapped, nth(other), nth(blob), nth(blob) + 4);
  chmodSync(pack, 0o644);
  writeFileSync(pack, swapped);
  for (const id of [blob, other]) if (existsSync(pathOf(id))) rmSync(pathOf(id));
  t.equal(git('rev-parse', `${commit}:package.json`), other);
  t.match(await verify(commit), { code: 1, error: { details: { check: 'tree-objects', code: 'mismatch' } } });
  writeFileSync(pack, index);
  t.equal((await verify(commit)).code, 0);
});

t.test('every object of an honest repository matches its id', async (t) => {
  const { hashTree } = await import('../../../workspace/git/hash-tree.ts');
  const { openRepository } = await import('../../../workspace/git/repository.ts');
  for (const format of ['sha1', 'sha256']) {
    const place = join(sample.home, `honest-${format}`);
    mkdirSync(place);
    const run = (...args: string[]) =>
      execFileSync('git', args, {
        cwd: place,
        env: { ...process.env, ...sample.env },
        encoding: 'utf8',
      }).trim();
    run('init', '-q', `--object-format=${format}`);
    for (const [name, bytes] of [
      ['empty', ''],
      ['a b\nc', 'x'],
      ['large', Buffer.alloc(3_000_000, 'y')],
      ['same', 'x'],
      ['deep/er/than/that', 'z'],
    ] as const) {
      mkdirSync(dirname(join(place, name)), { recursive: true });
      writeFileSync(join(place, name), bytes);
    }
    appendFileSync(join(place, 'binary'), Buffer.from([0, 255, 10, 13, 0]));
    execFileSync('ln', ['-s', 'same', join(place, 'link')]);
    run('add', '.');
    run('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(format === 'sha1' ? 40 : 64)},module`);
    const written = run('write-tree');
    const repository = await openRepository(place);
    const all = {
      trees: 4,
      files: 6,
      bytes: 3_000_012,
      absent: [],
      wrong: [],
      isCut: false,
      promised: 0,
      borrowed: [],
    };
    t.match(await hashTree(repository, written), { ...all, bytes: Number });
    const empty = run('hash-object', '-t', 'tree', '/dev/null');
    t.match(await hashTree(repository, empty), { trees: 1, files: 0, absent: [], wrong: [] });
  }
});
