import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { placesOf } from './places-of.ts';
import { testsOf } from './tests-of.ts';

const tests = dirname(import.meta.dirname);

t.test('every test file runs in exactly one module', async (t) => {
  const entries = globSync('*.ts', { cwd: tests }).filter((path) => !path.endsWith('.test.ts'));
  const rooms = entries.map((entry) => ({
    entry,
    files: testsOf(placesOf(readFileSync(join(tests, entry), 'utf8'))),
  }));
  t.same(
    rooms.filter(({ files }) => files.length === 0),
    [],
    'a room names its places and nothing else',
  );
  const found = globSync('**/*.test.ts', { cwd: tests }).sort();
  const run = rooms.flatMap(({ files }) => files).filter((file) => file.endsWith('.test.ts'));
  t.same([...run].sort(), found);
});

t.test('refuses a directory without tests and expands one with tests', async (t) => {
  t.throws(() => testsOf(['types']), /holds no tests/);
  t.throws(() => testsOf(['nowhere']));
  t.ok(testsOf(['http']).length > 5);
  t.same(testsOf(['http/token.test.ts']), ['http/token.test.ts']);
});
