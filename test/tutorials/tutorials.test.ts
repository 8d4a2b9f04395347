import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { long } from '../rooms/long.ts';
import { runPage } from './run-page.ts';

t.setTimeout(480_000);

const folder = join(import.meta.dirname, '../../docs/start');
for (const name of readdirSync(folder).filter((name) => name.endsWith('.md')))
  long(`${name} runs as it is written and prints what it shows`, async (t) => {
    t.strictSame(await runPage(`docs/start/${name}`), []);
  });
