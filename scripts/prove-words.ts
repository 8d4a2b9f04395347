/*
 * `node scripts/prove-words.ts [PATH]…`: takes each word of the tables of gates and attest away (lists of names,
 * records by name, alternatives of patterns) and asks the labelled sets and other cases what they then come to.
 * Writes which words have a case, and how many have none, to `fixtures/scan/words.json`, and tells the latter.
 * PATH: beginnings of the paths of sources; the others stay as they are listed.
 */
import { writeFileSync } from 'node:fs';
import { corpora } from '../test/gates/words/corpora.ts';
import { type ListedTable, listPath, readListedWords, wordTables } from '../test/gates/words/listed-words.ts';
import { makeProver } from '../test/gates/words/prove-words.ts';

const wanted = process.argv.slice(2);
const before = readListedWords();
const prove = await makeProver(corpora());
const listed: [string, ListedTable][] = [];
for (const [table, places] of await wordTables()) {
  const known = before[table];
  if (wanted.length > 0 && !wanted.some((path) => table.startsWith(path))) {
    listed.push([table, known ?? { words: [], open: places.length }]);
    continue;
  }
  const words: string[] = [];
  const open: string[] = [];
  for (const place of places) ((await prove(place)) === undefined ? open : words).push(place.word);
  listed.push([table, { words: words.sort(), open: open.length }]);
  if (open.length > 0) process.stdout.write(`${table}: ${open.join('  ')}\n`);
}
const lines = listed.map(([table, told]) => `  ${JSON.stringify(table)}: ${JSON.stringify(told)}`);
writeFileSync(listPath, `{\n${lines.join(',\n')}\n}\n`);
const count = (of: (table: ListedTable) => number): number =>
  listed.reduce((sum, [, table]) => sum + of(table), 0);
process.stdout.write(
  `${listed.length} tables, ${count(({ words }) => words.length)} words with a case, ${count(({ open }) => open)} without\n`,
);
