import t from 'tap';
import { textOf } from '../../../session/screen/line.ts';
import { kept } from '../../../session/state/state.ts';
import { readLocal } from '../../../session/tui/local-commands.ts';
import { openPrinter, printedFrom } from '../../../session/tui/open-printer.ts';
import { openEarlier, wholeTranscript } from '../../../session/tui/show/earlier.ts';
import { openMachineDoor } from './machine-door.ts';

/** A session in which so many notes were told. */
async function noted(notes: number) {
  const machine = openMachineDoor(() => 0);
  await machine.door.submit('Go.');
  for (let at = 0; at < notes; at += 1)
    machine.report((turn) => ({ turn, type: 'noted', id: `n${at}`, text: `Note ${at}.` }));
  return machine;
}

const notesIn = (lines: readonly string[]) => lines.flatMap((line) => /Note (\d+)\./.exec(line)?.[1] ?? []);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at}`);

t.test('`/earlier` accepts a count of at most 200 entries', async (t) => {
  t.strictSame(readLocal('/earlier'), { type: 'earlier', count: 20 });
  t.strictSame(readLocal('/earlier 7'), { type: 'earlier', count: 7 });
  t.strictSame(readLocal('/earlier 9999'), { type: 'earlier', count: 200 });
  for (const wrong of ['/earlier 0', '/earlier -1', '/earlier x', '/earlier 12345'])
    t.match(readLocal(wrong), { type: 'none' }, wrong);
});

t.test('a long thread prints its end, and `/earlier` pages back to its beginning', async (t) => {
  const { door } = await noted(kept.transcript + 99);
  const printed = openPrinter().print(door.snapshot(), 80).lines.map(textOf);
  t.match(printed[0], '… 560 earlier: /earlier shows them');
  t.strictSame(notesIn(printed), numbers(559, 599));
  const earlier = openEarlier(door, printedFrom(door.snapshot()));
  const show = async (count: number) => (await earlier.show(count, 80)).map(textOf);
  // Within the window, over its edge, and beyond it.
  const pieces = [await show(20), await show(200), await show(200), await show(200)];
  t.strictSame(pieces.map(notesIn), [
    numbers(539, 559),
    numbers(339, 539),
    numbers(139, 339),
    numbers(0, 139),
  ]);
  t.match(pieces[0]?.[1], '541 to 560');
  t.match(pieces[0]?.at(-1), '… 540 before these: /earlier');
  t.match(pieces[3]?.at(-1), 'that is where it began');
  t.strictSame(await show(20), ['  nothing came before']);
});

t.test('a short thread is printed whole, without a hint at earlier entries', async (t) => {
  const { door } = await noted(3);
  const printed = openPrinter().print(door.snapshot(), 80).lines.map(textOf);
  t.notMatch(printed.join('\n'), /earlier/);
  const earlier = openEarlier(door, printedFrom(door.snapshot()));
  t.strictSame((await earlier.show(20, 80)).map(textOf), ['  nothing came before']);
});

t.test('`wholeTranscript` contains entries outside the window', async (t) => {
  const { door } = await noted(kept.transcript + 499);
  const all = await wholeTranscript(door);
  t.strictSame(
    all.map(({ content }) => content),
    ['Go.', ...numbers(0, kept.transcript + 499).map((at) => `Note ${at}.`)],
  );
});

t.test('a resumed thread prints the confirmed spec once, in its place', async (t) => {
  const { door } = await noted(2);
  const [first, ...more] = door.snapshot().transcript;
  if (first === undefined) throw new Error('nothing was noted');
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  const contract = (title: string, second: number, status: 'resolved' | 'cancelled') => ({
    ...{ id: title, kind: 'intent_review_choice' as const, status, title, options: [] },
    ...{ metadata: { essence: { problem: 'A price is too high.' } }, requestedAt: at(second) },
  });
  const snapshot = {
    ...door.snapshot(),
    transcript: [first, ...more].map((entry, index) => ({ ...entry, createdAt: at(2 + 2 * index) })),
    interactions: [
      contract('Long ago', 1, 'resolved'),
      contract('Exact prices', 3, 'resolved'),
      contract('Withdrawn', 3, 'cancelled'),
    ],
  };
  const printer = openPrinter();
  const lines = printer.print(snapshot, 80).lines.map(textOf);
  const [asked, contracts, note] = ['Go.', 'Spec: ', 'Note 0.'].map((words) =>
    lines.findIndex((line) => line.includes(words)),
  );
  t.ok(
    asked !== undefined &&
      contracts !== undefined &&
      note !== undefined &&
      asked < contracts &&
      contracts < note,
  );
  t.match(lines.join('\n'), /Spec: Exact prices\n {2}A price is too high\./);
  t.notMatch(lines.join('\n'), /Long ago|Withdrawn/);
  t.strictSame(printer.print(snapshot, 80).lines, [], 'and once');
});
