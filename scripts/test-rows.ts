/*
 * `npm run test:rows -- [WORD…]`: no field of the contract is decorative. Of every row (or of those whose lines hold a
 * word) the one reader is neutralised as it is loaded, and the row's own test has to fail then. Exit 1 where it does
 * not. A part of this runs in `npm test` (test/rows.ts).
 */
import { root } from './removal/broken-tree.ts';
import { runRemovals } from './removal/run-removals.ts';
import { swapOne } from './removal/swap-one.ts';
import { rowRemovals } from './rows/all.ts';

const words = process.argv.slice(2);
const chosen = rowRemovals.filter(
  (row) => words.length === 0 || words.some((word) => JSON.stringify(row).includes(word)),
);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const faults = await runRemovals(chosen, print, [root, root], swapOne);
print(`${chosen.length} rows, ${faults} faults`);
process.exitCode = faults > 0 || chosen.length === 0 ? 1 : 0;
