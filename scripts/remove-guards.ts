/*
 * `node scripts/remove-guards.ts [WORD…]`: removes one guard of the product after the other (scripts/guards/, or those
 * whose lines hold a word), each in a copy of the tree, and shows that the test named for it fails then. Exit 1 where a
 * removal goes unnoticed, where a guard is no longer found, or where a test does not pass as it stands.
 */
import { rmSync } from 'node:fs';
import { guards } from './guards/all.ts';
import { makeBrokenTree } from './removal/broken-tree.ts';
import { runRemovals } from './removal/run-removals.ts';

const words = process.argv.slice(2);
const chosen = guards.filter(
  (guard) => words.length === 0 || words.some((word) => JSON.stringify(Object.values(guard)).includes(word)),
);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const removals = chosen.map(({ guard, fails, ...rest }) => ({ ...rest, name: guard, fails: [fails] }));
const trees = [makeBrokenTree(), makeBrokenTree()];
try {
  const faults = await runRemovals(removals, print, trees);
  print(`${chosen.length} guards, ${faults} faults`);
  process.exitCode = faults > 0 || chosen.length === 0 ? 1 : 0;
} finally {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
}
