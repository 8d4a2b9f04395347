import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { findLandingRemote, findLandings } from '../../store/landed.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { outputOf } from '../starter/run-program.ts';
import { makeRepository, type SampleRepository } from '../workspace/git/sample-repository.ts';

const main = 'refs/heads/main';

/** Whether the commits have landed in the repository at `path`: the ref that lacks them, or what brings the answer. */
async function landings(path: string, commits: readonly string[], target = main): Promise<readonly string[]> {
  const sealed = commits.map((commit) => ({ commit, target }));
  const found = await findLandings(await openRepository(path, { bare: true }), sealed);
  return found.map((landing) => {
    if (landing.state === 'sealed') return landing.ref;
    return landing.state === 'landed' ? 'landed' : (landing.fetch ?? 'unknown');
  });
}

/** A bare remote `remote.git`, and a clone of it with one commit that it pushed. */
function makeClone(t: { testdir(): string }): {
  readonly box: string;
  readonly one: SampleRepository;
  readonly first: string;
} {
  const box = t.testdir();
  outputOf('git', ['init', '-q', '--bare', '-b', 'main', join(box, 'remote.git')]);
  const one = makeRepository(join(box, 'one'));
  one.git('remote', 'add', 'origin', join(box, 'remote.git'));
  const first = one.commit({ 'a.txt': 'a\n' });
  one.git('push', '-q', '-u', 'origin', 'main');
  return { box, one, first };
}

t.test('without a remote the target branch itself counts', async (t) => {
  const one = makeRepository(t.testdir());
  const first = one.commit({ 'a.txt': 'a\n' });
  const second = one.commit({ 'a.txt': 'b\n' });
  t.strictSame(await landings(one.dir, [first, second]), ['landed', 'landed']);
  one.git('reset', '-q', '--hard', first);
  t.strictSame(await landings(one.dir, [first, second]), ['landed', main]);
  t.strictSame(await landings(one.dir, [second], 'refs/x/y'), ['landed'], 'what is no branch is as recorded');
  one.git('branch', 'side', second);
  t.strictSame(
    await landings(one.dir, [second], 'refs/heads/gone'),
    ['landed'],
    'of a branch that was merged and deleted, every branch counts',
  );
  one.git('branch', '-D', 'side');
  t.strictSame(await landings(one.dir, [second], 'refs/heads/gone'), ['refs/heads/gone']);
  one.git('reflog', 'expire', '--expire=now', '--all');
  one.git('gc', '-q', '--prune=now');
  t.strictSame(await landings(one.dir, [second]), [main], 'a commit that is gone is on no branch');
  t.strictSame(await landings(one.dir, [second], 'refs/heads/gone'), ['refs/heads/gone']);
});

t.test(
  'a commit of a branch that was squashed and deleted is on no branch, also where the clone lacks it',
  async (t) => {
    const { box, one } = makeClone(t);
    const remote = join(box, 'remote.git');
    one.git('checkout', '-q', '-b', 'topic');
    const sealed = one.commit({ 'a.txt': 'c\n' });
    one.git('push', '-q', 'origin', 'topic');
    one.git('checkout', '-q', 'main');
    one.commit({ 'a.txt': 'c\n', 'b.txt': 'b\n' });
    one.git('push', '-q', 'origin', 'main', ':topic');
    one.git('branch', '-qD', 'topic');
    const gone = 'refs/remotes/origin/topic';
    const at = (path: string) => landings(path, [sealed], 'refs/heads/topic');
    t.strictSame(await at(one.dir), [gone]);
    one.git('reflog', 'expire', '--expire=now', '--all');
    one.git('gc', '-q', '--prune=now');
    t.strictSame(await at(one.dir), [gone], 'garbage collection changes nothing');
    const url = pathToFileURL(remote).href;
    outputOf('git', ['clone', '-q', url, join(box, 'fresh')]);
    t.strictSame(await at(join(box, 'fresh')), [gone]);
    outputOf('git', ['clone', '-q', '--single-branch', url, join(box, 'single')]);
    const partial = join(box, 'single');
    const all = "`git remote set-branches origin '*'`, `git fetch --all`";
    t.strictSame(await at(partial), [all], 'it fetches only some branches');
    outputOf('sh', [
      '-c',
      `cd '${partial}' && ${all.replace(/`, `/g, ' && ').replaceAll('`', '')} 2>/dev/null`,
    ]);
    t.strictSame(await at(partial), [gone], 'the named commands bring the answer');
    outputOf('git', ['clone', '-q', '--depth', '1', url, join(box, 'short')]);
    t.strictSame(await at(join(box, 'short')), [`${all}, \`git fetch --unshallow\``]);
    outputOf('git', ['clone', '-q', url, join(box, 'two')]);
    outputOf('git', ['-C', join(box, 'two'), 'remote', 'rename', 'origin', 'a']);
    outputOf('git', ['-C', join(box, 'two'), 'remote', 'add', 'b', url]);
    t.strictSame(await at(join(box, 'two')), ['`git fetch --all`'], 'the branch may be at the other remote');
    outputOf('git', ['-C', join(box, 'two'), 'fetch', '-q', 'b']);
    t.strictSame(await at(join(box, 'two')), ['refs/remotes/a/topic']);
  },
);

t.test('with an upstream the remote-tracking branch counts', async (t) => {
  const { box, one, first } = makeClone(t);
  const second = one.commit({ 'a.txt': 'b\n' });
  const tracking = 'refs/remotes/origin/main';
  t.strictSame(await landings(one.dir, [first, second]), ['landed', tracking]);
  outputOf('git', ['clone', '-q', join(box, 'remote.git'), join(box, 'other')]);
  t.strictSame(await landings(join(box, 'other'), [first, second]), ['landed', tracking], 'nor elsewhere');
  const url = pathToFileURL(join(box, 'remote.git')).href;
  one.git('push', '-q');
  t.strictSame(await landings(one.dir, [first, second]), ['landed', 'landed']);
  outputOf('git', ['clone', '-q', '--depth', '1', url, join(box, 'shallow')]);
  t.strictSame(await landings(join(box, 'shallow'), [second, first]), ['landed', '`git fetch --unshallow`']);
  one.git('checkout', '-q', '-b', 'topic');
  const third = one.commit({ 'a.txt': 'c\n' });
  one.git('push', '-q', '-u', 'origin', 'topic');
  one.git('push', '-q', 'origin', 'topic:main', ':topic');
  t.strictSame(await landings(one.dir, [third], 'refs/heads/topic'), ['landed'], 'merged and deleted there');
});

t.test('`[landing] remote` names another remote', async (t) => {
  const { box, one } = makeClone(t);
  cpSync(join(box, 'remote.git'), join(box, 'public.git'), { recursive: true });
  const second = one.commit({ '.writ/config.toml': '[landing]\nremote = "public"\n' });
  one.git('push', '-q');
  const tracking = 'refs/remotes/public/main';
  const [add, fetch] = ['`git remote add public URL`', '`git fetch public`'];
  t.strictSame(await landings(one.dir, [second]), [`${add}, ${fetch}`], 'without it, nothing is known');
  one.git('remote', 'add', 'public', join(box, 'public.git'));
  t.strictSame(await landings(one.dir, [second]), [fetch]);
  one.git('fetch', '-q', 'public');
  t.strictSame(await landings(one.dir, [second]), [tracking]);
  one.git('push', '-q', 'public', 'main');
  t.strictSame(await landings(one.dir, [second]), ['landed']);
  const third = one.commit({ '.writ/config.toml': '[landing]\nremote = "../x"\n' });
  t.strictSame(await landings(one.dir, [third]), ['refs/remotes/origin/main'], 'no name: the default');
});

t.test('a `[landing] remote` that the clone does not have is found', async (t) => {
  const one = makeRepository(t.testdir());
  const found = async () => findLandingRemote(await openRepository(one.dir));
  t.equal(await found(), undefined, 'no commit yet');
  one.commit({ 'a.txt': 'a\n' });
  t.equal(await found(), undefined, 'no configuration');
  one.commit({ '.writ/config.toml': '[landing]\nremote = "upstram"\n' });
  one.git('remote', 'add', 'upstream', '/nowhere');
  t.strictSame(await found(), { remote: 'upstram', isKnown: false, known: ['upstream'] });
  one.git('remote', 'rename', 'upstream', 'upstram');
  t.strictSame(await found(), { remote: 'upstram', isKnown: true, known: ['upstram'] });
});
