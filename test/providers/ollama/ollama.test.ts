import t from 'tap';
import type { ModelRequest } from '../../../core/interfaces/model.ts';
import {
  compactSchema,
  contextLength,
  isCloud,
  ollama,
  ollamaFormat,
  toOllamaBase,
} from '../../../providers/ollama/source.ts';

const request: ModelRequest = { model: 'm', system: [], messages: [], tools: [] };

t.test('the Ollama provider declares its keys, variables and flags', async (t) => {
  t.strictSame([ollama.keys, ollama.baseVariables], [['OLLAMA_API_KEY'], ['OLLAMA_HOST', 'OLLAMA_BASE_URL']]);
  t.match(ollama.flags, [
    {
      name: 'ollama-thinking',
      alias: 'thinking',
      values: ['auto', 'off', 'on', 'low', 'medium', 'high'],
      variable: 'OLLAMA_THINK',
    },
    { name: 'ollama-compact-tools', bare: 'on', variable: 'OLLAMA_COMPACT_TOOLS' },
  ]);
});

t.test('reads an address as the clients of Ollama do', async (t) => {
  for (const [given, base] of [
    ['127.0.0.1', 'http://127.0.0.1:11434'],
    ['localhost:1234', 'http://localhost:1234'],
    ['localhost:80', 'http://localhost'],
    [':1234', 'http://127.0.0.1:1234'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:1234', 'http://127.0.0.1:1234'],
    ['[::]:1234', 'http://127.0.0.1:1234'],
    ['[::1]:1234', 'http://[::1]:1234'],
    ['::1', 'http://[::1]:11434'],
    ['http://localhost:1234/', 'http://localhost:1234'],
    ['http://localhost', 'http://localhost'],
    ['https://models.example/ollama/', 'https://models.example/ollama'],
    ['https://ollama.com/api', 'https://ollama.com'],
    ['ollama.com', 'https://ollama.com'],
    ['box:1234/ollama', 'http://box:1234/ollama'],
    [' localhost ', 'http://localhost:11434'],
  ] as const)
    t.equal(toOllamaBase(given), base, given);
  for (const given of ['', '   ', 'a b', 'host:port', 'ftp://x', ':x'])
    t.notOk(
      URL.canParse(toOllamaBase(given)) && toOllamaBase(given).startsWith('http'),
      `${given} stays what it is`,
    );
});

t.test('sends the key only to the Ollama cloud, the only base that needs one', async (t) => {
  const headers = (base: string) =>
    ollamaFormat({ key: 'sk-canary-0123456789', base, flags: {} }).toWire(request).headers;
  t.strictSame(headers('https://ollama.com'), { authorization: 'Bearer sk-canary-0123456789' });
  for (const base of [
    ollama.base,
    'https://models.example',
    'https://ollama.com.example',
    'https://myollama.com',
  ]) {
    t.strictSame(headers(base), {}, base);
    t.equal(ollama.keyless?.(base), true, base);
  }
  for (const base of ['https://ollama.com', 'https://OLLAMA.com/', 'https://www.ollama.com:443/x'])
    t.equal(ollama.keyless?.(base), false, base);
  t.equal(isCloud('no address'), false);
});

t.test('the context length grows in steps with the prompt and the reply', async (t) => {
  t.equal(contextLength(''), 32_768);
  t.equal(contextLength('x'.repeat(3 * 30_000), 2000), 32_768);
  t.equal(contextLength('x'.repeat(3 * 30_000), 3000), 65_536);
  t.equal(contextLength('é'.repeat(3 * 30_000), 3000), 65_536, 'octets count, not letters');
  t.equal(contextLength('x'.repeat(3_000_000)), 262_144, 'and ends somewhere');
});

t.test('a compact schema has one level, single types and no descriptions', async (t) => {
  t.strictSame(
    compactSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      description: 'x',
      additionalProperties: false,
      properties: {
        text: { type: 'string', description: 'x', pattern: '^a', default: 'b', minLength: 1 },
        maybe: { type: ['null', 'integer'], minimum: 1 },
        list: { type: 'array', items: { type: 'object', properties: { deep: { type: 'string' } } } },
        words: { items: { type: 'string' }, minItems: 1 },
        one: { const: 'a' },
        count: { const: 1 },
        yes: { const: true },
        choice: { enum: ['a', 'b', null] },
        level: { type: 'integer', enum: [1, 2] },
        either: { oneOf: [{ type: 'null' }, { type: 'boolean' }] },
        any: { anyOf: [{ $ref: '#/$defs/x' }] },
        ref: { $ref: '#/$defs/x' },
        odd: true,
        ['__proto__']: { type: 'string' },
      },
      required: ['text', 'gone', 7],
      $defs: { x: {} },
    }),
    {
      type: 'object',
      properties: {
        text: { type: 'string' },
        maybe: { type: 'integer' },
        list: { type: 'array', items: { type: 'object' } },
        words: { type: 'array', items: { type: 'string' } },
        one: { type: 'string', enum: ['a'] },
        count: { type: 'number' },
        yes: { type: 'boolean' },
        choice: { type: 'string', enum: ['a', 'b'] },
        level: { type: 'integer' },
        either: { type: 'boolean' },
        any: { type: 'object' },
        ref: { type: 'object' },
        odd: { type: 'string' },
        ['__proto__']: { type: 'string' },
      },
      required: ['text'],
    },
  );
  t.strictSame(compactSchema({}), { type: 'object', properties: {} });
});
