import t from 'tap';
import { type Entry, nextToPrint, nothingPrinted, type Printed } from '../../../session/tui/print/printed.ts';

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

t.test('what is finished is printed once, in its order', async (t) => {
  const [a, b] = [entry('a'), entry('b')];
  t.strictSame(play([a], [a], [a, b], [a, b]), ['a', '', 'b', '']);
});

t.test('a reply is printed as it comes, and whole once', async (t) => {
  t.strictSame(play([reply('r', true)], [reply('r', true)], [reply('r', false)], [reply('r', false)]), [
    'r…',
    'r…',
    'r',
    '',
  ]);
});

t.test('a reply that is half printed is not cut in two by what ends beside it', async (t) => {
  const note = entry('n');
  t.strictSame(play([reply('r', true)], [reply('r', true), note], [reply('r', false), note]), [
    'r…',
    'r…',
    'r n',
  ]);
});

t.test('a tool that runs long holds nothing up, and is printed when it ends', async (t) => {
  const [later, last] = [entry('later'), entry('last')];
  t.strictSame(play([tool('x', 'running'), later], [tool('x', 'completed'), later, last]), [
    'later',
    'x last',
  ]);
});

t.test('of two replies at once the second waits for the first', async (t) => {
  t.strictSame(
    play(
      [reply('one', true), reply('two', true)],
      [reply('one', true), reply('two', false)],
      [reply('one', false), reply('two', false)],
    ),
    ['one…', 'one…', 'one two'],
  );
});

t.test('what went by without being seen is told', async (t) => {
  const { printed } = nextToPrint(nothingPrinted, { transcript: [entry('a')] });
  t.equal(nextToPrint(printed, { transcript: [entry('y'), entry('z')] }).missed, true);
  t.equal(nextToPrint(printed, { transcript: [entry('a'), entry('z')] }).missed, false);
});
