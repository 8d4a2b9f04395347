import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { guards } from '../scripts/guards/all.ts';

const root = join(import.meta.dirname, '..');

t.test(
  'every guard that is to be removed stands where it is looked for, and its test is there',
  async (t) => {
    t.ok(guards.length > 100, `${guards.length} guards`);
    for (const { guard, file, from, test } of guards) {
      t.equal(readFileSync(join(root, file), 'utf8').split(from).length - 1, 1, `${guard} in ${file}`);
      t.ok(existsSync(join(root, test)), `${guard}: ${test}`);
    }
  },
);
