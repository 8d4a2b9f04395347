import t from 'tap';
import { hunkLines } from '../../../readers/diff/read-sections.ts';
import { readBlob } from '../../../workspace/git/read-objects.ts';
import { patchFromRange, resolveRange } from '../../../workspace/patch/read-patch.ts';
import { makeBench } from './patched.ts';

t.test('applies a plain diff with timestamps in any common format', async (t) => {
  const bench = await makeBench({ 'dir/a b.txt': 'one\n', gone: 'x\n' });
  const forms = [
    [
      '--- dir/a b.txt\t2020-01-01 10:00:00.000000000 +0100',
      '+++ dir/a b.txt\t2020-01-02 10:00:00.000000000 +0100',
    ],
    ['--- old/dir/a b.txt\t2020-01-01 10:00:00 +0000', '+++ new/dir/a b.txt\t2020-01-02 10:00:00 +0000'],
    [
      '--- a/dir/a b.txt 2020-01-01 10:00:00.000000000 +0100',
      '+++ b/dir/a b.txt 2020-01-02 10:00:00.000000000 +0100',
    ],
    ['--- a/dir/a b.txt', '+++ b/dir/a b.txt'],
  ];
  for (const [old, next] of forms) {
    const found = await bench.apply(`${old}\n${next}\n@@ -1 +1 @@\n-one\n+two\n`);
    t.match(found.files, [{ path: 'dir/a b.txt', changeType: 'modify' }], `${old}`);
  }
  const made = await bench.apply(
    '--- /dev/null\t1970-01-01 00:00:00 +0000\n+++ b/new\t2020-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+n\n--- a/gone\t2020-01-01 00:00:00 +0000\n+++ /dev/null\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n',
  );
  t.match(made.files, [
    { path: 'gone', changeType: 'delete' },
    { path: 'new', changeType: 'add' },
  ]);
});

t.test('a new file without a path prefix keeps its name as written', async (t) => {
  const bench = await makeBench({ 'keep.txt': 'k\n' });
  for (const path of ['top.txt', 'src/deep/new.txt'])
    t.match((await bench.apply(`--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`)).files, [{ path }]);
});

t.test('applies a series of mails in order, even when several change one file', async (t) => {
  const bench = await makeBench({ 'a.txt': 'one\n' });
  bench.sample.commit({ 'a.txt': 'two\n' }, 'first\n\n--- a/decoy\n+++ is prose');
  bench.sample.commit({ 'a.txt': 'three\n', 'b.txt': 'new\n' }, 'second');
  const mails = bench.sample.git('format-patch', '--stdout', 'HEAD~2');
  t.match(mails, /^From [0-9a-f]{40}/);
  const found = await bench.apply(mails);
  t.equal(found.candidateTree, bench.sample.git('rev-parse', 'HEAD^{tree}').trim());
  t.match(found.files, [{ path: 'a.txt' }, { path: 'b.txt' }]);
});

t.test('a patch can create the first files on an unborn HEAD', async (t) => {
  const bench = await makeBench();
  const found = await bench.apply(
    'diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n',
  );
  t.equal(found.baseCommit, undefined);
  t.match(found.files, [{ path: 'x', changeType: 'add' }]);
});

t.test('repository config and attributes do not change the normal form of a patch', async (t) => {
  const bench = await makeBench({
    'a.py': `${'def f():\n    pass\n'.repeat(20)}`,
    '.gitattributes': '* -diff\n*.py diff=python\n',
  });
  const patch = `--- a/a.py\n+++ b/a.py\n@@ -38,3 +38,4 @@\n     pass\n def f():\n     pass\n+x = 1\n`;
  const first = await bench.apply(patch);
  for (const [key, value] of [
    ['diff.noprefix', 'true'],
    ['diff.algorithm', 'patience'],
    ['diff.renames', 'copies'],
    ['diff.context', '9'],
    ['diff.orderFile', '/dev/null'],
    ['core.quotePath', 'false'],
    ['diff.python.xfuncname', '.*'],
    ['core.autocrlf', 'true'],
    ['apply.whitespace', 'fix'],
  ])
    bench.sample.git('config', key ?? '', value ?? '');
  t.equal((await bench.apply(patch)).digest, first.digest);
});

t.test('keeps trailing white space of added lines', async (t) => {
  const bench = await makeBench({ a: 'x\n' });
  const found = await bench.apply('--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+x  \t\n');
  t.equal((await readBlob(bench.scratch, found.candidateTree, 'a'))?.toString(), 'x  \t\n');
});

t.test('a range gives the change from the merge base to its tip', async (t) => {
  const bench = await makeBench({ a: 'base\n' });
  const base = bench.sample.git('rev-parse', 'HEAD').trim();
  bench.sample.git('checkout', '-q', '-b', 'feature');
  bench.sample.commit({ b: 'feature\n' });
  const tip = bench.sample.commit({ b: 'feature two\n' });
  bench.sample.git('checkout', '-q', 'main');
  bench.sample.commit({ c: 'main moved on\n' });
  const range = await resolveRange(bench.repo, 'main..feature');
  t.equal(range.base.commit, base);
  t.equal(range.tip, tip);
  const found = await patchFromRange(bench.scratch, range);
  t.equal(found.baseCommit, base);
  t.match(found.files, [{ path: 'b', changeType: 'add', linesAdded: 1 }]);
  t.equal(found.files.length, 1);
  for (const text of ['main', 'main...feature', '..feature', 'a..b..c', '--output=x..main'])
    await t.rejects(resolveRange(bench.repo, text), { code: 'REF_INVALID' }, text);
  await t.rejects(resolveRange(bench.repo, 'main..none'), { code: 'REF_NOT_FOUND' });
  await t.rejects(patchFromRange(bench.scratch, await resolveRange(bench.repo, 'main..main')), {
    code: 'PATCH_EMPTY',
  });
  bench.sample.git('checkout', '-q', '--orphan', 'island');
  bench.sample.commit({ z: 'z\n' });
  await t.rejects(resolveRange(bench.repo, 'main..island'), { code: 'PATCH_DOES_NOT_APPLY' });
  bench.sample.git('checkout', '-q', '-b', 'governs', 'main');
  bench.sample.commit({ '.writ/service/token': 'x=1\n' });
  await t.rejects(patchFromRange(bench.scratch, await resolveRange(bench.repo, 'main..governs')), {
    code: 'PATCH_TOUCHES_STATE',
  });
});

t.test('refuses a range whose trees are forged to contain the git directory', async (t) => {
  const bench = await makeBench({ a: 'base\n' });
  const blob = bench.sample.gitInput('x\n', 'hash-object', '-w', '--stdin').trim();
  for (const name of ['.git', '.GIT', 'git~1', '..']) {
    const inner = bench.sample.gitInput(`100644 blob ${blob}\thooks\n`, 'mktree').trim();
    const tree = bench.sample.gitInput(`040000 tree ${inner}\t${name}\n`, 'mktree').trim();
    const commit = bench.sample.git('commit-tree', '-p', 'main', '-m', 'x', tree).trim();
    const range = await resolveRange(bench.repo, `main..${commit}`);
    await t.rejects(patchFromRange(bench.scratch, range), { code: 'PATCH_ESCAPES_REPOSITORY' }, name);
  }
});

t.test('`hunkLines` gives the line number and text of each added line', async (t) => {
  const numbered = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('');
  const bench = await makeBench({ a: numbered, gone: 'x\n', moved: numbered, link: 'plain\n' });
  bench.sample.git('mv', 'moved', 'elsewhere');
  const after = numbered
    .replace('line 3\n', 'three\r\n++ c\n')
    .replace('line 20\n', '')
    .concat('last, without end');
  bench.sample.git('rm', '-q', 'gone', 'link');
  bench.sample.write({ a: after, bin: Buffer.from([0, 1, 2, 10, 43]), link: { link: 'a' } });
  bench.sample.git('add', '-A');
  const found = await bench.apply(bench.sample.git('diff', '--cached', '--binary', 'HEAD'));
  const linesOf = (path: string): readonly (readonly [number, string])[] => {
    const file = found.files.find((candidate) => candidate.path === path);
    if (!file) throw new Error(`no ${path}`);
    return [...hunkLines(found.diff, file)]
      .filter(({ kind }) => kind === 'added')
      .map(({ line, start, end }) => [line, Buffer.from(found.diff.subarray(start, end)).toString()]);
  };
  t.same(linesOf('a'), [
    [3, 'three\r'],
    [4, '++ c'],
    [31, 'last, without end'],
  ]);
  const lines = after.split('\n');
  for (const [line, text] of linesOf('a')) t.equal(lines[line - 1], text);
  t.same(linesOf('gone'), []);
  t.same(linesOf('bin'), []);
  t.same(linesOf('elsewhere'), []);
  t.same(linesOf('link'), [[1, 'a']]);
  for (const file of found.files)
    t.equal(
      file.binary ? 0 : [...hunkLines(found.diff, file)].filter(({ kind }) => kind === 'added').length,
      file.linesAdded,
      file.path,
    );
});
