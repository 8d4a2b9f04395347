import { execFileSync } from 'node:child_process';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { walkTrees } from '../../../engine/upkeep/walk-trees.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { countChangedPaths, listTree, maxRecordEntries } from '../../../workspace/git/tree.ts';
import { runLine } from '../../bin/host.ts';
import { clock, makeRemote } from './two-repositories.ts';

t.setTimeout(120_000);

/** A commit of 13 objects that expands to 10^12 paths. */
function growingCommit(cwd: string): string {
  const git = (args: readonly string[], input: string): string =>
    execFileSync('git', args, { cwd, input, encoding: 'utf8' }).trim();
  let object = git(['hash-object', '-w', '--stdin'], 'x');
  for (let depth = 0; depth < 12; depth += 1) {
    const kind = depth === 0 ? '100644 blob' : '040000 tree';
    const entries = Array.from({ length: 10 }, (_, at) => `${kind} ${object}\t${at}\n`).join('');
    object = git(['mktree'], entries);
  }
  return git(['commit-tree', object, '-m', 'x'], '');
}

t.test('a few objects that expand to 10^12 paths stop no command', async (t) => {
  const remote = makeRemote();
  const [there, here] = [remote.clone('there'), remote.clone('here')];
  const commit = growingCommit(there.root);
  const id = '0198c1e2-7b54-7c31-9d0f-5a1be0c4a7d2';
  const names = Array.from({ length: 100 }, (_, at) => `${at}`);
  const refs = ['runs', 'content', 'approvals'].map((kind) => `refs/ai/${kind}/${id}`);
  for (const ref of refs) there.git('push', '--quiet', 'origin', `${commit}:${ref}`);
  const env = { PATH: process.env.PATH ?? '', HOME: remote.box, GIT_CONFIG_GLOBAL: '/dev/null' };
  const say = async (...argv: readonly string[]) =>
    JSON.parse((await runLine(['--json', ...argv], commands, { cwd: here.root, env })).out);
  const fetched = await say('fetch');
  t.ok(fetched.ok, JSON.stringify(fetched));
  const checked = JSON.stringify(await say('fsck'));
  for (const ref of refs) t.ok(checked.includes(ref), ref);
  t.match(checked, `its tree names more than ${maxRecordEntries} entries`);
  t.ok((await say('gc')).ok);
  t.match(await say('replay', id), {
    error: { code: 'OBJECT_CORRUPT', message: `\`${refs[0]}\` is no record of writ` },
  });
  const store = openGitNativeStore(await openRepository(here.root), { clock });
  const unread = { code: 'OBJECT_CORRUPT', detail: { ref: refs[1] } };
  await t.rejects(store.list(refs[1] ?? ''), unread);
  await t.rejects(store.readMany(refs[1] ?? '', names), unread);
  t.ok(here.git('for-each-ref', refs[0] ?? '').includes(commit), 'what cannot be walked is not removed');
  const candidate = here.git('commit-tree', `${commit}^{tree}`, '-p', 'HEAD', '-m', 'x');
  const range = `HEAD..${candidate}`;
  t.match(await say('scan', '--range', range), { error: { code: 'INPUT_TOO_LARGE' } });
  t.match(await say('seal', '--range', range, '--check', 'true'), { error: { code: 'INPUT_TOO_LARGE' } });
});

t.test('a tree of too many paths is reported once for its commit, and others are walked', async (t) => {
  const { root, git } = makeRemote().clone('one');
  const commit = growingCommit(root);
  const other = git('rev-parse', 'HEAD');
  const found: string[] = [];
  const walked = await walkTrees(await openRepository(root), [commit, other], {
    broken: () => t.fail('nothing is broken'),
    tooLarge: (one) => found.push(one),
  });
  t.same(found, [commit]);
  t.same([...walked.keys()], [other]);
});

t.test('changed paths are counted without listing them, as git counts them', async (t) => {
  const { root, git } = makeRemote().clone('counted');
  const repository = await openRepository(root);
  const many = `${growingCommit(root)}^{tree}`;
  const tree = (...lines: readonly string[]): string =>
    execFileSync('git', ['mktree'], {
      cwd: root,
      input: lines.map((line) => `${line}\n`).join(''),
      encoding: 'utf8',
    }).trim();
  const [x, y] = ['x', 'y'].map((input) =>
    execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: root, input, encoding: 'utf8' }).trim(),
  );
  const two = tree(`100644 blob ${x}\ta`, `100755 blob ${y}\tb`);
  const other = tree(`100644 blob ${x}\ta`, `100644 blob ${y}\tb`, `100644 blob ${y}\tc`);
  const before = tree(`040000 tree ${two}\td`, `040000 tree ${two}\te`, `100644 blob ${x}\tf`);
  const after = tree(`040000 tree ${other}\td`, `040000 tree ${other}\te`, `040000 tree ${two}\tf`);
  const counted = git('diff-tree', '-r', '--no-renames', '--name-only', before, after).split('\n');
  t.equal(counted.length, 7);
  t.equal(await countChangedPaths(repository, before, after), counted.length);
  t.equal(await countChangedPaths(repository, before, before), 0);
  t.equal(await countChangedPaths(repository, tree(), git('rev-parse', many)), 1e12);
});

t.test(
  'a tree that expands to too many paths is refused before git lists it, other trees are listed',
  async (t) => {
    const { root, git } = makeRemote().clone('listed');
    const repository = await openRepository(root);
    const commit = growingCommit(root);
    for (const under of ['', '0', '9/9'])
      await t.rejects(listTree(repository, commit, under), {
        code: 'INPUT_TOO_LARGE',
        message: `the tree of \`${commit}\` expands to more than 4000000 paths`,
      });
    t.equal((await listTree(repository, commit, '0/0/0/0/0/0/0/0/0')).length, 1000, 'a part of it');
    const thousand = git('rev-parse', `${commit}:0/0/0/0/0/0/0/0/0`);
    const lines = Array.from({ length: 30 }, (_, at) => `040000 tree ${thousand}\t${at}\n`).join('');
    const large = execFileSync('git', ['mktree'], { cwd: root, input: lines, encoding: 'utf8' }).trim();
    t.equal((await listTree(repository, large, '7')).length, 1000);
    t.equal((await listTree(repository, large)).length, 30_000);
  },
);
