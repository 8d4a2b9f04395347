import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { Snapshot } from '../../../session/state/snapshot.ts';
import { type Announcement, openScreen } from '../../../session/tui/open-screen.ts';
import { openTerminal } from '../../../session/tui/term/open-terminal.ts';
import type { Ground } from '../../../session/tui/term/process-ground.ts';
import { themes } from '../../../session/tui/term/row.ts';
import { until } from '../../waiting/until.ts';
import { openMachineDoor } from './machine-door.ts';

t.test('a person is called when a long turn ends or asks, and not after a short one', async (t) => {
  const { door } = openMachineDoor(() => 0);
  let status: Snapshot['status'] = 'idle';
  let nowMs = 0;
  const told = new Set<() => void>();
  const news: Announcement[] = [];
  const painter = { commit() {}, live() {}, resized() {}, pause() {}, resume() {}, close() {} };
  const screen = openScreen({
    door: {
      ...door,
      snapshot: () => ({ ...door.snapshot(), status }),
      follow: (tell) => told.add(tell) && (() => {}),
    },
    painter,
    size: { columns: 80, rows: 24 },
    clock: { ...systemClock, now: () => nowMs },
    commands: [],
    greeting: [],
    paths: async () => [],
    edit: async (text) => text,
    write: async (path) => path,
    suspend() {},
    announce: (one) => void news.push(one),
  });
  t.teardown(() => screen.close());
  const goOn = async (next: Snapshot['status'], afterMs: number) => {
    status = next;
    nowMs += afterMs;
    const before = news.length;
    for (const tell of told) tell();
    await until(() => news.length > before);
  };
  await goOn('thinking', 0);
  await goOn('idle', 9000);
  await goOn('thinking', 60_000);
  await goOn('awaiting_interaction', 11_000);
  await goOn('executing_tool', 0);
  await goOn('completed', 20_000);
  t.strictSame(
    news.map(({ text, isBusy, isAlert }) => [text.replace(/^.*: /, ''), isBusy, isAlert]),
    [
      ['thinking', true, false],
      ['ready', false, false],
      ['thinking', true, false],
      ['asks you', false, true],
      ['working', true, false],
      ['done', false, true],
    ],
  );
});

t.test(
  'title, progress and calls are inert sequences, undone at the end, and absent with --plain',
  async (t) => {
    const opened = (isPlain: boolean) => {
      let written = '';
      const stop = () => () => {};
      const ground: Ground = {
        env: { TERM: 'xterm-256color' },
        isTerminal: { input: true, output: true },
        raw() {},
        write(text) {
          written += text;
        },
        size: () => ({ columns: 80, rows: 24 }),
        onBytes: stop,
        onEnd: stop,
        onResize: stop,
        onSignal: stop,
        onLast: stop,
        stop() {},
      };
      const quiet = { keys() {}, resized() {}, ended() {} };
      const terminal = openTerminal({
        ground,
        clock: systemClock,
        theme: themes.colour,
        told: quiet,
        isPlain,
      });
      const take = (): string => {
        const all = written;
        written = '';
        return all;
      };
      return { terminal, take };
    };
    const { terminal, take } = opened(false);
    take();
    terminal.title('writ x: working', true);
    t.equal(take(), '\x1b[22;0t\x1b]2;writ x: working\x07\x1b]9;4;3\x07');
    terminal.call('done\x07\x1b]0;evil; more');
    const called = take();
    t.equal(called.split('\x07').length, 4, 'the bell, and the ends of two sequences');
    t.notMatch(called, '\x1b]0');
    terminal.close();
    const end = take();
    t.ok(end.includes('\x1b]9;4;0\x07\x1b[23;0t'), 'title and progress are as they were');
    const plain = opened(true);
    plain.take();
    plain.terminal.title('x', true);
    plain.terminal.call('x');
    plain.terminal.close();
    t.notMatch(plain.take(), /\x1b\]|\x07/);
  },
);
