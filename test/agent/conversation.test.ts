import t, { type Test } from 'tap';
import { openConversation } from '../../agent/conversation.ts';
import type { ModelMessage } from '../../core/interfaces/model.ts';

const callsOf = (id: string, given = '{}') => [{ id, name: 'read_file', arguments: given }];
const reply = (id: string, given?: string): ModelMessage => ({
  role: 'assistant',
  text: '',
  calls: callsOf(id, given),
});
const answer = (callId: string, text: string): ModelMessage => ({
  role: 'tool',
  results: [{ callId, name: 'read_file', text, isError: false }],
});
const sizeOf = (messages: readonly ModelMessage[]): number => JSON.stringify(messages).length;

/** What every vendor wants: a question first, and answers right behind the calls that they answer. */
const requireOrder = (t: Test, messages: readonly ModelMessage[]): void => {
  t.equal(messages[0]?.role, 'user');
  for (const [index, message] of messages.entries())
    if (message.role === 'tool') {
      const before = messages[index - 1];
      const calls = before?.role === 'assistant' ? before.calls.map(({ id }) => id) : [];
      if (JSON.stringify(calls) !== JSON.stringify(message.results.map(({ callId }) => callId)))
        t.fail(`message ${index} answers what was not asked`);
    }
  t.not(messages[1]?.role, 'tool');
};

t.test('a conversation that fits is kept unchanged', async (t) => {
  const conversation = openConversation('do it', 1000);
  const said = [reply('a'), answer('a', 'x'.repeat(300)), reply('b'), answer('b', 'y')];
  for (const message of said) conversation.add(message);
  t.strictSame(conversation.messages, [{ role: 'user', text: 'do it' }, ...said]);
});

t.test('the oldest tool results are left out first, with a note', async (t) => {
  const conversation = openConversation('do it', 14_000);
  for (let at = 0; at < 12; at += 1) {
    conversation.add(reply(`${at}`));
    conversation.add(answer(`${at}`, `${at} `.repeat(700)));
  }
  const texts = conversation.messages.flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ text }) => text) : [],
  );
  t.equal(texts.length, 12, 'every call still has its answer');
  t.match(texts[0], /^\[left out: 1400 characters; ask again\]$/);
  t.ok(texts.slice(-4).every((text) => text.length >= 1400));
  requireOrder(t, conversation.messages);
});

t.test('decisions and the last plan stay when the replies that recorded them go', async (t) => {
  const conversation = openConversation('do it', 10_000);
  const record = (id: string, name: string, given: object): void => {
    conversation.add({
      role: 'assistant',
      text: '',
      calls: [{ id, name, arguments: JSON.stringify(given) }],
    });
    conversation.add(answer(id, 'recorded'));
  };
  record('d', 'record_decision', { decision: 'Use a map.' });
  record('p', 'update_plan', { steps: 'pending old' });
  record('q', 'update_plan', { steps: 'pending new' });
  for (let at = 0; at < 40; at += 1) {
    conversation.add(reply(`${at}`, JSON.stringify({ path: 'p'.repeat(300) })));
    conversation.add(answer(`${at}`, 'z'.repeat(900)));
  }
  conversation.shrinkTo(6000);
  const [first] = conversation.messages;
  t.match(first, { role: 'user', text: /^do it\n\n.*left out.*Use a map\..*pending new/s });
  t.notMatch(first, { text: /pending old/ });
  t.ok(sizeOf(conversation.messages) < 9000);
  requireOrder(t, conversation.messages);
});

t.test('a question in the middle of a talk stays, and older words are shortened last', async (t) => {
  const before: ModelMessage[] = [
    { role: 'user', text: `begin ${'w'.repeat(9000)}` },
    { role: 'assistant', text: 'x'.repeat(3000), calls: [] },
  ];
  const conversation = openConversation('QUESTION', 4000, before);
  conversation.add(reply('a'));
  conversation.add(answer('a', 'y'.repeat(9000)));
  t.ok(sizeOf(conversation.messages) < 5000, `${sizeOf(conversation.messages)}`);
  t.match(JSON.stringify(conversation.messages), 'QUESTION');
  t.match(JSON.stringify(conversation.messages), 'begin');
  requireOrder(t, conversation.messages);
});

t.test(
  'calls that an interrupted turn left open have a result, and a reply that says nothing is left out',
  async (t) => {
    const thinking: ModelMessage = { role: 'assistant', text: ' ', calls: [] };
    const both: ModelMessage = { role: 'assistant', text: '', calls: [...callsOf('a'), ...callsOf('b')] };
    const asked: ModelMessage = { role: 'user', text: 'q' };
    const before = [asked, both, answer('b', 'known'), asked, thinking, asked, reply('c')];
    const { messages } = openConversation('now', 9000, before);
    t.match(messages, [
      asked,
      both,
      {
        results: [
          { callId: 'a', text: /^no result/, isError: true },
          { callId: 'b', text: 'known' },
        ],
      },
      asked,
      asked,
      reply('c'),
      { results: [{ callId: 'c', isError: true }] },
      { role: 'user', text: 'now' },
    ]);
    t.equal(messages.length, 8);
  },
);

t.test('thousands of turns stay bounded, and the task is kept', async (t) => {
  const conversation = openConversation('do it', 50_000);
  const sizes: number[] = [];
  for (let at = 0; at < 5000; at += 1) {
    conversation.add(reply(`${at}`, JSON.stringify({ path: 'p'.repeat(300) })));
    conversation.add(answer(`${at}`, 'z'.repeat(900)));
    if (at % 100 === 99) {
      sizes.push(sizeOf(conversation.messages));
      requireOrder(t, conversation.messages);
    }
  }
  t.ok(Math.max(...sizes) < 80_000, `${Math.max(...sizes)} characters`);
  const [first] = conversation.messages;
  t.match(first, { role: 'user', text: /^do it\n\n\[4\d{3} earlier replies of yours/ });
});

t.test('an oversized result is cut in its middle, and many large results are all cut', async (t) => {
  const conversation = openConversation('do it', 10_000);
  conversation.add(reply('a'));
  conversation.add(answer('a', `begin${'-'.repeat(100_000)}end`));
  t.ok(sizeOf(conversation.messages) < 10_500);
  t.match(conversation.messages.at(-1), {
    results: [{ text: /^begin[^[]*\n\[left out: 100008 characters; ask again\]\n[^\]]*end$/ }],
  });
  const ids = Array.from({ length: 20 }, (_, at) => `c${at}`);
  conversation.add({
    role: 'assistant',
    text: '',
    calls: ids.map((id) => ({ id, name: 'read_file', arguments: '{}' })),
  });
  conversation.add({
    role: 'tool',
    results: ids.map((callId) => ({ callId, name: 'read_file', text: 'x'.repeat(5000), isError: false })),
  });
  t.ok(sizeOf(conversation.messages) < 15_000, `${sizeOf(conversation.messages)}`);
  requireOrder(t, conversation.messages);
});

t.test('provider state counts towards the size limit', async (t) => {
  const conversation = openConversation('do it', 10_000);
  for (let at = 0; at < 40; at += 1) {
    conversation.add({
      ...(reply(`${at}`) as Extract<ModelMessage, { readonly role: 'assistant' }>),
      state: { provider: 'p', model: 'm', value: { signed: 's'.repeat(2000) } },
    });
    conversation.add(answer(`${at}`, 'done'));
  }
  t.ok(sizeOf(conversation.messages) < 14_000, `${sizeOf(conversation.messages)}`);
  requireOrder(t, conversation.messages);
});

t.test('a last answer that is longer than the window is cut in its middle', async (t) => {
  const before: ModelMessage[] = [
    { role: 'user', text: 'explain it' },
    { role: 'assistant', text: `begin${'x'.repeat(60_000)}end`, calls: [] },
  ];
  const conversation = openConversation('and now?', 8000, before);
  t.ok(conversation.size <= 8000, `${conversation.size}`);
  t.match(JSON.stringify(conversation.messages), /explain it.*begin.*left out.*end.*and now\?/);
});
