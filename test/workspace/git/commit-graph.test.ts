import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { rangeCommits } from '../../../workspace/git/commit-log.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { makeRepository } from './sample-repository.ts';

/** Makes the commit-graph of a repository say that the newest of three commits has the oldest for its parent. */
function forgeParent(dir: string, ids: readonly [string, string, string]): void {
  const path = join(dir, '.git/objects/info/commit-graph');
  const graph = readFileSync(path);
  const chunks = Array.from({ length: graph[6] ?? 0 }, (_, index) => {
    const at = 8 + index * 12;
    return { name: graph.toString('latin1', at, at + 4), offset: Number(graph.readBigUInt64BE(at + 4)) };
  });
  const data = chunks.find(({ name }) => name === 'CDAT')?.offset ?? 0;
  const sorted = [...ids].sort();
  // One row: 20 bytes of tree, then the positions of two parents.
  const parentAt = data + sorted.indexOf(ids[2]) * 36 + 20;
  graph.writeUInt32BE(sorted.indexOf(ids[0]), parentAt);
  createHash('sha1')
    .update(graph.subarray(0, -20))
    .digest()
    .copy(graph, graph.length - 20);
  chmodSync(path, 0o644);
  writeFileSync(path, graph);
}

t.test('a commit-graph with false parents does not hide a commit', async (t) => {
  const sample = makeRepository(t.testdir());
  const first = sample.commit({ a: '1' }, 'first');
  const second = sample.commit({ a: '2' }, 'second');
  const third = sample.commit({ a: '3' }, 'third');
  sample.git('commit-graph', 'write', '--reachable');
  forgeParent(sample.dir, [first, second, third]);
  t.equal(sample.git('rev-list', '--count', 'HEAD').trim(), '2', 'git believes it');
  const repository = await openRepository(sample.dir);
  t.same(
    (await rangeCommits(repository, first, third)).map(({ message }) => message.trim()),
    ['second', 'third'],
  );
});
