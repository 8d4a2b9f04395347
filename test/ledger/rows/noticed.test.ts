import t, { type Test } from 'tap';
import { contractRows } from '../../../engine/spec/contract-rows.ts';
import { root } from '../../../scripts/removal/broken-tree.ts';
import { fixedTenth, touchedRows } from '../../../scripts/removal/rows-to-try.ts';
import { swapOne } from '../../../scripts/removal/swap-one.ts';
import { rowRemovals } from '../../../scripts/rows/all.ts';
import { recentFiles } from '../../../scripts/tests/changed-files.ts';
import { everyThird } from '../../rooms/long.ts';

/*
 * What `npm run test:rows` shows of all rows, of a part of them each time: a fixed tenth (in `npm test` as a whole a
 * ninth of it), and of the rows that the last commits touched as many as the bound lets through.
 */

const lastCommits = 20;
/** Processor seconds after which no further touched row is begun. */
const forTouched = 3;

const testOf = new Map(contractRows.map(({ id, test = '' }) => [id, test]));
const whole = fixedTenth(rowRemovals);
// A third of a third.
const kept = everyThird(everyThird(whole.map(({ name }) => name)));
const tenth = whole.filter(({ name }) => kept.includes(name));
const recent = recentFiles(root, lastCommits);
const touched = touchedRows(
  rowRemovals.map((row) => ({ ...row, test: testOf.get(row.name) ?? '' })),
  recent?.files ?? [],
  recent?.head ?? '',
)
  .flatMap(({ name }) => rowRemovals.filter((row) => row.name === name))
  .filter((row) => !tenth.includes(row));

let spent = 0;
let tried = 0;
const left: string[] = [];

t.test('rows that recent changes touched are missed where nobody reads them', async (t) => {
  for (const row of touched)
    if (spent < forTouched) await isMissed(t, row);
    else left.push(row.name);
});

t.test('each row of the fixed tenth is missed where nobody reads it', async (t) => {
  for (const row of tenth) await isMissed(t, row);
});

t.test('a removal that changes nothing, or is found nowhere, is a fault', async (t) => {
  const row = rowRemovals.find(({ name }) => name === 'check.id');
  if (row === undefined) throw new Error('there is no row `check.id`');
  t.equal((await swapOne(root, { ...row, to: row.from })).fault, 'unnoticed');
  t.match((await swapOne(root, { ...row, from: 'text that stands nowhere' })).fault, /0 times/);
});

t.test('what was tried, and what it cost', async (t) => {
  const which =
    recent === undefined
      ? `git has no history of ${lastCommits} commits: only the fixed tenth`
      : `${touched.length} touched since ${recent.since}, and the fixed tenth`;
  const rest = left.length === 0 ? '' : `; left to \`npm run test:rows\`: ${left.join(' ')}`;
  t.comment(`note: rows: ${which}; ${tried} tried in ${spent.toFixed(1)} s of processors${rest}`);
  t.equal(tried, tenth.length + touched.length - left.length);
});

async function isMissed(t: Test, row: (typeof rowRemovals)[number]): Promise<void> {
  const { fault, seconds, cost = seconds } = await swapOne(root, row);
  spent += cost;
  tried += 1;
  t.equal(fault, undefined, `${row.name}: ${row.test} (${cost.toFixed(1)} s)`);
}
