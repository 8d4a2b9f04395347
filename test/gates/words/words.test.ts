import t from 'tap';
import { longTest } from '../../rooms/long-test.ts';
import { corpora } from './corpora.ts';
import { readListedWords, wordTables } from './listed-words.ts';
import { makeProver } from './prove-words.ts';
import { regexWordPlaces } from './regex-word-places.ts';

/** Words of which no case says anything: fewer as cases come, never more. */
const openWords = 1893;

t.test('a word that comes to a table has a case, and a listed word stands in its table', async (t) => {
  const listed = readListedWords();
  const tables = await wordTables();
  const wrong: string[] = [];
  for (const [table, places] of tables) {
    const { words = [], open = 0 } = listed[table] ?? {};
    const left = places.map(({ word }) => word);
    for (const word of words) {
      const at = left.indexOf(word);
      if (at === -1) wrong.push(`${table}: \`${word}\` is listed and not there`);
      else left.splice(at, 1);
    }
    if (left.length > open)
      wrong.push(
        `${table}: ${left.length} words without a case, expected ${open} at most: ${left.join(' ')}`,
      );
  }
  for (const table of Object.keys(listed)) if (!tables.has(table)) wrong.push(`${table}: is no table`);
  // Give each a case in a labelled set or in `cases/`, then `node scripts/prove-words.ts PATH`.
  t.strictSame(wrong, []);
  const open = Object.values(listed).reduce((sum, table) => sum + table.open, 0);
  t.ok(open <= openWords, `${open} words without a case, expected ${openWords} at most`);
});

longTest('without a listed word, some case comes out differently', async (t) => {
  const listed = readListedWords();
  const prove = await makeProver(corpora());
  const unproven: string[] = [];
  for (const [table, places] of await wordTables()) {
    const left = [...(listed[table]?.words ?? [])];
    for (const place of places) {
      const at = left.indexOf(place.word);
      // Of one that stands twice, another place may be the one that has a case.
      if (at !== -1 && (await prove(place)) !== undefined) left.splice(at, 1);
    }
    unproven.push(...left.map((word) => `${table}: ${word}`));
  }
  t.strictSame(unproven, []);
});

t.test('a pattern tells apart what its alternatives say, and what may be left out', (t) => {
  const words = (pattern: string): readonly string[] => regexWordPlaces(pattern).map(({ word }) => word);
  t.strictSame(words('^(?:eval|exec)\\w*$'), ['eval', 'exec']);
  t.strictSame(words('one|two(?:_three)?|\\d+|[ab]|(?=four)'), ['one', 'two(?:_three)?', '_three']);
  t.strictSame(words('\\beval\\b'), []);
  for (const { start, end, to } of regexWordPlaces('^(?:eval|exec)$'))
    t.equal(
      [...['eval', 'exec']].filter((one) =>
        new RegExp('^(?:eval|exec)$'.slice(0, start) + to + '^(?:eval|exec)$'.slice(end)).test(one),
      ).length,
      1,
    );
  t.end();
});
