/*
 * `npm run test:rows -- [WORD…]`: no field of the contract is decorative. Of every row (or of those whose lines hold a
 * word) the one reader is neutralised in a copy of the tree, and the row's own test has to fail then. Exit 1 where it
 * does not.
 */
import { runRemovals } from './removal/run-removals.ts';
import { rowRemovals } from './rows/all.ts';

const words = process.argv.slice(2);
const chosen = rowRemovals.filter(
  (row) => words.length === 0 || words.some((word) => JSON.stringify(row).includes(word)),
);
const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const faults = await runRemovals(chosen, print);
print(`${chosen.length} rows, ${faults} faults`);
process.exitCode = faults > 0 || chosen.length === 0 ? 1 : 0;
