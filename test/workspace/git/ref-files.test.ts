import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readRefFile } from '../../../workspace/git/ref-files.ts';
import { listRefs, readRef } from '../../../workspace/git/refs.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { readHead } from '../../../workspace/git/resolve-commit.ts';
import { makeRepository, type SampleRepository } from './sample-repository.ts';
import { startedChildren } from './started-children.ts';

/** What git answers where the files are not looked at. */
function askingGit({ refsIn: _, ...repo }: Repository): Repository {
  return repo;
}

function gitSays(sample: SampleRepository, ref: string): string | undefined {
  try {
    return sample.git('rev-parse', '--verify', '--quiet', '--end-of-options', ref).trim();
  } catch {
    return undefined;
  }
}

for (const format of ['sha1', 'sha256'])
  t.test(`refs and HEAD are read as git reads them, without a process (${format})`, async (t) => {
    const sample = makeRepository(t.testdir(), `--object-format=${format}`);
    const repo = await openRepository(sample.dir);
    t.same(await readHead(repo), { branch: 'refs/heads/main', commit: undefined }, 'unborn');
    const first = sample.commit({ a: '1' });
    sample.git('branch', 'packed/deep');
    sample.git('tag', '-a', '-m', 'x', 'v1');
    sample.git('branch', 'both');
    sample.git('update-ref', 'refs/heads/gone', first);
    sample.git('pack-refs', '--all');
    const second = sample.commit({ a: '2' });
    sample.git('update-ref', 'refs/heads/both', second);
    sample.git('update-ref', '-d', 'refs/heads/gone');
    sample.git('update-ref', 'refs/heads/loose', second);
    const names = ['main', 'packed/deep', 'both', 'gone', 'loose', 'packed', 'packed/deep/er', 'ain', 'x'];
    using children = startedChildren();
    for (const ref of [...names.map((name) => `refs/heads/${name}`), 'refs/tags/v1']) {
      const said = gitSays(sample, ref);
      const started = children.gits().length;
      t.equal(await readRef(repo, ref), said, ref);
      t.equal(children.gits().length, started, 'no process');
    }
    for (const at of ['main', second, 'loose', 'v1']) {
      sample.git('checkout', '-q', at);
      t.same(await readHead(repo), await readHead(askingGit(repo)), at);
    }
  });

t.test(
  'a prefix without refs is recognized without a process, and other prefixes are listed by git',
  async (t) => {
    const sample = makeRepository(t.testdir());
    const first = sample.commit({ a: '1' });
    const repo = await openRepository(sample.dir);
    using children = startedChildren();
    const listed = async (prefix: string) => {
      const before = children.gits().length;
      const refs = (await listRefs(repo, prefix)).map(({ ref }) => ref);
      t.same(
        refs,
        (await listRefs(askingGit(repo), prefix)).map(({ ref }) => ref),
        'as git says',
      );
      return { refs, gits: children.gits().length - before - 1 };
    };
    t.same(await listed('refs/ai/x/'), { refs: [], gits: 0 });
    sample.git('update-ref', 'refs/ai/x/1', first);
    t.same(await listed('refs/ai/x/'), { refs: ['refs/ai/x/1'], gits: 1 }, 'in a file of its own');
    t.same(await listed('refs/ai/'), { refs: ['refs/ai/x/1'], gits: 1 }, 'further down');
    sample.git('pack-refs', '--all', '--prune');
    t.same(await listed('refs/ai/x/'), { refs: ['refs/ai/x/1'], gits: 1 }, 'packed');
    t.same(await listed('refs/ai/x/1/'), { refs: [], gits: 0 }, 'below a ref is none');
    t.same(await listed('refs/ai/xy/'), { refs: [], gits: 0 }, 'beside it neither');
    sample.git('update-ref', '-d', 'refs/ai/x/1');
    t.same((await listed('refs/ai/x/')).refs, [], 'deleted');
  },
);

t.test('ref files that are not plain are read through git', async (t) => {
  const sample = makeRepository(t.testdir());
  const first = sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir);
  const heads = join(sample.dir, '.git/refs/heads');
  sample.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  symlinkSync('refs/heads/main', join(heads, 'linked'));
  const odd = {
    empty: '',
    text: 'no id\n',
    short: first.slice(0, 39),
    long: `${first}0\n`,
    zero: `${'0'.repeat(40)}\n`,
    upper: `${first.toUpperCase()}\n`,
    unended: first,
    blank: `${first} \n`,
    absent: `${'e'.repeat(40)}\n`,
    huge: `${first}\n${' '.repeat(10_000)}`,
  };
  for (const [name, text] of Object.entries(odd)) writeFileSync(join(heads, name), text);
  for (const name of ['alias', 'linked', ...Object.keys(odd)])
    t.equal(await readRef(repo, `refs/heads/${name}`), gitSays(sample, `refs/heads/${name}`), name);
  for (const name of ['alias', 'linked', 'empty', 'text', 'zero', 'upper', 'huge'])
    t.equal(await readRefFile(repo, `refs/heads/${name}`), undefined, name);
  for (const name of ['alias', 'unended', 'absent', 'none']) {
    sample.git('symbolic-ref', 'HEAD', `refs/heads/${name}`);
    t.same(await readHead(repo), await readHead(askingGit(repo)), name);
  }
  rmSync(join(sample.dir, '.git/HEAD'));
  symlinkSync('refs/heads/main', join(sample.dir, '.git/HEAD'));
  t.same(await readHead(repo), await readHead(askingGit(repo)), 'HEAD as a symlink');
  t.equal((await readHead(repo)).branch, 'refs/heads/main');
});

t.test('a linked working tree shares the branches and has its own HEAD', async (t) => {
  const sample = makeRepository(t.testdir({}));
  const first = sample.commit({ a: '1' });
  const dir = join(sample.dir, 'linked');
  sample.git('worktree', 'add', '-q', '-b', 'other', dir);
  sample.git('-C', dir, 'update-ref', 'refs/worktree/own', first);
  const linked = await openRepository(dir);
  const second = sample.commit({ b: '2' });
  t.equal(await readRef(linked, 'refs/heads/main'), second);
  t.same(await readHead(linked), { branch: 'refs/heads/other', commit: first });
  t.equal(await readRef(linked, 'refs/worktree/own'), first);
  t.equal(await readRef(await openRepository(sample.dir), 'refs/worktree/own'), undefined);
});

t.test('refs that are not stored in files are left to git', async (t) => {
  const sample = makeRepository(t.testdir());
  const first = sample.commit({ a: '1' });
  sample.git('config', 'extensions.refStorage', 'reftable');
  const repo = await openRepository(sample.dir);
  t.equal(repo.refsIn, undefined);
  t.equal(await readRefFile(repo, 'refs/heads/main'), undefined);
  t.equal(
    await readRef(repo, 'refs/heads/main'),
    first,
    'this git does not know the extension, and reads files',
  );
});
