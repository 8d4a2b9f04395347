import t from 'tap';
import { uuidV7 } from '../../../core/base/ids.ts';
import { checkRepository } from '../../../engine/upkeep/check-repository.ts';
import { collectGarbage } from '../../../engine/upkeep/collect-garbage.ts';
import { fetchRefs } from '../../../engine/upkeep/fetch-refs.ts';
import { walkTrees } from '../../../engine/upkeep/walk-trees.ts';
import { openRepository } from '../../../engine/vcs/repository.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { outputOf } from '../../starter/run-program.ts';
import { clock, makeRemote, told } from './two-repositories.ts';

t.test('a tree of 13 objects with 10^12 paths is reported and stops no command', async (t) => {
  const { box, bare, clone } = makeRemote();
  const [a, b] = [clone('a'), clone('b')];
  const hash = (command: string, input: string): string =>
    outputOf('git', ['-C', a.root, ...command.split(' ')], { input })
      .toString()
      .trim();
  const ten = (entry: string): string => Array.from({ length: 10 }, (_, n) => `${entry}\t${n}\n`).join('');
  let tree = hash('mktree', ten(`100644 blob ${hash('hash-object -w --stdin', 'x')}`));
  for (let depth = 1; depth < 12; depth += 1) tree = hash('mktree', ten(`040000 tree ${tree}`));
  const commit = a.git('commit-tree', tree, '-m', 'wide');
  const id = uuidV7(0);
  const refs = [`refs/ai/content/${id}`, 'refs/ai/intents/i1', `refs/ai/runs/${id}`];
  a.git('push', '-q', bare, ...refs.map((ref) => `${commit}:${ref}`));

  t.strictSame(
    told(await b.move(fetchRefs)),
    refs.map((ref) => `${ref} created`),
  );
  const repository = await openRepository(b.root);
  const walked = await walkTrees(repository, [commit], { broken: () => {} });
  const found = walked.get(commit);
  t.strictSame([found?.isTooLarge, found?.files.size], [true, 0]);
  const { problems } = await checkRepository({ repository, clock });
  t.strictSame(
    problems.map(({ code, where }) => `${code} ${where}`),
    refs.map((ref) => `object-malformed ${ref}`),
  );
  const collected = { stores: builtInStores, repository, clock, dryRun: false, temporary: box };
  t.strictSame(await collectGarbage(collected), []);
});
