import t from 'tap';
import { maxPatchBytes } from '../../../workspace/patch/normalise.ts';
import { requirePatchPath, touchesGoverning } from '../../../workspace/patch/patch-paths.ts';
import { type Bench, makeBench } from './patched.ts';

const numbered = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join('');
let bench: Bench;

t.before(async () => {
  bench = await makeBench({
    'src/a.txt': numbered,
    'src/b.txt': 'b\n',
    link: { link: '/tmp' },
    'inner-link': { link: 'src' },
    '.writ/config.toml': 'x = 1\n',
  });
});

const add = (path: string, header = `diff --git a/${path} b/${path}\nnew file mode 100644\n`): string =>
  `${header}--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
const plain = (path: string): string => `--- /dev/null\n+++ ${path}\n@@ -0,0 +1 @@\n+x\n`;

const escaping: readonly (readonly [what: string, patch: string])[] = [
  ['climbs out', add('../outside.txt')],
  ['climbs out in the middle', add('src/../../outside.txt')],
  ['climbs out without a git header', plain('b/../../outside.txt')],
  [
    'climbs out by a quoted name',
    add('x').replaceAll('b/x', '"b/\\056\\056/x"').replace('a/x', '"a/\\056\\056/x"'),
  ],
  ['climbs out by a backslash', plain('b/..\\outside.txt')],
  ['is absolute', plain('/etc/passwd')],
  ['is absolute behind a prefix', plain('b//etc/passwd')],
  ['is absolute on Windows', plain('b/C:\\x')],
  ['writes through a symlink that exists', add('link/x')],
  ['writes through a symlink that stays inside', add('inner-link/x')],
  [
    'writes through a symlink that it makes',
    `diff --git a/new b/new\nnew file mode 120000\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+/tmp\n\\ No newline at end of file\n${add('new/x')}`,
  ],
  ['plants a hook', add('.git/hooks/post-checkout')],
  ['plants a hook without a git header', plain('b/.git/hooks/x')],
  ['plants a hook in a nested repository', add('src/.git/config')],
  ['says .GIT', add('.GIT/config')],
  ['says .git with a trailing blank', add('.git /config')],
  ['says .git with a trailing dot', add('.git./config')],
  ['says .git by its short name', add('GIT~1/config')],
  ['says .git with a stream', add('.git::$INDEX_ALLOCATION/config')],
  ['says .git with an ignored code point', add('.g\u200cit/config')],
  ['says .git behind a backslash', add('x\\.git\\config')],
  [
    'renames into the git directory',
    'diff --git a/src/b.txt b/.git/x\nsimilarity index 100%\nrename from src/b.txt\nrename to .git/x\n',
  ],
  ['copies out', 'diff --git a/src/b.txt b/../x\nsimilarity index 100%\ncopy from src/b.txt\ncopy to ../x\n'],
];

for (const [what, patch] of escaping) {
  t.test(`a patch that ${what} is refused as escaping the repository`, async (t) => {
    await t.rejects(bench.apply(patch), { code: 'PATCH_ESCAPES_REPOSITORY' });
  });
}

t.test('checks patch paths by name for escapes and state files', async (t) => {
  for (const path of [
    '',
    '/x',
    'a//b',
    './x',
    'x/..',
    'C:/x',
    '.git',
    'x/.Git . ./y',
    'git~1',
    '.g\ufeffit/x',
    'x\0y',
  ])
    t.throws(() => requirePatchPath(path), { code: 'PATCH_ESCAPES_REPOSITORY' }, JSON.stringify(path));
  for (const path of [
    '.writ',
    '.writ/x',
    '.WRIT/x',
    'writ~1/x',
    '.writ:x',
    '.writ /x',
    '.writ/Config.toml',
    '.WRIT/config.toml',
    '.writ/config.toml/x',
    '.writ/baseline.json.old',
    '.writ\\config.toml',
    '.writ/agents',
    '.writ/.gitignore',
  ])
    t.throws(() => requirePatchPath(path), { code: 'PATCH_TOUCHES_STATE' }, JSON.stringify(path));
  const files = ['config.toml', 'allowed_signers', 'owners', 'waivers.toml', 'workers', 'baseline.json'];
  const governing = [...files, 'agents/x', 'agents/a/b', 'trust/x'].map((name) => `.writ/${name}`);
  for (const path of ['x', '.gitx/y', 'x.git', 'ünï/ö', '-x', ' x', ...governing])
    t.doesNotThrow(() => requirePatchPath(path), JSON.stringify(path));
});

const touching: readonly (readonly [what: string, patch: string])[] = [
  ['state of one machine', add('.writ/service/token')],
  ['what git ignores there', add('.writ/.gitignore')],
  ['another spelling of it', add('.Writ./agents/x')],
  [
    'it by a rename away',
    'diff --git a/.writ/service/x b/x\nsimilarity index 100%\nrename from .writ/service/x\nrename to x\n',
  ],
];
for (const [what, patch] of touching) {
  t.test(`refuses a patch that touches the state directory (${what})`, async (t) => {
    await t.rejects(bench.apply(patch), { code: 'PATCH_TOUCHES_STATE' });
  });
}

t.test('`touchesGoverning` detects changes to the files that govern writ', async (t) => {
  for (const path of [
    '.writ/allowed_signers',
    '.writ/owners',
    '.writ/waivers.toml',
    '.writ/baseline.json',
    '.writ/agents/x.toml',
  ]) {
    const { files } = await bench.apply(add(path));
    t.match(files, [{ path }]);
    t.ok(touchesGoverning(files), path);
  }
  t.ok(touchesGoverning([{ path: 'x', oldPath: '.writ/config.toml' }]), 'a rename away');
  t.notOk(touchesGoverning((await bench.apply(add('writ/config.toml'))).files));
});

t.test('accepts paths that only resemble a governed path', async (t) => {
  for (const path of [
    '.gitignore',
    '.github/x',
    'writ/x',
    '.writer/x',
    'src/.writ/x',
    '...x',
    'git~10/x',
    'a..b/c',
  ])
    t.match((await bench.apply(add(path))).files, [{ path }]);
});

const change = (from: number, old: string, next: string): string =>
  `@@ -${from},3 +${from},3 @@\n line ${from}\n-${old}\n+${next}\n line ${from + 2}\n`;

t.test('the error for a hunk that does not apply names file, line and hunk', async (t) => {
  const patch = `--- a/src/a.txt\n+++ b/src/a.txt\n${change(1, 'line 2', 'two')}${change(40, 'line 99', 'x')}`;
  await t.rejects(bench.apply(patch), {
    code: 'PATCH_DOES_NOT_APPLY',
    detail: { path: 'src/a.txt', oldStart: 40, hunk: 2, patchLine: 8 },
  });
});

t.test('a patch without its binary data gets a hint to use `git diff --binary`', async (t) => {
  const patch =
    'diff --git a/src/a.txt b/src/a.txt\nindex 1234567..89abcde 100644\nBinary files a/src/a.txt and b/src/a.txt differ\n';
  await t.rejects(bench.apply(patch), { code: 'PATCH_DOES_NOT_APPLY', hints: [/git diff --binary/] });
});

t.test('never applies a hunk with fuzzy context', async (t) => {
  const patch = `--- a/src/a.txt\n+++ b/src/a.txt\n@@ -9,7 +9,7 @@\n line 9\n line 10\n line 11 \n-line 12\n+x\n line 13\n line 14\n line 15\n`;
  await t.rejects(bench.apply(patch), { code: 'PATCH_DOES_NOT_APPLY', detail: { path: 'src/a.txt' } });
});

t.test('refuses a mode change if the file does not have the old mode', async (t) => {
  await t.rejects(bench.apply('diff --git a/src/b.txt b/src/b.txt\nold mode 100755\nnew mode 120000\n'), {
    code: 'PATCH_DOES_NOT_APPLY',
    message: /does not match old mode/,
  });
});

t.test('refuses changes to missing files and new files that already exist', async (t) => {
  await t.rejects(bench.apply('--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-a\n+b\n'), {
    code: 'PATCH_DOES_NOT_APPLY',
    detail: { path: 'none.txt' },
  });
  await t.rejects(bench.apply(add('src/b.txt')), {
    code: 'PATCH_DOES_NOT_APPLY',
    detail: { path: 'src/b.txt' },
  });
  await t.rejects(
    bench.apply('diff --git a/no b/yes\nsimilarity index 100%\nrename from no\nrename to yes\n'),
    {
      code: 'PATCH_DOES_NOT_APPLY',
    },
  );
  await t.rejects(
    bench.apply(
      'diff --git a/src/b.txt b/src/b.txt\nindex 0000000000000000000000000000000000000001..0000000000000000000000000000000000000002 100644\nGIT binary patch\nliteral 1\nIcmZPo0000102TlM\n\nliteral 1\nIcmZPo0000102TlM\n\n',
    ),
    { code: /PATCH_(DOES_NOT_APPLY|MALFORMED)/ },
  );
});

t.test('truncated and damaged patches are malformed, with a line number where git gives one', async (t) => {
  const whole = `--- a/src/a.txt\n+++ b/src/a.txt\n${change(1, 'line 2', 'two')}`;
  await t.rejects(bench.apply(whole.slice(0, -10)), { code: 'PATCH_MALFORMED', detail: { line: 6 } });
  await t.rejects(bench.apply('--- a/src/a.txt\n+++ b/src/a.txt\n@@ garbage @@\n+x\n'), {
    code: 'PATCH_MALFORMED',
  });
  await t.rejects(bench.apply('this is prose\n'), { code: 'PATCH_MALFORMED' });
  await t.rejects(bench.apply(Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 31) % 256))), {
    code: 'PATCH_MALFORMED',
  });
  await t.rejects(
    bench.apply(
      'diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 10\nzcmZ',
    ),
    {
      code: 'PATCH_MALFORMED',
    },
  );
  await t.rejects(bench.apply('Subject: x\nContent-Transfer-Encoding: base64\n\nLS0tIGEveAo=\n'), {
    code: 'PATCH_MALFORMED',
    hints: [/mailinfo/],
  });
});

t.test('a patch without text or without a net change is empty', async (t) => {
  await t.rejects(bench.apply(''), { code: 'PATCH_EMPTY' });
  await t.rejects(bench.apply(' \r\n\n\t'), { code: 'PATCH_EMPTY' });
  const there = `--- a/src/b.txt\n+++ b/src/b.txt\n@@ -1 +1 @@\n-b\n+c\n`;
  const back = `--- a/src/b.txt\n+++ b/src/b.txt\n@@ -1 +1 @@\n-c\n+b\n`;
  await t.rejects(bench.apply(there + back), { code: 'PATCH_EMPTY' });
});

t.test('refuses a patch over the size limit', async (t) => {
  await t.rejects(bench.apply(new Uint8Array(new SharedArrayBuffer(maxPatchBytes + 1))), {
    code: 'INPUT_TOO_LARGE',
  });
});
