import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const benches = globSync('bench/*.ts', { cwd: root }).sort();

t.test('tsconfig.json includes the benches, and no bench uses an unsafe cast', async (t) => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    readonly include: readonly string[];
  };
  t.ok(include.includes('bench'));
  t.ok(benches.length > 20);
  for (const path of benches) {
    const text = readFileSync(join(root, path), 'utf8');
    t.notMatch(text, /\bas (?:unknown as|any\b|never\b)|@ts-/, path);
  }
});
