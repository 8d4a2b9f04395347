import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openRepository } from '../../../workspace/git/repository.ts';
import { comparePatches } from '../../../workspace/patch/undo.ts';
import { makeSample } from '../../engine/sample.ts';

const sample = makeSample();
t.teardown(() => sample.remove());
const { git, root } = sample;
const body = Array.from({ length: 20 }, (_, n) => `line ${n}`);
const text = (...lines: readonly string[]) => `${lines.join('\n')}\n`;

function treeOf(content: string): string {
  writeFileSync(join(root, 'file.txt'), content);
  git('add', '--all');
  return git('write-tree');
}

function commit(content: string): string {
  treeOf(content);
  git('commit', '--quiet', '-m', 'Base');
  return git('rev-parse', 'HEAD');
}

t.test('`comparePatches` says whether patches differ in octets, in places, or in text', async (t) => {
  const repository = await openRepository(root);
  const oldBase = commit(text(...body));
  const old = { baseCommit: oldBase, tree: treeOf(text(...body, '  added')) };
  t.strictSame(await comparePatches(repository, old, old), { state: 'same', lines: [] });

  const newBase = commit(text('first', ...body));
  const compared = async (...lines: readonly string[]) =>
    comparePatches(repository, old, { baseCommit: newBase, tree: treeOf(text('first', ...body, ...lines)) });
  t.strictSame(await compared('  added'), { state: 'placed', lines: [] });
  const indented = await compared('   added');
  t.equal(indented.state, 'changed');
  t.strictSame(indented.lines.slice(-2), ['-+  added', '++   added']);
  t.match(indented.lines[0], /^@@/);
  const missing = { baseCommit: newBase, tree: '1'.repeat(40) };
  await t.rejects(comparePatches(repository, old, missing), { code: 'GIT_FAILED' });
});
