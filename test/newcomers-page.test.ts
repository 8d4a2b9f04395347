import { readFileSync } from 'node:fs';
import t from 'tap';
import { arrows, doorFiles, ladders } from './architecture/rooms.ts';

const page = readFileSync(new URL('../docs/reference/architecture.md', import.meta.url), 'utf8');

t.test('the architecture page names every module, layer and entry point', async (t) => {
  for (const room of Object.keys(arrows).filter((name) => name !== 'door'))
    t.ok(page.includes(`\`${room}/`), `${room}/`);
  for (const [ladder, rungs] of Object.entries(ladders))
    for (const rung of rungs)
      t.ok(page.includes(`\`${rung}/\``) || page.includes(`\`${ladder}/${rung}/\``), `${ladder}/${rung}/`);
  for (const door of Object.values(doorFiles)) t.ok(page.includes(`\`${door}.ts\``), `${door}.ts`);
});

t.test('the architecture page lists the layers of each module in order', async (t) => {
  for (const [ladder, rungs] of Object.entries(ladders)) {
    const rows = page.split('\n').filter((line) => line.startsWith('|'));
    const places = rungs.map((rung) =>
      rows.findIndex((row) => row.includes(`\`${rung}/\``) || row.includes(`\`${ladder}/${rung}/\``)),
    );
    t.strictSame(
      places,
      [...places].sort((a, b) => a - b),
      ladder,
    );
  }
});
