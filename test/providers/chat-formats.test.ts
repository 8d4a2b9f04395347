import t from 'tap';
import type { ModelRequest } from '../../core/interfaces/model.ts';
import { deepseekDialect, kimiDialect, zhipuDialect } from '../../providers/chat-vendors.ts';
import { chatDialect } from '../../providers/openai/source.ts';
import { type ChatDialect, chatFormat } from '../../providers/wire/chat/chat-format.ts';

const question: ModelRequest = {
  model: 'm',
  system: [],
  messages: [{ role: 'user', text: 'Go.' }],
  tools: [{ name: 'read_file', description: '', parameters: {} }],
};

t.test('switches to whole replies after a stream that lost its calls', async (t) => {
  const request = { ...question, model: 'glm-5.3' };
  const format = chatFormat(zhipuDialect, {});
  t.match(format.toWire(request), { framing: 'events', body: { stream: true, tool_stream: true } });
  const read = (message: object) => {
    const reader = format.reader(request);
    return [...reader.take({ choices: [{ message, finish_reason: 'tool_calls' }] }, ''), ...reader.finish()];
  };
  t.throws(() => read({ content: 'x' }), /calls nothing/);
  const { framing, body } = format.toWire(request);
  t.equal(framing, 'whole');
  t.equal(body.stream, false);
  t.notOk(Object.hasOwn(body, 'tool_stream'), 'a whole reply has no pieces');
  const call = { id: 'a', function: { name: 'read_file', arguments: '{}' } };
  t.match(read({ content: '', tool_calls: [call] }), [{ type: 'call' }, { type: 'end', end: 'calls' }]);
  t.equal(chatFormat(zhipuDialect, {}).toWire(request).framing, 'events', 'another provider streams');
});

t.test('arguments that are not an object go back as one', async (t) => {
  const of = (given: string) => {
    const calls = [{ id: 'a', name: 'read_file', arguments: given }];
    const messages = [...question.messages, { role: 'assistant', text: '', calls } as const];
    return chatFormat(chatDialect, {}).toWire({ ...question, messages }).body.messages;
  };
  const sent = (text: string) => [{}, { tool_calls: [{ function: { arguments: text } }] }];
  t.match(of('{"path": "a"}'), sent('{"path": "a"}'));
  t.match(of('{"path": "a'), sent(JSON.stringify({ malformed: '{"path": "a' })));
});

t.test('any other broken reply does not change the framing', async (t) => {
  const format = chatFormat(chatDialect, {});
  t.throws(() => [...format.reader(question).finish()], /in the middle of the reply/);
  t.equal(format.toWire(question).framing, 'events');
});

t.test('DeepSeek streams only if requested, and Kimi unless disabled', async (t) => {
  const of = (dialect: ChatDialect) => chatFormat(dialect, {}).toWire(question);
  for (const [flags, framing] of [
    [{}, 'whole'],
    [{ 'deepseek-stream': 'false' }, 'whole'],
  ] as const) {
    t.match(of(deepseekDialect(flags)), { framing, body: { stream: false } });
    t.notOk(Object.hasOwn(of(deepseekDialect(flags)).body, 'stream_options'));
  }
  t.match(of(deepseekDialect({ 'deepseek-stream': 'true' })), { framing: 'events', body: { stream: true } });
  t.match(of(kimiDialect({})), { framing: 'events', body: { stream: true } });
  t.match(of(kimiDialect({ 'kimi-stream': 'false' })), { framing: 'whole', body: { stream: false } });
});

t.test('omits token fields that the request does not set', async (t) => {
  const body = chatFormat(zhipuDialect, {}).toWire(question).body;
  t.notOk(Object.hasOwn(body, 'stream_options'));
  t.notOk(Object.hasOwn(body, 'max_tokens'));
});

t.test('refuses a model with an unsupported option before anything is sent', async (t) => {
  const format = chatFormat(kimiDialect({ 'kimi-thinking': 'disabled' }), {});
  t.throws(() => format.toWire({ ...question, model: 'kimi-k3' }), { code: 'PROVIDER_OPTION' });
  t.match(format.toWire({ ...question, model: 'kimi-k2.6-preview' }).body, {
    thinking: { type: 'disabled' },
  });
});
