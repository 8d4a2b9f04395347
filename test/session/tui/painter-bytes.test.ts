import t, { type Test } from 'tap';
import type { Clock } from '../../../core/base/clock.ts';
import type { Line } from '../../../session/screen/line.ts';
import { openFrames } from '../../../session/tui/term/painter.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { lineOf, openPainterScene } from './open-painter-scene.ts';

const columns = 80;
/** Milliseconds between two tokens of a model that is neither slow nor fast, and of one whose tokens are drawn singly. */
const tokenMs = 16;
const slowTokenMs = 40;

/** A clock that stands still until it is moved. */
function handClock(): Clock & { readonly move: (ms: number) => Promise<void> } {
  let now = 0;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms, wake });
      }),
    move: async (ms) => {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    },
  };
}

for (const each of [tokenMs, slowTokenMs])
  t.test(`a token every ${each} ms writes at most three times its own octets`, (t) => costs(t, each));

async function costs(t: Test, everyMs: number): Promise<void> {
  const chance = seededRandom(toldSeed(t));
  const { painter, emulator, frames, settled } = openPainterScene(columns, 24, 'colour');
  const clock = handClock();
  let reply = '';
  let sent = 0;
  const finished: string[] = [];
  const done: Line[] = [];
  const status: Line = [{ text: 'model · 12% of context · $0.04 · network denied', tone: 'dim' }];
  const screen = openFrames(clock, () => {
    // In the same turn as what is live: a finished line is never there twice.
    painter.commit(done.splice(0));
    const live = [lineOf(reply), lineOf('> what comes next'), status];
    painter.live(live, { row: 1, column: 17 });
  });
  screen.ask();
  await clock.move(everyMs);
  const before = frames.join('').length;
  for (let count = 0; count < 2000; count += 1) {
    const token = ` ${'abcdefgh'.slice(0, 3 + Math.floor(chance() * 5))}`;
    sent += token.length;
    if (reply.length + token.length > columns) {
      done.push(lineOf(reply));
      finished.push(reply);
      reply = token.trimStart();
    } else reply += token;
    screen.ask();
    await clock.move(everyMs);
  }
  await clock.move(1000);
  await settled();
  const written = Buffer.byteLength(frames.join('').slice(before));
  t.comment(`${(written / sent).toFixed(2)} octets for each octet of a token`);
  t.ok(written <= 3 * sent, `${written} octets for ${sent}`);
  t.same(
    emulator.lines().slice(0, -2),
    [...finished, reply].map((line) => line.trimEnd()),
  );
}

t.test('frames are drawn at once after a pause and then at a limited rate', async (t) => {
  const clock = handClock();
  const drawn: number[] = [];
  const frames = openFrames(clock, () => drawn.push(clock.monotonic()), 30);
  frames.ask();
  frames.ask();
  t.same(drawn, [], 'what changes in one turn is drawn once');
  await clock.move(0);
  t.same(drawn, [0]);
  for (let ms = 0; ms < 100; ms += 10) {
    frames.ask();
    await clock.move(10);
  }
  t.same(drawn, [0, 30, 60, 90]);
  frames.ask();
  frames.now();
  t.same(drawn, [0, 30, 60, 90, 100], 'a key waits for nothing');
  await clock.move(100);
  t.equal(drawn.length, 5, 'and what it drew is not drawn again');
  frames.ask();
  frames.stop();
  await clock.move(100);
  t.equal(drawn.length, 5);
});

t.test('typing a letter writes only that letter', async (t) => {
  const { painter, frames, settled } = openPainterScene(columns, 24);
  painter.live([lineOf('> hell'), lineOf('status')], { row: 0, column: 6 });
  painter.live([lineOf('> hello'), lineOf('status')], { row: 0, column: 7 });
  await settled();
  t.equal(frames.at(-1), 'o');
  const count = frames.length;
  painter.live([lineOf('> hello'), lineOf('status')], { row: 0, column: 7 });
  t.equal(frames.length, count, 'what is there already is not written');
});
