import { AssertionError } from 'node:assert';
import t from 'tap';
import * as brokenStores from './broken-stores.ts';
import { subjectOf } from './conformance.ts';
import { storeTester } from './store-tester.ts';

const module = new URL('./broken-stores.ts', import.meta.url);

for (const name of Object.keys(brokenStores))
  t.test(
    `a store that ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} does not pass`,
    async (t) => {
      await t.rejects(storeTester(undefined, subjectOf(module, name)), AssertionError);
    },
  );

t.test('the store tester rejects a store that does not exist', async (t) => {
  await t.rejects(storeTester(undefined, subjectOf(module, 'nothing')), AssertionError);
});
