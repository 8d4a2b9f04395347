import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { createCommit } from '../../../workspace/git/create-commit.ts';
import { type GitDirectory, gitLine, runGit } from '../../../workspace/git/git.ts';
import { objectId } from '../../../workspace/git/git-object.ts';
import { writeObjects } from '../../../workspace/git/packs.ts';
import { emptyTreeOf, openRepository } from '../../../workspace/git/repository.ts';
import { createScratch } from '../../../workspace/git/scratch.ts';
import { listTree } from '../../../workspace/git/tree.ts';
import { importTree, type TreeLeaf, writeLooseObject, writeTree } from '../../../workspace/git/write-tree.ts';
import { casesOf } from '../../rooms/long.ts';
import { makeRepository } from './sample-repository.ts';
import { startedChildren } from './started-children.ts';

async function open(dir: string, format = 'sha1') {
  const sample = makeRepository(dir, `--object-format=${format}`);
  const repo = await openRepository(dir);
  return { sample, repo, scratch: await createScratch(join(dir, '.git/scratch'), repo) };
}

type Files = readonly (readonly [string, string])[];

/** The same tree by git's own means. */
async function treeByGit(
  { sample, repo }: Awaited<ReturnType<typeof open>>,
  files: Files,
  over?: string,
): Promise<string> {
  const place = { ...repo, env: { ...repo.env, GIT_INDEX_FILE: join(repo.gitDir, 'index-of-git') } };
  const settings = [...repo.settings, ['core.protectNTFS', 'false'] as const];
  const at = { ...place, settings };
  await runGit(at, over === undefined ? ['read-tree', '--empty'] : ['read-tree', over]);
  const lines = files.map(
    ([path, text]) => `100644 ${sample.gitInput(text, 'hash-object', '-w', '--stdin').trim()}\t${path}\0`,
  );
  await runGit(at, ['update-index', '-z', '--replace', '--index-info'], { input: lines.join('') });
  return (await runGit(at, ['write-tree'])).toString().trim();
}

const bytesOf = (files: Files) => files.map(([path, text]) => [path, Buffer.from(text)] as const);

for (const [format] of casesOf({ sha1: undefined, sha256: undefined }, ['sha256']))
  t.test(`a few files form the same tree as with git, without a process (${format})`, async (t) => {
    const place = await open(t.testdir(), format);
    const { sample, scratch, repo } = place;
    const sets: Files[] = [
      [],
      [['a', '1']],
      [
        ['a.b', '1'],
        ['a/b', '2'],
        ['a-b', '3'],
      ],
      [
        ['ü/\u{1f600}', '1'],
        ['ü/\uffee', '2'],
        ['with "quotes"\\ and\nbreak', '3'],
        ['aux/CON/git~1', '4'],
        ['deep/er/and/deep/er', ''],
      ],
      Array.from(
        { length: 90 },
        (_, index) => [`d${index % 7}/f${index % 13}/${index}`, `${index}`] as const,
      ),
    ];
    using children = startedChildren();
    for (const files of sets) {
      const before = children.gits().length;
      const tree = await importTree(scratch, bytesOf(files));
      t.equal(children.gits().length, before);
      t.equal(tree, await treeByGit(place, files));
    }
    sample.write({ tool: { exec: 'x' }, link: { link: 'tool' } });
    sample.commit({ 'dir/sub/a': '1', 'dir/sub/b': '2', 'dir/c': '3', other: '4', 'kept/x': '5' });
    const changes: Files[] = [
      [['dir/sub/a', 'new']],
      [['dir', 'a file now']],
      [['other/below', 'a directory now']],
      [
        ['link/x', '1'],
        ['tool', 'no tool'],
      ],
    ];
    for (const files of changes) {
      const tree = await importTree(scratch, bytesOf(files), 'HEAD', repo);
      t.equal(tree, await treeByGit(place, files, 'HEAD'));
      t.equal((await listTree(scratch, tree)).find(({ path }) => path === 'kept/x')?.sizeBytes, 1);
    }
    t.equal(await importTree(scratch, []), emptyTreeOf(repo));
    // A name that Windows would take for `.git` is one that we may keep.
    const lenient = { ...scratch, settings: [...scratch.settings, ['fsck.hasDotgit', 'ignore'] as const] };
    await runGit(lenient, ['fsck', '--strict']);
  });

t.test('names that are not valid text are kept when files are added to a tree', async (t) => {
  const place = await open(t.testdir());
  const { sample, scratch, repo } = place;
  const blob = sample.gitInput('x', 'hash-object', '-w', '--stdin').trim();
  const entry = Buffer.concat([
    Buffer.from(`100644 blob ${blob}\tlatin-`),
    Buffer.from([0xe9, 0]),
    Buffer.from(''),
  ]);
  const tree = sample.gitInput(entry, 'mktree', '-z').trim();
  const added = await importTree(scratch, [['more', Buffer.from('y')]], tree, repo);
  const listed = await runGit(scratch, ['ls-tree', '-z', '--name-only', added]);
  t.ok(listed.equals(Buffer.concat([Buffer.from('latin-'), Buffer.from([0xe9, 0]), Buffer.from('more\0')])));
});

t.test('objects are written as git writes them, and a large file makes a pack', async (t) => {
  const { sample, scratch } = await open(t.testdir());
  const object = { type: 'blob', bytes: Buffer.from('text\n') } as const;
  const id = await writeLooseObject(scratch, object, true);
  t.equal(await writeLooseObject(scratch, object, false), id);
  t.equal(id, sample.gitInput('text\n', 'hash-object', '--stdin').trim());
  t.equal((await runGit(scratch, ['cat-file', 'blob', id])).toString(), 'text\n');
  using children = startedChildren();
  const tree = await importTree(scratch, [['big', Buffer.alloc(5_000_000, 'x')]]);
  t.ok(children.gits().includes('fast-import'));
  t.match(await listTree(scratch, tree), [{ path: 'big', sizeBytes: 5_000_000 }]);
  await t.rejects(importTree(scratch, [['a/../b', Buffer.from('x')]]), { code: 'INTERNAL' });
});

/** The commit that `git commit-tree` makes of a request. */
function commitByGit(repo: GitDirectory, request: Parameters<typeof createCommit>[1]): Promise<string> {
  const { author, committer } = request;
  const parents = request.parents.flatMap((parent) => ['-p', parent]);
  const oneLine = (text: string): string => text.replaceAll('\n', ' ');
  return gitLine(repo, ['commit-tree', ...parents, '-F', '-', request.tree], {
    input: request.message,
    env: {
      GIT_AUTHOR_NAME: oneLine(author.name),
      GIT_AUTHOR_EMAIL: oneLine(author.email),
      GIT_AUTHOR_DATE: `@${Math.floor(request.authoredAtMs / 1000)} +0000`,
      GIT_COMMITTER_NAME: oneLine(committer.name),
      GIT_COMMITTER_EMAIL: oneLine(committer.email),
      GIT_COMMITTER_DATE: `@${Math.floor(request.committedAtMs / 1000)} +0000`,
    },
  });
}

t.test('a commit is identical to the one that git would make', async (t) => {
  const { sample, scratch, repo } = await open(t.testdir());
  const first = sample.commit({ a: '1' });
  const second = sample.commit({ a: '2' });
  const people = [
    { name: 'Ada', email: 'ada@example.org' },
    { name: ' .Ada, "Countess" of L. ', email: '<ada@example.org>' },
    { name: 'Ada\nLovelace <x>', email: 'ada\n@example.org' },
    { name: 'Ada', email: '' },
    { name: 'Ada 字', email: 'ä@example.org' },
  ];
  for (const who of people)
    for (const parents of [[], [first], [first, second], [first, first]]) {
      const request = {
        tree: sample.git('rev-parse', 'HEAD^{tree}').trim(),
        parents,
        message: 'subject\n\nbody ü\n',
        author: who,
        committer: { name: 'writ', email: 'writ@localhost' },
        authoredAtMs: 1_700_000_000_999,
        committedAtMs: 1_700_000_001_000,
      };
      t.equal(
        await createCommit(scratch, request, false),
        await commitByGit(repo, request),
        JSON.stringify(who),
      );
    }
  const nobody = { name: '<.>', email: 'x' };
  const request = {
    tree: emptyTreeOf(repo),
    parents: [],
    message: 'x',
    author: nobody,
    committer: nobody,
    authoredAtMs: 0,
    committedAtMs: 0,
  };
  await t.rejects(createCommit(scratch, request, false), { code: 'INTERNAL' });
});

t.test('a tree is listed as git lists it, whatever its contents and size', async (t) => {
  const { sample, repo } = await open(t.testdir());
  const first = sample.commit({
    'a.b': '1',
    'a/b': '22',
    'a-b': '333',
    tool: { exec: 'x' },
    l: { link: 'tool' },
  });
  const blob = sample.git('rev-parse', `${first}:a.b`).trim();
  const old = sample
    .gitInput(`100664 blob ${blob}\told\n160000 commit ${first}\tsub\n`, 'mktree', '--missing')
    .trim();
  const many = Array.from({ length: 2500 }, (_, index) => `100644 blob ${blob}\tf${index}\n`).join('');
  const large = sample.gitInput(many, 'mktree').trim();
  const wide = sample.gitInput(
    Array.from({ length: 300 }, (_, index) => `040000 tree ${large}\td${index}\n`).join(''),
    'mktree',
  );
  for (const [tree, under] of [
    ['HEAD', ''],
    ['HEAD', 'a'],
    ['HEAD', 'a/b'],
    ['HEAD', 'none'],
    [old, ''],
    [large, ''],
    [large, 'f7'],
    [wide.trim(), 'd7'],
    [emptyTreeOf(repo), ''],
  ] as const) {
    const said = sample
      .git('ls-tree', '-r', '-l', '-z', tree, ...(under === '' ? [] : [under]))
      .split('\0')
      .filter((line) => line !== '');
    const listed = (await listTree(repo, tree, under)).map(
      ({ path, mode, object, sizeBytes }) => `${mode} ${object} ${sizeBytes} ${path}`,
    );
    const asGit = said.map((line) =>
      line.replace(
        /^(\d+) \w+ (\w+) +(\S+)\t/,
        (_, mode, id, size) => `${mode} ${id} ${size === '-' ? 0 : size} `,
      ),
    );
    t.same(listed, asGit, `${tree} ${under}`);
  }
  for (const tree of ['none', blob, 'f'.repeat(40)])
    await t.rejects(listTree(repo, tree), { code: 'GIT_FAILED' }, tree);
});

t.test('paths to remove are removed first and leave no empty directory', async (t) => {
  const { sample, scratch, repo } = await open(t.testdir());
  const place = { from: scratch, to: scratch };
  const blob = sample.gitInput('x', 'hash-object', '-w', '--stdin').trim();
  const over = await writeTree(
    place,
    new Map(['a/b/c', 'a/d', 'e', 'f/g'].map((path) => [path, blob])),
    undefined,
  );
  const laid = async (leaves: readonly (readonly [string, TreeLeaf])[]) => {
    const tree = await writeTree(place, new Map(leaves), over);
    return (await listTree(scratch, tree)).map(({ path, mode }) => `${path} ${mode}`);
  };
  t.same(await laid([['a/b/c', undefined]]), ['a/d 100644', 'e 100644', 'f/g 100644']);
  const link = { mode: '120000', object: blob };
  t.same(
    await laid([
      ['e/x', link],
      ['e', undefined],
    ]),
    ['a/b/c 100644', 'a/d 100644', 'e/x 120000', 'f/g 100644'],
  );
  t.same(
    await laid([
      ['a', undefined],
      ['e/none', undefined],
      ['f/g/h', undefined],
    ]),
    ['a/b/c 100644', 'a/d 100644', 'e 100644', 'f/g 100644'],
  );
  const all = ['a/b/c', 'a/d', 'e', 'f/g'].map((path) => [path, undefined] as const);
  t.equal(await writeTree(place, new Map(all), over), emptyTreeOf(repo));
});

t.test('many new objects are one pack that git verifies, in both object formats', async (t) => {
  for (const format of ['sha1', 'sha256'] as const) {
    const root = t.testdir({ [format]: {} });
    const dir = join(root, format);
    execFileSync('git', ['init', '--quiet', '--bare', `--object-format=${format}`, dir]);
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' });
    const sizes = [
      0,
      1,
      15,
      16,
      2047,
      2048,
      70_000,
      300_000,
      ...Array.from({ length: 20 }, (_, n) => n + 100),
    ];
    const objects = new Map(
      sizes.map((size) => {
        const bytes = Buffer.alloc(size, `${size} bytes\n`);
        return [objectId(format, 'blob', bytes), { type: 'blob', bytes } as const];
      }),
    );
    await writeObjects({ objectsDir: join(dir, 'objects'), objectFormat: format }, objects);
    git('fsck', '--strict', '--full');
    t.match(git('count-objects', '-v'), new RegExp(`count: 0\n[^]*in-pack: ${objects.size}\npacks: 1\n`));
    for (const [id, { bytes }] of objects)
      t.ok(
        execFileSync('git', ['-C', dir, 'cat-file', 'blob', id]).equals(bytes),
        `${format} ${bytes.length}`,
      );
    await writeObjects({ objectsDir: join(dir, 'objects'), objectFormat: format }, objects);
    t.match(git('count-objects', '-v'), 'packs: 1', 'the same objects make the same pack');
  }
});
