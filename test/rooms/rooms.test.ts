import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { testsOf } from './room.ts';

const tests = dirname(import.meta.dirname);

/** The places that the entry of a room names. */
function placesOf(entry: string): readonly string[] {
  const text = readFileSync(join(tests, entry), 'utf8');
  const [, words = ''] =
    /^import \{ room \} from '\.\/rooms\/room\.ts';\n\nawait room\(([^)]*)\);\n$/.exec(text) ?? [];
  return [...words.matchAll(/'([^']+)'/g)].map(([, place = '']) => place);
}

t.test('every file of tests is run in exactly one room', async (t) => {
  const entries = globSync('*.ts', { cwd: tests }).filter((path) => !path.endsWith('.test.ts'));
  const rooms = entries.map((entry) => ({ entry, files: testsOf(placesOf(entry)) }));
  t.same(
    rooms.filter(({ files }) => files.length === 0),
    [],
    'a room names its places and nothing else',
  );
  const found = globSync('**/*.test.ts', { cwd: tests }).sort();
  const run = rooms.flatMap(({ files }) => files).filter((file) => file.endsWith('.test.ts'));
  t.same([...run].sort(), found);
});

t.test('a directory without tests is no room, and one with tests is all of them', async (t) => {
  t.throws(() => testsOf(['types']), /holds no tests/);
  t.throws(() => testsOf(['nowhere']));
  t.ok(testsOf(['http']).length > 5);
  t.same(testsOf(['http/token.test.ts']), ['http/token.test.ts']);
});
