import t from 'tap';
import type { ModelEvent, ModelRequest } from '../../core/interfaces/model.ts';
import { responsesFormat } from '../../providers/openai/source.ts';
import { readCases } from './wire-case.ts';

const format = responsesFormat({ key: 'k' });
const question: ModelRequest = {
  model: 'gpt-6.1-sol',
  system: [],
  messages: [{ role: 'user', text: 'Go.' }],
  tools: [],
};

/** The input of the question after a recorded reply, and the items of that. */
function inputAfter(name: string): { readonly input: unknown; readonly items: readonly unknown[] } {
  const recorded = readCases('openai').find((one) => one.name === name)?.events ?? [];
  const reader = format.reader(question);
  const events: ModelEvent[] = [];
  for (const { event = '', data } of recorded) events.push(...reader.take(data, event));
  events.push(...reader.finish());
  const end = events.at(-1);
  const state = end?.type === 'end' ? end.state : undefined;
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  const { input } = format.toWire({
    ...question,
    messages: [
      ...question.messages,
      {
        role: 'assistant',
        text: '',
        calls,
        state: {
          provider: 'openai',
          model: question.model,
          value: JSON.parse(JSON.stringify(state ?? null)) as unknown,
        },
      },
    ],
  }).body;
  const items = recorded
    .map(({ data }) => data as { readonly type: string; readonly item: unknown })
    .filter(({ type }) => type === 'response.output_item.done')
    .map(({ item }) => item);
  return { input, items };
}

t.test('sends reply items back byte for byte, each reasoning before its call', async (t) => {
  const { input, items } = inputAfter('reasoning');
  t.equal(items.length, 4);
  t.equal(JSON.stringify(input), JSON.stringify([{ role: 'user', content: 'Go.' }, ...items]));
});

t.test('sends nothing back from a reply that was cut', async (t) => {
  const { input } = inputAfter('length');
  t.strictSame(input, [{ role: 'user', content: 'Go.' }]);
});

t.test('arguments that are not an object go back as one, also in the items of a reply', async (t) => {
  const given = '{"path": "a';
  const call = { id: 'c', name: 'read_file', arguments: given };
  const item = { type: 'function_call', call_id: 'c', name: 'read_file', arguments: given };
  const state = { provider: 'openai', model: question.model, value: [item] };
  for (const more of [{}, { state }]) {
    const message = { role: 'assistant', text: '', calls: [call], ...more } as const;
    const { input } = format.toWire({ ...question, messages: [message] }).body;
    t.strictSame(input, [{ ...item, arguments: JSON.stringify({ malformed: given }) }]);
  }
});

t.test('does not send foreign or malformed state back as items', async (t) => {
  for (const value of ['First think.', ['no item'], [null], { type: 'message' }]) {
    const { input } = format.toWire({
      ...question,
      messages: [
        {
          role: 'assistant',
          text: 'Hi.',
          calls: [],
          state: { provider: 'openai', model: question.model, value },
        },
      ],
    }).body;
    t.strictSame(input, [{ role: 'assistant', content: 'Hi.' }]);
  }
});

t.test('limits the number of items in one reply', async (t) => {
  const reader = format.reader(question);
  const item = { type: 'response.output_item.done', item: { type: 'reasoning' } };
  const flood = (): void => {
    for (let count = 0; count < 10_000; count += 1) for (const _event of reader.take(item, ''));
  };
  t.throws(flood, /items in one reply/);
});
