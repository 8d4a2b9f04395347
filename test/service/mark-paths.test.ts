import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isWritError } from '../../core/base/errors.ts';
import { diskIdentity, openMarkEnvironment } from '../../service/mark-walk.ts';
import { toMarks } from '../../service/run-service.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { makeRepository, type SampleRepository } from '../workspace/git/sample-repository.ts';

interface Site {
  /** Holds `repo` and `outside`. */
  readonly base: string;
  readonly sample: SampleRepository;
  /** The marks of a batch, or `reason@index` of its refusal. */
  marks(...paths: readonly string[]): Promise<readonly string[] | string>;
}

async function siteOf(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<Site> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'mark-')));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  const sample = makeRepository(join(base, 'repo'));
  for (const [key, value] of Object.entries(settings)) sample.git('config', key, value);
  sample.write({ 'src/deep/a.ts': 'a', 'lib/b.ts': 'b', README: 'r' });
  mkdirSync(join(base, 'outside/dir'), { recursive: true });
  return { base, sample, marks: await marksFrom(sample.dir) };
}

async function marksFrom(root: string): Promise<Site['marks']> {
  const ground = await openMarkEnvironment(await openRepository(root));
  return async (...paths) => {
    try {
      return await toMarks(ground, paths);
    } catch (fault) {
      if (!isWritError(fault, 'PATH_ESCAPES_REPOSITORY')) throw fault;
      return `${String(fault.detail.reason)}@${String(fault.detail.index)}`;
    }
  };
}

t.test('sorts marks by code units without duplicates, and an empty batch has none', async (t) => {
  const { marks } = await siteOf(t);
  t.same(await marks('src/b', 'Z', 'a', 'src/b', './src//b', 'src-x'), ['Z', 'a', 'src-x', 'src/b']);
  // By code points U+FFFD would come first.
  t.same(await marks('\ufffd', '\u{1f600}', 'é'), ['é', '\u{1f600}', '\ufffd']);
  t.same(await marks(), []);
});

t.test('removes redundant dots and slashes and marks the root as `.`', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  t.same(await marks('./src//deep/'), ['src/deep']);
  t.same(await marks('src/.', 'src/./', 'src///', './src/./.'), ['src']);
  t.same(await marks('.', './', './/.', 'src/..', sample.dir, `${sample.dir}/`), ['.']);
  t.same(await marks('...', '.hidden', 'a..', '..a/b'), ['...', '..a/b', '.hidden', 'a..']);
  t.equal(await marks('/'), 'outside@0');
  t.equal(await marks(base), 'outside@0');
});

t.test('an empty path refuses the batch, while a blank one is a name', async (t) => {
  const { marks } = await siteOf(t);
  t.equal(await marks('README', ''), 'empty@1');
  t.same(await marks(' '), [' ']);
});

t.test('a NUL refuses the batch, while other control characters are part of a name', async (t) => {
  const { marks } = await siteOf(t);
  for (const path of ['\0', 'a\0', 'src/\0/b', 'README\0.txt']) t.equal(await marks('x', path), 'nul@1');
  const odd = ['\n', '\u0001', '-rf', 'a\tb', 'line\nbreak/x', '\u007f', '\u202e'];
  t.same(await marks(...odd), [...odd].sort());
});

t.test('a lone surrogate refuses the batch, while a whole pair is accepted', async (t) => {
  const { marks } = await siteOf(t);
  for (const path of ['\ud800', 'a/\udc00/b', '\udc00\ud800']) t.equal(await marks('x', path), 'not-utf8@1');
  t.same(await marks('\ud83d\ude00'), ['\u{1f600}']);
});

t.test('`..` may move within the root but never leave it', async (t) => {
  const { sample, marks } = await siteOf(t);
  t.same(await marks('src/../lib/b.ts', 'src/deep/../../README'), ['README', 'lib/b.ts']);
  const back = ['..', '../x', 'src/../../x', '../repo/README', './../repo', 'src/deep/../../..'];
  for (const path of back) t.equal(await marks('README', path), 'outside@1', path);
  t.equal(await marks(`${sample.dir}/../repo/README`), 'outside@0');
  t.equal(await marks(`${sample.dir}/../outside/x`), 'outside@0');
  t.same(await marks(`/usr/..${sample.dir}/README`), ['README'], 'before the root nothing was left');
});

t.test('below a path that is not a directory, names and `..` are resolved as text', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  symlinkSync(join(base, 'outside'), join(sample.dir, 'out'));
  t.same(await marks('new/dir/../x', 'new/../y'), ['new/x', 'y']);
  t.same(await marks('README/x', 'README/../z'), ['README/x', 'z'], 'a file as a directory');
  for (const path of ['new/../../x', 'new/a/../../../x', 'README/../../x'])
    t.equal(await marks(path), 'outside@0', path);
  t.equal(await marks('new/../out/x'), 'outside@0', 'back on the disk, links count again');
  const long = 'n'.repeat(300);
  t.same(await marks(`${long}/x`, `${long}/../w`), [`${long}/x`, 'w'], 'longer than a name can be');
  const deep = `${'d/'.repeat(4000)}x`;
  t.same(await marks(deep), [deep], 'longer than a path can be');
});

t.test('an absolute path inside is relative to the root, also through a symlink to it', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  symlinkSync(sample.dir, join(base, 'alias'));
  symlinkSync(base, join(base, 'up'));
  t.same(await marks(`${sample.dir}/src/x`, `/${sample.dir}//lib/./y`), ['lib/y', 'src/x']);
  t.same(await marks(join(base, 'alias/src/x'), join(base, 'up/up/alias/lib/y')), ['lib/y', 'src/x']);
  t.same(await marks(join(base, 'alias')), ['.'], 'outside there is no link that git could track');
  t.same(await marks(`${sample.dir}/gone/x`), ['gone/x']);
});

t.test('an absolute path outside refuses the batch', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  const paths = [
    '/etc/passwd',
    `${base}/outside/x`,
    `${sample.dir}x/README`,
    `${base}/gone/x`,
    '//etc',
    '/..',
  ];
  for (const path of paths) t.equal(await marks('README', path), 'outside@1', path);
});

t.test('resolves a symlink in a parent directory but not in the last name', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.write({
    link: { link: 'src/deep' },
    absolute: { link: join(sample.dir, 'lib') },
    round: { link: '../repo/lib' },
    out: { link: join(base, 'outside') },
    file: { link: 'src/deep/a.ts' },
  });
  t.same(await marks('link/x', 'absolute/y', 'round/z'), ['lib/y', 'lib/z', 'src/deep/x']);
  t.same(await marks('link', 'link/', 'out', 'out/.'), ['link', 'out'], 'the link itself is tracked');
  t.same(await marks('file/x'), ['src/deep/a.ts/x']);
  for (const path of ['out/x', 'out/dir/x', 'out/new/x', 'out//x', `${sample.dir}/out/x`])
    t.equal(await marks('README', path), 'outside@1', path);
});

t.test('`..` after a symlink starts from its target', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.write({ link: { link: 'src/deep' }, self: { link: '.' }, out: { link: join(base, 'outside') } });
  t.same(await marks('link/../x', 'link/..'), ['src', 'src/x']);
  for (const path of ['self/../x', 'out/../x', 'out/../repo/README', 'out/..'])
    t.equal(await marks(path), 'outside@0', path);
});

t.test('a symlink that leads out and back in is evaluated by its final target', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  symlinkSync(join(sample.dir, 'lib'), join(base, 'outside/back'));
  sample.write({ out: { link: join(base, 'outside') }, chain: { link: 'out/back' } });
  t.same(await marks('chain/x', 'out/back/y'), ['lib/x', 'lib/y']);
});

t.test('a symlink to a missing target is followed as far as it leads', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.write({
    soon: { link: 'lib/new/dir' },
    later: { link: 'soon/more' },
    away: { link: join(base, 'gone/dir') },
    over: { link: '../gone' },
    twice: { link: 'away/x' },
  });
  t.same(await marks('soon/x', 'later/y', 'soon/../z'), ['lib/new/dir/more/y', 'lib/new/dir/x', 'lib/new/z']);
  for (const path of ['away/x', 'over/x', 'twice/x']) t.equal(await marks(path), 'outside@0', path);
});

t.test('symlink loops and overlong chains are treated as plain names', async (t) => {
  const { sample, marks } = await siteOf(t);
  sample.write({ self: { link: 'self' }, a: { link: 'b/x' }, b: { link: 'a/x' }, 'c-0': { link: 'lib' } });
  for (let index = 1; index <= 100; index += 1) symlinkSync(`c-${index - 1}`, join(sample.dir, `c-${index}`));
  const long = `${'self/../'.repeat(20_000)}self/y`;
  t.same(await marks('self/x', 'a/x', 'b/x', long), ['a/x', 'b/x', 'self/x', 'self/y']);
  t.same(await marks('c-20/x', 'c-100/x'), ['c-100/x', 'lib/x']);
  t.same(await marks('c-100/x', 'c-20/x'), ['c-100/x', 'lib/x'], 'whatever came before');
});

t.test('a symlink to a name that is not UTF-8 is kept inside and refused outside', async (t) => {
  const { sample, base, marks } = await siteOf(t);
  const raw = (text: string): Buffer => Buffer.from(text, 'latin1');
  for (const directory of [sample.dir, base]) mkdirSync(raw(`${directory}/odd\xff`));
  symlinkSync('lib', raw(`${sample.dir}/plain\xff`));
  symlinkSync(raw('odd\xff'), join(sample.dir, 'in'));
  symlinkSync(raw('../odd\xff'), join(sample.dir, 'out'));
  symlinkSync(raw('plain\xff'), join(sample.dir, 'through'));
  t.same(await marks('in/x', 'through/y'), ['in/x', 'lib/y']);
  t.equal(await marks('out/x'), 'outside@0');
});

t.test('recognises the root by its identity on disk, however its path is written', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  const ground = await openMarkEnvironment(await openRepository(sample.dir));
  // Stands for a file system that takes `outside` for another spelling of `repo`, or a second mount of it.
  const byIdentity = new Map([[diskIdentity(join(base, 'outside')) ?? '', sample.dir]]);
  const alike = { ...ground, trees: () => ({ ...ground.trees(), byIdentity }) };
  t.same(await toMarks(alike, [join(base, 'outside/src/x'), join(base, 'outside')]), ['.', 'src/x']);
  t.equal(await marks(join(base, 'outside/src/x')), 'outside@0');
  const { roots, byIdentity: real } = ground.trees();
  t.same([...real], [[diskIdentity(sample.dir), sample.dir]]);
  t.same([...roots], [sample.dir]);
});

t.test('accepts paths below a directory that cannot be read', async (t) => {
  const { sample, marks } = await siteOf(t);
  chmodSync(join(sample.dir, 'src'), 0);
  t.teardown(() => chmodSync(join(sample.dir, 'src'), 0o755));
  t.same(await marks('src/deep/a.ts', 'src/deep/../x'), ['src/deep/a.ts', 'src/x']);
});

t.test('refuses Windows escapes, while a plain backslash is part of a name', async (t) => {
  const { sample, marks } = await siteOf(t);
  const ways = [
    'C:\\x',
    'c:/x',
    'C:',
    'z:\\',
    '\\\\server\\share',
    '\\x',
    '\\\\?\\C:\\x',
    '..\\..\\x',
    '..\\x',
  ];
  const mixed = ['a\\..\\..\\b', 'src/..\\..\\x', 'src\\../..\\..\\x', './c:/x', `${sample.dir}/..\\x`];
  for (const path of [...ways, ...mixed]) t.equal(await marks('README', path), 'outside@1', path);
  const names = ['a\\..\\b', 'a\\b', 'ab:/x', 'a:b', 'src/C:/x', 'src/\\x', 'x\\', '..\\'.slice(1)];
  t.same(await marks(...names), [...names].sort());
});

t.test('treats text that only looks special as a name', async (t) => {
  const { marks } = await siteOf(t);
  const names = [
    '%2e%2e/%2e%2e/x',
    '%00',
    '~/x',
    '$HOME',
    'file:/x',
    '*',
    '.git/config',
    '.writ/x',
    '．．/x',
  ];
  t.same(await marks(...names), [...names].sort());
});

t.test('names differ by case unless `core.ignorecase` is set', async (t) => {
  const plain = await siteOf(t);
  t.same(await plain.marks('SRC/x', 'src/x', 'LIB/B.ts'), ['LIB/B.ts', 'SRC/x', 'src/x']);
  const { base, sample, marks } = await siteOf(t, { 'core.ignorecase': 'true' });
  mkdirSync(join(sample.dir, 'Ärger'));
  symlinkSync(join(base, 'outside'), join(sample.dir, 'Out'));
  t.same(await marks('SRC/Deep/X', 'src/deep/X', 'äRGER/x'), ['src/deep/X', 'Ärger/x']);
  t.same(await marks('readme', 'README', 'NEW/x'), ['NEW/x', 'README', 'readme'], 'the last name as written');
  t.equal(await marks('OUT/x'), 'outside@0', 'a link is a link however it is spelled');
  mkdirSync(join(sample.dir, 'SRC'));
  t.same(await marks('SRC/x', 'src/x', 'Src/x'), ['SRC/x', 'src/x'], 'both are on the disk');
});

t.test('names differ by Unicode form unless `core.precomposeunicode` is set', async (t) => {
  const [composed, apart] = ['\u00e1', 'a\u0301'];
  const plain = await siteOf(t);
  t.same(await plain.marks(`${composed}/x`, `${apart}/x`, 'a'), ['a', `${apart}/x`, `${composed}/x`]);
  const { marks } = await siteOf(t, { 'core.precomposeunicode': 'true' });
  t.same(await marks(`${composed}/x`, `${apart}/x`, apart, 'a'), ['a', composed, `${composed}/x`]);
});

t.test('an absolute path in a linked worktree is relative to that worktree', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.commit({});
  const [side, nested] = [join(base, 'side'), join(sample.dir, 'trees/in')];
  t.equal(await marks(join(side, 'x')), 'outside@0');
  sample.git('worktree', 'add', '-q', '-b', 'side', side);
  sample.git('worktree', 'add', '-q', '-b', 'in', nested);
  t.same(await marks(join(side, 'x'), join(nested, 'y')), ['x', 'y'], 'added meanwhile');
  t.same(await marks('trees/in/z', 'trees/x', 'trees/in/../w'), ['trees/w', 'trees/x', 'z']);
  t.same(await marks(side, nested, 'trees/in'), ['.']);
  t.equal(await marks('../side/x'), 'outside@0', 'a `..` that leaves is no way there');
  t.equal(await marks(`${side}/../repo/x`), 'outside@0');
  const fromSide = await marksFrom(side);
  t.same(await fromSide('src/a', join(sample.dir, 'lib/b'), join(nested, 'y')), ['lib/b', 'src/a', 'y']);
  sample.git('worktree', 'move', side, join(base, 'moved'));
  t.same(await marks(join(base, 'moved/x')), ['x']);
  t.equal(await marks(join(side, 'x')), 'outside@0', 'moved away');
  sample.git('worktree', 'remove', '--force', join(base, 'moved'));
  mkdirSync(join(base, 'moved'));
  t.equal(await marks(join(base, 'moved/x')), 'outside@0', 'removed');
});

t.test('a directory in place of a linked worktree is refused until the worktree returns', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.commit({});
  const side = join(base, 'side');
  sample.git('worktree', 'add', '-q', '-b', 'side', side);
  renameSync(side, `${side}-away`);
  mkdirSync(side);
  writeFileSync(join(side, '.git'), `gitdir: ${join(sample.dir, '.git')}\n`);
  t.equal(await marks(join(side, 'x')), 'outside@0');
  rmSync(side, { recursive: true });
  renameSync(`${side}-away`, side);
  t.same(await marks(join(side, 'x')), ['x']);
});

t.test('finds the worktrees of a bare repository and a main one named only in the config', async (t) => {
  const { base, sample } = await siteOf(t);
  sample.commit({});
  sample.git('clone', '-q', '--bare', sample.dir, join(base, 'bare.git'));
  for (const name of ['one', 'two'])
    sample.git('-C', join(base, 'bare.git'), 'worktree', 'add', '-q', '-b', name, join(base, name));
  const bare = await marksFrom(join(base, 'one'));
  t.same(await bare('a', join(base, 'two/b')), ['a', 'b']);
  t.equal(await bare(join(base, 'bare.git/config')), 'outside@0');
  const apart = join(base, 'apart');
  makeRepository(apart, `--separate-git-dir=${join(base, 'kept')}`);
  sample.git('-C', apart, 'config', 'core.worktree', apart);
  sample.git('-C', apart, 'commit', '-q', '--allow-empty', '-m', 'x');
  sample.git('-C', apart, 'worktree', 'add', '-q', '-b', 'three', join(base, 'three'));
  t.same(await (await marksFrom(join(base, 'three')))(join(apart, 'x'), 'y'), ['x', 'y']);
});

t.test('a path in a nested repository is kept unchanged', async (t) => {
  const { sample, marks } = await siteOf(t);
  makeRepository(join(sample.dir, 'vendor/inner')).write({ 'a/b': 'x' });
  t.same(await marks('vendor/inner/a/b', join(sample.dir, 'vendor/inner/c')), [
    'vendor/inner/a/b',
    'vendor/inner/c',
  ]);
  const inner = await marksFrom(join(sample.dir, 'vendor/inner'));
  t.same(await inner('a/b'), ['a/b']);
  t.equal(await inner(join(sample.dir, 'README')), 'outside@0');
});

t.test('a refusal reports the index of the first bad path and truncates the path', async (t) => {
  const { sample } = await siteOf(t);
  const ground = await openMarkEnvironment(await openRepository(sample.dir));
  const long = `../${'\u{1f600}'.repeat(5000)}\n${'y'.repeat(50_000)}`;
  const fault = await toMarks(ground, ['ok', long, '', '\0']).catch((thrown: unknown) => thrown);
  if (!isWritError(fault, 'PATH_ESCAPES_REPOSITORY')) throw fault;
  t.same(fault.detail, { index: 1, reason: 'outside' });
  t.ok(fault.message.length < 300, fault.message);
  t.ok(fault.message.isWellFormed());
  t.equal(fault.exitCode, 129);
});

t.test('marking marks again gives the same marks', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.write({
    link: { link: 'src/deep' },
    soon: { link: 'lib/new' },
    out: { link: join(base, 'outside') },
  });
  const parts = [
    '..',
    '.',
    'src',
    'deep',
    'link',
    'soon',
    'out',
    'new',
    'C:',
    '\\x',
    '..\\',
    '',
    'README',
    sample.dir,
  ];
  let kept = 0;
  for (let seed = 1; seed <= 3000; seed += 1) {
    const names: string[] = [];
    for (let rest = seed * 7919; rest > 0; rest = Math.floor(rest / 14)) names.push(parts[rest % 14] ?? '');
    const first = await marks(names.join('/'));
    if (typeof first === 'string') continue;
    kept += 1;
    t.same(await marks(...first), first, names.join('/'));
  }
  t.ok(kept > 300 && kept < 2900, `${kept} kept`);
});

t.test('200 hostile paths leave the repository unchanged', async (t) => {
  const { base, sample, marks } = await siteOf(t);
  sample.commit({
    out: { link: join(base, 'outside') },
    loop: { link: 'loop' },
    away: { link: '../gone/x' },
  });
  const before = pictureOf(base);
  const starts = ['', '/', '../', 'out/', 'loop/', 'away/', 'new/', './', `${sample.dir}/`, 'C:\\'];
  const ends = [
    'x',
    '\0',
    '..',
    '../x',
    '.git/config',
    'a/../../b',
    '\\..\\..',
    '\ud800',
    '*',
    'new/dir/',
    '.',
    '\n',
  ];
  const more = [
    '~',
    '-f',
    '$(touch x)',
    '`touch x`',
    '%2e%2e/x',
    'n'.repeat(70_000),
    'a/'.repeat(5000),
    '|x',
  ];
  const paths = starts.flatMap((start) => [...ends, ...more].map((end) => start + end));
  t.equal(paths.length, 200);
  for (const path of paths) await marks(path);
  await marks(...paths);
  t.same(pictureOf(base), before);
});

t.test('a large batch does not block the event loop and is sorted correctly', async (t) => {
  const { marks } = await siteOf(t);
  const paths = Array.from({ length: 65_000 }, (_, index) => ((index * 7919) % 65_000).toString(36));
  const found = await marks(...paths);
  t.ok((await turnsDuring(marks(...paths, ''))) >= 3, 'while the paths are judged');
  const far = `${'a/'.repeat(130_000)}${'../'.repeat(130_001)}x`;
  t.ok((await turnsDuring(marks(far))) >= 1, 'within one path');
  t.strictSame(found, [...paths].sort());
});

t.test('refuses a batch that symlinks expand beyond the size limit', async (t) => {
  const { sample, marks } = await siteOf(t);
  const deep = Array(15).fill('d'.repeat(250)).join('/');
  mkdirSync(join(sample.dir, deep), { recursive: true });
  symlinkSync(deep, join(sample.dir, 'l'));
  const paths = (count: number) => Array.from({ length: count }, (_, index) => `l/${index}`);
  t.equal((await marks(...paths(500), ...paths(500))).length, 500, 'each counts once');
  await t.rejects(marks(...paths(600)), { code: 'PAYLOAD_TOO_LARGE', detail: { maxBytes: 2 * 1024 * 1024 } });
});

/** How often others came to their turn before it was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns += 1;
    next = setImmediate(count);
  }
  await work;
  clearImmediate(next);
  return turns;
}

/** Every name below, with what it is: kind, mode, time of its last change, content. */
function pictureOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(root, name);
      const stat = lstatSync(path, { bigint: true });
      const content = stat.isSymbolicLink()
        ? readlinkSync(path)
        : stat.isFile()
          ? readFileSync(path).toString('base64')
          : '';
      return `${name} ${stat.mode} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs} ${content}`;
    });
}
