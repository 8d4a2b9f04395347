import t from 'tap';
import type { Entry } from '../../../session/tui/entry-lines.ts';
import { nextToPrint, nothingPrinted, type Printed } from '../../../session/tui/open-printer.ts';

function entry(id: string, more: Partial<Entry> = {}): Entry {
  return {
    id,
    kind: 'info_note',
    content: id,
    streaming: false,
    metadata: {},
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

const reply = (id: string, streaming: boolean): Entry => entry(id, { kind: 'assistant_message', streaming });
const tool = (id: string, status: string): Entry => entry(id, { kind: 'tool_call', status });

/** What is printed of snapshots one after the other: ids of whole entries, and of replies that are open. */
function play(...transcripts: readonly (readonly Entry[])[]) {
  let printed: Printed = nothingPrinted;
  return transcripts.map((transcript) => {
    const next = nextToPrint(printed, { transcript: [...transcript] });
    ({ printed } = next);
    return [
      ...next.entries.map(({ id }) => id),
      ...(next.open === undefined ? [] : [`${next.open.id}…`]),
    ].join(' ');
  });
}

t.test('a finished entry is printed once, in order', async (t) => {
  const [a, b] = [entry('a'), entry('b')];
  t.strictSame(play([a], [a], [a, b], [a, b]), ['a', '', 'b', '']);
});

t.test('a reply is printed while it streams and once as a whole', async (t) => {
  t.strictSame(play([reply('r', true)], [reply('r', true)], [reply('r', false)], [reply('r', false)]), [
    'r…',
    'r…',
    'r',
    '',
  ]);
});

t.test('an entry that finishes during a streamed reply is printed after it', async (t) => {
  const note = entry('n');
  t.strictSame(play([reply('r', true)], [reply('r', true), note], [reply('r', false), note]), [
    'r…',
    'r…',
    'r n',
  ]);
});

t.test('a running tool call delays no other entry and is printed when it ends', async (t) => {
  const [later, last] = [entry('later'), entry('last')];
  t.strictSame(play([tool('x', 'running'), later], [tool('x', 'completed'), later, last]), [
    'later',
    'x last',
  ]);
});

t.test('the second of two parallel replies waits for the first', async (t) => {
  t.strictSame(
    play(
      [reply('one', true), reply('two', true)],
      [reply('one', true), reply('two', false)],
      [reply('one', false), reply('two', false)],
    ),
    ['one…', 'one…', 'one two'],
  );
});

t.test('entries that left the window unprinted are reported as missed', async (t) => {
  const { printed } = nextToPrint(nothingPrinted, { transcript: [entry('a')] });
  t.equal(nextToPrint(printed, { transcript: [entry('y'), entry('z')] }).missed, true);
  t.equal(nextToPrint(printed, { transcript: [entry('a'), entry('z')] }).missed, false);
});
