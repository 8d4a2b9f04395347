import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { listRunRefs } from '../../../store/record/list-records.ts';
import { listRefFiles } from '../../../workspace/git/ref-files.ts';
import { openRepository, type Repository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';
import { startedChildren } from './started-children.ts';

const run = /^refs\/ai\/runs\/[^/]+$/;
const inFiles = (repo: Repository) => listRefFiles(repo, (name) => name === 'ai', run);

/** What git answers where the files are not looked at. */
function askingGit({ refsIn: _, ...repo }: Repository): Repository {
  return repo;
}

for (const format of ['sha1', 'sha256'])
  t.test(`runs are listed from ref files as git lists them, without a process (${format})`, async (t) => {
    const sample = makeRepository(t.testdir(), `--object-format=${format}`);
    const repo = await openRepository(sample.dir);
    t.same(await inFiles(repo), [], 'none yet');
    const first = sample.commit({ a: '1' });
    const second = sample.commit({ a: '2' });
    const names = ['ai', 'ai/ai', 'ai/team/a', 'x-', 'x-team', 'x-team/deep/er', 'y-team', 'aix', 'ai/runs'];
    for (const name of names) {
      for (const part of ['runs/one', 'runs/two', 'runs/two.x', 'content/one', 'runsX/one', 'truns/one'])
        sample.git('update-ref', `refs/${name}/${part}`, first);
    }
    sample.git('update-ref', 'refs/ai/approvals/one/0', first);
    sample.git('tag', '-a', '-m', 'x', 'v1');
    sample.git('update-ref', 'refs/ai/runs/tagged', sample.git('rev-parse', 'v1').trim());
    sample.git('pack-refs', '--all', '--prune');
    sample.git('update-ref', 'refs/ai/runs/two', second);
    sample.git('update-ref', 'refs/x-team/runs/three', second);
    sample.git('update-ref', '-d', 'refs/ai/runs/one');
    for (const kept of ['.hidden', 'two.lock', '.d/one'])
      writeAt(join(sample.dir, '.git/refs/ai/runs', kept), 'no id\n');
    using children = startedChildren();
    const found = await listRunRefs(repo, []);
    t.same(children.gits(), []);
    t.same(found, await listRunRefs(askingGit(repo), []));
    t.equal(children.gits().length, 1);
    t.equal(found.length, 22);
    t.equal(found.find(({ ref }) => ref === 'refs/ai/runs/two')?.commit, second, 'the file counts first');
  });

t.test('ref files that are not plain are left to git', async (t) => {
  const sample = makeRepository(t.testdir({}));
  const first = sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir);
  const runs = join(sample.dir, '.git/refs/ai/runs');
  writeAt(join(runs, 'one'), `${first}\n`);
  const whole = [{ ref: 'refs/ai/runs/one', object: first }];
  t.same(await inFiles(repo), whole);
  t.equal(await inFiles(askingGit(repo)), undefined, 'refs that are not kept in files');

  const odd = { empty: '', text: 'no id\n', zero: `${'0'.repeat(40)}\n`, symbolic: 'ref: refs/heads/main\n' };
  for (const [name, text] of Object.entries({ ...odd, 'bad name': `${first}\n` })) {
    writeFileSync(join(runs, name), text);
    t.equal(await inFiles(repo), undefined, name);
    t.same(await listRunRefs(repo, []), await listRunRefs(askingGit(repo), []), `${name}, asked of git`);
    rmSync(join(runs, name));
  }
  for (const [name, to] of [['link', 'one'] as const, ['../linked', 'runs'] as const]) {
    symlinkSync(to, join(runs, name));
    t.equal(await inFiles(repo), undefined, `a link ${name}`);
    rmSync(join(runs, name));
  }
  t.same(await inFiles(repo), whole);

  const packed = join(sample.dir, '.git/packed-refs');
  sample.git('update-ref', 'refs/ai/runs/two', first);
  sample.git('pack-refs', '--all', '--prune');
  const text = readFileSync(packed, 'utf8');
  const both = [...whole, { ref: 'refs/ai/runs/two', object: first }];
  t.same(await inFiles(repo), both);
  for (const [what, other] of [
    ['a line of another form', `${text}x\n`],
    ['a comment', `${text}# x\n`],
    ['no end', text.trimEnd()],
    ['an id of zeros', `${text}${'0'.repeat(40)} refs/ai/runs/zzz\n`],
    ['a short id', `${text}${first.slice(1)} refs/ai/runs/zzz\n`],
    ['no ref name', `${text}${first} refs/ai/runs/z..z\n`],
  ] as const) {
    writeFileSync(packed, other);
    t.equal(await inFiles(repo), undefined, `packed: ${what}`);
  }
  writeFileSync(packed, text);
  t.same(await inFiles(repo), both);
});

t.test('more ref files than the limit are listed by git', async (t) => {
  const sample = makeRepository(t.testdir());
  const first = sample.commit({ a: '1' });
  const repo = await openRepository(sample.dir);
  const at = join(sample.dir, '.git/refs/ai/content');
  mkdirSync(at, { recursive: true });
  for (let n = 0; n < 1_990; n += 1) writeFileSync(join(at, `${n}`), `${first}\n`);
  t.same(await inFiles(repo), []);
  for (let n = 0; n < 20; n += 1) writeFileSync(join(at, `more-${n}`), `${first}\n`);
  t.equal(await inFiles(repo), undefined);
});

function writeAt(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
