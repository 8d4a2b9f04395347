import t from 'tap';
import { chooseTests, type TestChoice, type TestTree } from '../../scripts/tests/choose-tests.ts';

const tree: TestTree = {
  rooms: new Map([
    ['house', ['test/house.test.ts']],
    ['bank', ['test/bank/pay.test.ts', 'test/bank/save.test.ts']],
    ['town', ['test/town.test.ts']],
  ]),
  needs: new Map([
    ['test/house.ts', ['test/rooms/room.ts']],
    ['test/bank.ts', ['test/rooms/room.ts']],
    ['test/town.ts', ['test/rooms/room.ts']],
    ['test/bank/pay.test.ts', ['bank/pay.ts', 'fixtures/coins/']],
    ['test/bank/save.test.ts', ['bank/save.ts']],
    ['test/town.test.ts', ['bin/town.ts']],
    ['bin/town.ts', ['bank/rules/', 'town/map.ts']],
    ['bank/pay.ts', ['bank/coin.ts']],
    ['bank/save.ts', ['bank/coin.ts']],
    ['bank/coin.ts', ['bank/pay.ts']],
    ['bank/rules/own.ts', ['bank/limit.ts']],
  ]),
};

/** `room: files`, or only the room where it is all of it. */
function said({ rooms }: TestChoice): readonly string[] {
  return rooms.map(({ room, files, whole }) => (whole ? room : `${room}: ${files.join(' ')}`));
}

function chosen(words: readonly string[], changed?: readonly string[]): readonly string[] {
  return said(chooseTests({ words, ...(changed === undefined ? {} : { changed }) }, tree));
}

t.test('without words all modules run, and a word selects one module or file', async (t) => {
  t.strictSame(chosen([]), ['house', 'bank', 'town']);
  t.strictSame(chosen(['town']), ['town']);
  t.strictSame(chosen(['test/bank/pay.test.ts']), ['bank: test/bank/pay.test.ts']);
  t.strictSame(chosen(['./test/bank/pay.test.ts', 'test/bank/save.test.ts']), ['bank']);
  t.strictSame(chosen(['town', 'test/bank/save.test.ts']), ['bank: test/bank/save.test.ts', 'town']);
});

t.test('a module that is left out runs only if a word or a change means it', async (t) => {
  const shortly = (words: readonly string[], changed?: readonly string[]): readonly string[] =>
    said(chooseTests({ words, without: ['house'], ...(changed === undefined ? {} : { changed }) }, tree));
  t.strictSame(shortly([]), ['bank', 'town']);
  t.strictSame(shortly(['house']), ['house']);
  t.strictSame(shortly([], ['bank/save.ts']), ['house', 'bank: test/bank/save.test.ts']);
});

t.test('reports a word that is neither a module nor a test file', async (t) => {
  const choice = chooseTests({ words: ['ban', 'test/bank/none.test.ts', 'bank/pay.ts', 'town'] }, tree);
  t.strictSame(choice.unknown, ['ban', 'test/bank/none.test.ts', 'bank/pay.ts']);
  t.strictSame(said(choice), ['town']);
});

t.test('a change selects the tests that depend on it, also through cyclic imports', async (t) => {
  t.strictSame(chosen([], ['bank/coin.ts']), ['house', 'bank']);
  t.strictSame(chosen([], ['bank/save.ts']), ['house', 'bank: test/bank/save.test.ts']);
  t.strictSame(chosen([], ['test/town.test.ts']), ['house', 'town'], 'a changed file of tests is run');
});

t.test('a named directory covers all its files and their imports', async (t) => {
  t.strictSame(chosen([], ['fixtures/coins/old/one.json']), ['house', 'bank: test/bank/pay.test.ts']);
  t.strictSame(chosen([], ['bank/limit.ts']), ['house', 'town']);
  t.strictSame(chosen([], ['fixtures/coins.json']), ['house']);
});

t.test('a changed test entry selects its module, and a changed shared file selects all', async (t) => {
  t.strictSame(chosen([], ['test/bank.ts']), ['house', 'bank']);
  t.strictSame(chosen([], ['test/rooms/room.ts']), ['house', 'bank', 'town']);
  for (const path of ['package.json', 'package-lock.json', 'tsconfig.json'])
    t.strictSame(chosen([], [path]), ['house', 'bank', 'town'], path);
});

t.test('a change that no test depends on is reported and runs the project tests', async (t) => {
  const choice = chooseTests({ words: [], changed: ['docs/town.md'] }, tree);
  t.strictSame(choice.unreached, ['docs/town.md']);
  t.strictSame(said(choice), ['house']);
});

t.test('an empty change selects nothing, and words add to a change', async (t) => {
  t.strictSame(chosen([], []), []);
  t.strictSame(chosen(['bank'], ['town/map.ts']), ['house', 'bank', 'town']);
  t.strictSame(chosen(['bank'], []), ['bank']);
});
