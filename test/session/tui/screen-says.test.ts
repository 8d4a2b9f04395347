import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { textOf } from '../../../session/screen/line.ts';
import type { SessionDoor } from '../../../session/screen/session-door.ts';
import type { Snapshot } from '../../../session/state/snapshot.ts';
import { deafForMs } from '../../../session/tui/card.ts';
import { openScreen } from '../../../session/tui/open-screen.ts';
import { keyOf, type Painter } from '../../../session/tui/term/painter.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { openMachineDoor } from './machine-door.ts';

/** A screen over a session with nothing behind it; what it printed. */
function openSaid(of?: SessionDoor, isStarting = false) {
  const printed: string[] = [];
  const painter: Painter = {
    commit: (lines) => void printed.push(...lines.map(textOf)),
    live: (lines) => void live.splice(0, live.length, ...lines.map(textOf)),
    resized() {},
    pause() {},
    resume() {},
    close() {},
  };
  const machine = openMachineDoor(() => 0);
  const door = of ?? machine.door;
  const live: string[] = [];
  const screen = openScreen({
    door,
    painter,
    size: { columns: 80, rows: 24 },
    clock: systemClock,
    commands: [],
    ...(isStarting ? {} : { greeting: [] }),
    paths: async () => [],
    edit: async (text) => text,
    write: async (path) => path,
    isRun: async (word) => word === 'a-run',
    suspend() {},
  });
  return { printed, live, screen, door, machine };
}

t.test('the status line names the port of the page if it is another than usual', async (t) => {
  const sandbox = { backend: 'bubblewrap', enforced: [], selfApproval: 'not_tried' } as const;
  const { door } = openMachineDoor(() => 0);
  for (const web of [41_237, 3000]) {
    const { live, screen } = openSaid({ ...door, diagnostics: async () => ({ sandbox, ports: { web } }) });
    await until(() => live.join().includes('sandbox bubblewrap'));
    t.equal(/page on port 41237/.test(live.join()), web === 41_237);
    t.equal(/page on port/.test(live.join()), web !== 3000);
    screen.close();
  }
});

t.test('the screen reports a stopped turn once', async (t) => {
  const { printed, screen, door } = openSaid();
  await door.submit('do it');
  screen.press([keyOf('escape')]);
  await until(() => printed.includes('· the turn was stopped'));
  screen.close();
  t.equal(printed.filter((line) => line === '· the turn was stopped').length, 1);
});

t.test('the cost of a turn is printed when it ends, and not again on resume', async (t) => {
  const machine = openMachineDoor(() => 0);
  const { door } = machine;
  const turn = { inputTokens: 6000, outputTokens: 800 };
  let status: Snapshot['status'] = 'thinking';
  const snapshot = (): Snapshot => ({ ...door.snapshot(), status, usage: { ...turn, turn } });
  const told = new Set<() => void>();
  const { printed, screen } = openSaid(
    { ...door, snapshot, follow: (tell) => told.add(tell) && (() => {}) },
    true,
  );
  const becomes = async (next: Snapshot['status']): Promise<void> => {
    status = next;
    for (const tell of told) tell();
    screen.press([]);
  };
  const costs = (): number => printed.filter((line) => line.startsWith('· worked')).length;
  status = 'idle';
  screen.opened([]);
  t.equal(costs(), 0, 'it was opened, and nothing has worked');
  await becomes('thinking');
  await becomes('idle');
  t.equal(costs(), 1);
  t.ok(printed.includes('· worked 0s · 6.8k tokens · $0.00'));
  screen.close();
});

t.test('a refused note is restored into the text, and its question stays open', async (t) => {
  const { live, screen, door, machine } = openSaid();
  await door.submit('do it');
  const ask = { type: 'ask', subject: 'draft', kind: 'intent_review_choice', metadata: {} } as const;
  machine.report((turn) => ({ ...ask, turn }));
  await until(() => live.some((line) => line.includes('Confirm')));
  await instant(deafForMs + 50);
  screen.press([{ type: 'text', text: 'm' }]);
  screen.press([
    ...Array.from({ length: 9 }, () => ({ type: 'text', text: 'x'.repeat(900) }) as const),
    keyOf('enter'),
  ]);
  await until(() => live.some((line) => line.includes('expected 1 to 8000 characters')));
  t.ok(
    live.some((line) => line.includes('xxxx')),
    'nothing that was written is lost',
  );
  screen.press([
    keyOf('char:u', { ctrl: true }),
    { type: 'text', text: 'nobody pays twice' },
    keyOf('enter'),
  ]);
  await until(() => machine.answers.length === 1);
  t.match(machine.answers, [{ given: { selectedOption: 'modify', note: 'nobody pays twice' } }]);
  screen.close();
});

t.test('an unknown or malformed command stays in the text with an explanation', async (t) => {
  const { live, screen } = openSaid();
  for (const [typed, why] of [
    ['/keep', 'expected `/keep N`'],
    ['/nothing', 'there is no command `/nothing`: /help lists them'],
  ] as const) {
    screen.press([{ type: 'text', text: typed }, keyOf('escape'), keyOf('enter')]);
    await until(() => live.some((line) => line.includes(why)));
    t.ok(live.includes(`> ${typed}`), typed);
    screen.press([{ type: 'key', name: 'char:u', ctrl: true, alt: false, shift: false }]);
  }
  screen.close();
});

t.test('`/resume` with an unknown thread prints an error and keeps the session open', async (t) => {
  const { printed, screen } = openSaid();
  screen.press([{ type: 'text', text: '/resume a-run' }, keyOf('enter')]);
  await until(() => printed.some((line) => line.includes('that is a run: `writ resume a-run`')));
  screen.press([{ type: 'text', text: '/resume foo' }, keyOf('enter')]);
  let isOver = false;
  void screen.ended.then(() => {
    isOver = true;
  });
  await until(() => isOver || printed.some((line) => line.includes('no thread `foo`')));
  screen.press([{ type: 'text', text: '/quit' }, keyOf('enter')]);
  t.strictSame(await screen.ended, {}, 'it is its user who leaves');
  screen.close();
});
