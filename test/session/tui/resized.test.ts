import t from 'tap';
import type { Line } from '../../../session/screen/line.ts';
import { wrapLine } from '../../../session/screen/wrap.ts';
import { themes, toRow } from '../../../session/tui/term/row.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';
import { lineOf, openPainterScene } from './open-painter-scene.ts';
import { someLine } from './some-text.ts';

const shown = (line: Line): string =>
  toRow(line, themes.bare)
    .map(({ text }) => text)
    .join('');

/** Whether all of them are there, in order; others may stand between them. */
function holdsInOrder(found: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const line of found) if (line === all[at]) at += 1;
  return at === all.length;
}

long('no finished line is lost at any sequence of terminal sizes', async (t) => {
  const seed = toldSeed(t);
  for (let round = 0; round < 20; round += 1) {
    const chance = seededRandom(seed + round);
    let columns = 20 + Math.floor(chance() * 100);
    const scene = openPainterScene(columns, 24);
    const finished: string[] = [];
    for (let step = 0; step < 20; step += 1) {
      const done = Array.from({ length: Math.floor(chance() * 4) }, (_, at) => [
        { text: `${round}.${step}.${at} `, tone: 'plain' as const },
        ...someLine(chance, 6),
      ]);
      scene.painter.commit(done);
      finished.push(...done.flatMap((line) => wrapLine(line, { columns })).map(shown));
      const live = Array.from({ length: 1 + Math.floor(chance() * 4) }, () => someLine(chance, 6));
      scene.painter.live(live, { row: live.length - 1, column: 2 });
      await scene.settled();
      if (chance() < 0.5) {
        columns = 10 + Math.floor(chance() * 150);
        await scene.resize(columns, 6 + Math.floor(chance() * 30));
      }
      if (!holdsInOrder(scene.emulator.lines(), finished)) {
        t.same(scene.emulator.lines(), finished, `round ${round}, step ${step}`);
        return;
      }
    }
  }
  t.pass();
});

t.test('a narrower terminal leaves no stale rows of the live region', async (t) => {
  const scene = openPainterScene(80, 24);
  scene.painter.commit([lineOf('finished')]);
  const live = [
    'a reply that is as long as the terminal is wide, or nearly so, and a little more',
    '> typed',
    'status',
  ];
  scene.painter.live(live.map(lineOf), { row: 1, column: 7 });
  for (const columns of [60, 33, 20, 61, 90]) {
    await scene.resize(columns, 24);
    t.same(
      scene.emulator.lines(),
      ['finished', ...live.map((text) => text.slice(0, columns).trimEnd())],
      `${columns}`,
    );
    t.same(scene.emulator.cursor(), { row: 2, column: 7 });
  }
});

t.test('a terminal that truncates rows on a resize loses no lines', async (t) => {
  const scene = openPainterScene(80, 24, 'bare', false);
  scene.painter.commit([lineOf('one'), lineOf('two')]);
  scene.painter.live([lineOf('x'.repeat(80)), lineOf('> ')], { row: 1, column: 2 });
  await scene.settled();
  scene.painter.resized({ columns: 40, rows: 24 });
  await scene.settled();
  t.same(scene.emulator.lines(), ['one', 'two', 'x'.repeat(40), '>']);
});
