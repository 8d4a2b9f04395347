import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findCarryFault } from '../../../store/record/carry-fault.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { carryReader } from '../../../workspace/patch/carry-reader.ts';

t.test('carrying approvals', async (t) => {
  const home = t.testdir();
  const root = join(home, 'full');
  mkdirSync(join(root, '.writ'), { recursive: true });
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  const commit = (message: string): string => {
    git('add', '--all');
    git('commit', '--quiet', '-m', message);
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(join(root, '.writ', 'config.toml'), '[approvals]\ncarry = "equivalent"\n');
  for (const name of ['x.sh', 'r.txt', 'other.txt']) writeFileSync(join(root, name), `${name}\nharmless\n`);
  const base = commit('base');
  const changes: Readonly<Record<string, readonly [path: string, make: () => void]>> = {
    'a mode change': ['x.sh', () => chmodSync(join(root, 'x.sh'), 0o755)],
    'an exact rename': ['r.txt', () => renameSync(join(root, 'r.txt'), join(root, 'r2.txt'))],
  };
  const candidate = (at: string, make: () => void) => {
    git('checkout', '--quiet', '--force', '--detach', at);
    make();
    git('add', '--all');
    const tree = git('write-tree');
    git('reset', '--quiet', '--hard');
    return { baseCommit: at, candidateTree: tree };
  };
  const move = (path: string): string => {
    git('checkout', '--quiet', '--force', '--detach', base);
    appendFileSync(join(root, path), 'more\n');
    return commit(`Edit ${path}`);
  };
  const repository = await openRepository(root);
  const reader = carryReader(repository);

  for (const [name, [path, make]] of Object.entries(changes))
    await t.test(`demands the same blobs for ${name}`, async (t) => {
      const earlier = candidate(base, make);
      const digest = (await reader.patchDigest(base, earlier.candidateTree)) ?? '';
      const compare = async (moved: string) => {
        const now = candidate(moved, make);
        t.equal(
          await reader.patchDigest(moved, now.candidateTree),
          digest,
          'the canonical patch is the same',
        );
        return findCarryFault(reader, earlier, now, digest);
      };
      t.match(await compare(move(path)), { reason: 'mismatch' });
      t.equal(await compare(move('other.txt')), undefined);
    });

  await t.test('a history that is cut shows no ancestry', async (t) => {
    git('checkout', '--quiet', '--force', '-B', 'main', base);
    for (const text of ['one', 'two', 'three']) {
      writeFileSync(join(root, 'other.txt'), text);
      commit(text);
    }
    const tip = git('rev-parse', 'HEAD');
    const clone = join(home, 'cut');
    git('clone', '--quiet', '--depth=2', `file://${root}`, clone);
    git('-C', clone, 'fetch', '--quiet', '--depth=1', 'origin', `${base}:refs/heads/base`);
    const cut = carryReader(await openRepository(clone));
    t.equal(await cut.isAncestor(base, tip), undefined);
    t.equal(await cut.isAncestor(`${tip}`, tip), true);
    t.equal(await reader.isAncestor(base, tip), true);
    t.equal(await reader.isAncestor(tip, base), false);
  });
});
