import t from 'tap';
import { span, textOf } from '../../../session/screen/line.ts';
import { deafForMs } from '../../../session/tui/card.ts';
import { emptyBuffer } from '../../../session/tui/composer/buffer.ts';
import { emptyComposer } from '../../../session/tui/composer/composer.ts';
import { openPlainPainter } from '../../../session/tui/term/open-painter.ts';
import { columnsOf, themes, toRow } from '../../../session/tui/term/row.ts';
import { typedLine } from '../../../session/tui/view/open-drawer.ts';
import { openView } from '../../../session/tui/view/view.ts';
import { priceDraft, submits } from '../../agent/planner/drafts.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { long } from '../../rooms/long.ts';
import { instant } from '../../waiting/instant.ts';
import { openCodeScene } from './open-code-scene.ts';
import { openEmulator } from './open-emulator.ts';
import { lineOf } from './open-painter-scene.ts';
import { noPty } from './open-terminal-scene.ts';

/** Everything that moves a cursor, erases, scrolls, saves or restores (ECMA-48, 8.3; DEC). */
const moves = /\x1b(?:\[[0-9;?]*[@A-HJ-MP-TXZ`a-fr-u]|[78DEMc])/;
const looks = /\x1b\[[0-9;]+m/;

t.test('the plain painter appends lines and edits typed text with backspaces only', async (t) => {
  const chance = seededRandom(toldSeed(t));
  const columns = 40;
  const emulator = openEmulator(columns, 24);
  const frames: string[] = [];
  const painter = openPlainPainter({
    write: (text) => {
      frames.push(text);
      void emulator.write(text);
    },
    size: { columns, rows: 24 },
    theme: themes.plain,
  });
  const said: string[] = [];
  let typed = '';
  const type = (at = typed.length): void => {
    const line = lineOf(`> ${typed}`);
    painter.live([lineOf('not drawn'), line], {
      row: 1,
      column: columnsOf(toRow(lineOf(`> ${typed.slice(0, at)}.`), themes.plain)) - 1,
    });
  };
  for (const text of ['h', 'he', 'hel']) {
    typed = text;
    type();
  }
  t.same(frames, ['> h', 'e', 'l'], 'a letter at the end is that letter');
  for (let round = 0; round < 400; round += 1) {
    const kind = chance();
    if (kind < 0.3) {
      const line = `line ${round} ${'word '.repeat(Math.floor(chance() * 5))}`.trim();
      said.push(line);
      painter.commit([lineOf(line)]);
    } else if (kind < 0.6) typed += ['a', 'é', '表', '👩‍👩‍👧', ' x'][Math.floor(chance() * 5)] ?? '';
    else if (kind < 0.8) typed = typed.slice(0, Math.floor(chance() * 3));
    else typed = `${'abc'.slice(0, Math.floor(chance() * 4))}${typed.slice(0, 8)}`;
    typed = Array.from(
      new Intl.Segmenter().segment(typed.toWellFormed().replaceAll('\ufffd', '')),
      (one) => one.segment,
    )
      .slice(0, 12)
      .join('');
    const at = chance() < 0.7 ? typed.length : 0;
    type(at);
    await emulator.write('');
    const lines = emulator.lines();
    const wanted = [...said, `> ${typed}`.trimEnd()];
    if (JSON.stringify(lines) !== JSON.stringify(wanted)) {
      t.same(lines.slice(-3), wanted.slice(-3), `round ${round}`);
      return;
    }
    if (at === 0 && emulator.cursor().column !== 2) t.equal(emulator.cursor().column, 2, `round ${round}`);
  }
  painter.commit([[span('bad', 'bad'), span(' and ', 'dim'), span('good', 'good')]]);
  painter.close();
  await emulator.write('');
  t.same(emulator.lines(), [...said, 'error: bad and ok: good']);
  t.notMatch(frames.join(''), moves);
  t.notMatch(frames.join(''), looks);
});

t.test('a typed row stays shorter than the terminal and scrolls sideways', async (t) => {
  const columns = 20;
  const emulator = openEmulator(columns, 10);
  const painter = openPlainPainter({
    write: (text) => void emulator.write(text),
    size: { columns, rows: 10 },
    theme: themes.plain,
  });
  painter.live([lineOf('x'.repeat(40))]);
  painter.commit([lineOf('said')]);
  painter.live([lineOf('> ')]);
  await emulator.write('');
  t.same(emulator.lines(), ['said', '>']);
  const text = 'abcdefghijklmnopqrstuvwxyz0123456789';
  for (let cursor = 0; cursor <= text.length; cursor += 1) {
    const composer = { ...emptyComposer, buffer: { ...emptyBuffer, text, cursor } };
    const { line, column } = typedLine(openView(composer), columns);
    const shown = textOf(line);
    t.ok(shown.length < columns && column < columns, `${shown} ${column}`);
    t.ok(shown.slice(2, column).endsWith(text.slice(Math.max(0, cursor - 3), cursor)), `${cursor}: ${shown}`);
  }
  const several = { ...emptyComposer, buffer: { ...emptyBuffer, text: 'one\ntwo', cursor: 5 } };
  t.same(typedLine(openView(several), columns), { line: [span('2> two')], column: 4 });
});

long(
  '`--plain` sends no escape sequence to a dumb terminal, which is refused without it',
  { skip: noPty },
  async (t) => {
    await using code = await openCodeScene([]);
    const env = { OPENAI_API_KEY: 'sk-planted-0123456789', TERM: 'dumb' };
    await using scene = code.startIn(env, '--plain');
    await scene.until('status: ready');
    scene.type('/network allow');
    await scene.until('> /network allow');
    scene.press('enter');
    await scene.until(/net allow/);
    scene.press('ctrl+d');
    t.equal((await scene.exited).exitCode, 0);
    t.notMatch(scene.raw(), /\x1b/);
    await using refused = code.startIn(env);
    t.equal((await refused.exited).exitCode, 128);
    t.match(refused.lines()[0], /TERMINAL_REQUIRED.*`--plain`/, 'and the line that says so says what works');
  },
);

long('`--plain` prints each change as a line and moves no cursor', { skip: noPty }, async (t) => {
  await using code = await openCodeScene([
    { text: 'It adds **one** cent.\n\n- here\n' },
    submits(priceDraft),
  ]);
  await using scene = code.start('--plain');
  await scene.until('status: ready');
  scene.type('/ask What does pice');
  scene.press('left', 'left', 'left');
  scene.type('r');
  scene.press('end');
  scene.type(' do?');
  await scene.until('> /ask What does price do?');
  scene.press('enter');
  await scene.until('It adds one cent.');
  await scene.until((screen) => (screen.match(/status: ready/g) ?? []).length === 2);
  scene.type('A price is one cent too high: make it exact, please, for everybody who buys anything of us');
  await scene.until('anything of us');
  scene.press('enter');
  await scene.until('number or letter chooses');
  const lines = scene.lines();
  for (const told of [
    /^status: starting…$/,
    /^status: thinking$/,
    /^status: asks you$/,
    / 1 y {2}/,
    /^ {2}objectives$/,
  ])
    t.ok(
      lines.some((line) => told.test(line)),
      `${told}`,
    );
  for (const once of [/^status: asks you$/, /It adds one cent\./])
    t.equal(lines.filter((line) => once.test(line)).length, 1, `${once}`);
  await instant(deafForMs + 50);
  scene.type('2');
  await scene.until('type the note');
  scene.press('escape');
  await scene.until((screen) => (screen.match(/number or letter chooses/g) ?? []).length === 2);
  scene.press('ctrl+d');
  t.equal((await scene.exited).exitCode, 0);
  t.notMatch(scene.raw(), moves);
  t.notMatch(scene.raw(), looks);
});
