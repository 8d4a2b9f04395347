import t from 'tap';
import { needsOf } from '../../scripts/tests/needs-of.ts';

const files = [
  'bank/pay.ts',
  'bank/coin.ts',
  'bank/rules/own.ts',
  'bin/town.js',
  'fixtures/coins/one.json',
  'README.md',
  'test/bank/pay.test.ts',
  'test/bank/sample.ts',
];
const directories = ['bank', 'bank/rules', 'bin', 'fixtures', 'fixtures/coins', 'test', 'test/bank'];
const known = {
  isFile: (path: string) => files.includes(path),
  isDirectory: (path: string) => directories.includes(path),
};

t.test('a source depends on what it imports, except for types', async (t) => {
  const text = `import { pay } from '../../bank/pay.ts';
import type { Coin } from '../../bank/coin.ts';
import { posix } from 'node:path';
const later = () => import('./sample.ts');
`;
  t.strictSame(needsOf('test/bank/pay.test.ts', text, known), ['bank/pay.ts', 'test/bank/sample.ts']);
});

t.test('a source depends on the files and directories that it names', async (t) => {
  const needs = (text: string): readonly string[] => needsOf('test/bank/sample.ts', text, known);
  t.strictSame(needs("new URL('../../bin/town.js', import.meta.url)"), ['bin/town.js']);
  t.strictSame(needs("new URL('../../fixtures/coins/', import.meta.url)"), ['fixtures/coins/']);
  t.strictSame(needs("join(root, 'fixtures/coins/one.json')"), ['fixtures/coins/one.json']);
  const composed = `new URL(\`./rules/\${id}.ts\`, import.meta.url)`;
  t.strictSame(needsOf('bank/rules.ts', composed, known), ['bank/rules/']);
});

t.test('ignores bare names, top-level directories, missing paths and test files', async (t) => {
  const needs = (text: string): readonly string[] => needsOf('bank/coin.ts', text, known);
  t.strictSame(needs("['README.md', '../bank', './none.ts', 'fixtures/none/', './coin.ts']"), []);
  t.strictSame(needs("{ test: 'test/bank/pay.test.ts' }"), []);
});
