import { execFileSync } from 'node:child_process';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { walkTrees } from '../../../engine/upkeep/walk-trees.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { maxRecordEntries } from '../../../engine/vcs/tree.ts';
import { openGitNativeStore } from '../../../plugins/store/git-native-store.ts';
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
