import t from 'tap';
import { modelEventReader } from '../../../../plugins/third-party/parts/outside-provider.ts';

const call = { id: 'c1', name: 'read_file', arguments: '{}' };
const events = [
  { type: 'asked', requestId: 'req-1' },
  { type: 'reasoning', text: 'x' },
  { type: 'text', text: 'x' },
  { type: 'notice', text: 'x' },
  { type: 'call', call },
  { type: 'usage', usage: { input: 1, output: 2, cachedInput: 1, reasoning: 1 } },
  { type: 'end', end: 'calls', state: { a: 1 } },
];

t.test('accepts every known model event and refuses unknown or malformed ones', async (t) => {
  const reader = modelEventReader();
  t.strictSame(
    events.map((event) => reader.take(event)),
    events,
  );
  reader.finish();
  for (const odd of [
    { type: 'asked', requestId: 'a b' },
    { type: 'asked', requestId: '\u001b[31m' },
    { type: 'asked', requestId: 'x', more: 1 },
    { type: 'said' },
  ])
    t.throws(() => modelEventReader().take(odd), TypeError);
});
