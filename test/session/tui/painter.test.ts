import t from 'tap';
import type { Line } from '../../../session/screen/line.ts';
import { wrapLine } from '../../../session/screen/wrap.ts';
import { cutRow, themes, toRow } from '../../../session/tui/term/row.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';
import { lineOf, openPainterScene } from './open-painter-scene.ts';
import { type Chance, someLine } from './some-text.ts';

const shown = (line: Line, columns: number): string =>
  cutRow(toRow(line, themes.bare), columns)
    .map(({ text }) => text)
    .join('');

/** What a live region becomes next: a token more, a line more or less, another one. */
function changed(chance: Chance, lines: readonly Line[], most: number): readonly Line[] {
  const at = Math.floor(chance() * (lines.length + 1));
  const kind = Math.floor(chance() * 5);
  if (kind === 0) return lines.toSpliced(at, 0, someLine(chance, 4));
  if (kind === 1) return lines.toSpliced(at, 1);
  if (kind === 2) return lines.toSpliced(at, 1, someLine(chance, 6)).slice(0, most);
  if (kind === 3) return Array.from({ length: Math.floor(chance() * most) }, () => someLine(chance, 6));
  return lines.map((line, row) => (row === at ? [...line, ...someLine(chance, 2)] : line));
}

long('finished lines stay above the live region for any sequence of updates', async (t) => {
  const seed = toldSeed(t);
  for (let round = 0; round < 12; round += 1) {
    const chance = seededRandom(seed + round);
    const columns = 10 + Math.floor(chance() * (round % 3 === 0 ? 190 : 40));
    const rows = 4 + Math.floor(chance() * 20);
    const scene = openPainterScene(columns, rows);
    const finished: string[] = [];
    let live: readonly Line[] = [];
    for (let step = 0; step < 40; step += 1) {
      const count = chance() < 0.4 ? Math.floor(chance() * (chance() < 0.1 ? 60 : 4)) : 0;
      const done =
        chance() < 0.3 ? live.slice(0, count) : Array.from({ length: count }, () => someLine(chance, 12));
      scene.painter.commit(done);
      finished.push(
        ...done.flatMap((line) => wrapLine(line, { columns })).map((line) => shown(line, 10_000)),
      );
      live = changed(chance, chance() < 0.3 ? live.slice(count) : live, rows + 3);
      const at = { row: Math.floor(chance() * live.length), column: Math.floor(chance() * columns) };
      const cursor = chance() < 0.8 ? at : undefined;
      scene.painter.live(live, cursor);
      await scene.settled();
      const expected = [...finished, ...live.slice(-(rows - 1)).map((line) => shown(line, columns))];
      while (expected.at(-1) === '') expected.pop();
      const found = scene.emulator.lines();
      if (JSON.stringify(found) !== JSON.stringify(expected)) {
        t.same(found, expected, `round ${round}, step ${step}, ${columns}×${rows}: ${scene.frames.at(-1)}`);
        return;
      }
      if (cursor === undefined || live.length === 0) continue;
      const { row, column } = scene.emulator.cursor();
      const below = live.length - 1 - cursor.row;
      const last = scene.emulator.scrollback().length + row + below - (expected.length - 1);
      const empty = [...live].reverse().findIndex((line) => shown(line, columns) !== '');
      if (column !== cursor.column || (cursor.row >= live.length - (rows - 1) && last < empty)) {
        t.fail(`the cursor of round ${round}, step ${step} stands at ${row}, ${column}`);
        return;
      }
    }
  }
  t.pass();
});

t.test('a live line that becomes finished is not written again', async (t) => {
  const { painter, emulator, frames, settled } = openPainterScene(40, 10);
  const below = [lineOf('> what I type'), lineOf('status')];
  painter.live([lineOf('the reply goes on'), ...below], { row: 1, column: 13 });
  painter.commit([lineOf('the reply goes on')]);
  painter.live([lineOf('here'), ...below], { row: 1, column: 13 });
  await settled();
  t.same(emulator.lines(), ['the reply goes on', 'here', '> what I type', 'status']);
  t.match(frames.at(-1), /here/);
  t.notMatch(frames.at(-1), /reply|type|status/);
});

t.test('finished lines keep their order and leave the live region in place', async (t) => {
  const { painter, emulator, settled } = openPainterScene(40, 10);
  painter.live([lineOf('> ')], { row: 0, column: 2 });
  painter.commit([lineOf('one')]);
  painter.commit([lineOf('two')]);
  await settled();
  t.same(emulator.lines(), ['one', 'two', '>']);
  t.same(emulator.cursor(), { row: 2, column: 2 });
});

t.test('a live region is cut at the top if too high and at the right if too wide', async (t) => {
  const { painter, emulator, settled } = openPainterScene(10, 5);
  painter.live(
    [...'abcdef'].map((char) => lineOf(char.repeat(12))),
    { row: 5, column: 3 },
  );
  await settled();
  t.same(
    emulator.lines(),
    [...'cdef'].map((char) => char.repeat(10)),
  );
  t.same(emulator.cursor(), { row: 3, column: 3 });
});

t.test('a tone is written with its style, which ends with its text', async (t) => {
  const { painter, frames, settled } = openPainterScene(40, 10, 'colour');
  painter.live([[...lineOf('a'), { text: 'b', tone: 'bad' }, { text: 'c', tone: 'good' }, ...lineOf('d')]]);
  await settled();
  t.match(frames.join(''), 'a\x1b[31mb\x1b[;32mc\x1b[md');
});
