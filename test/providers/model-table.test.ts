import t from 'tap';
import { costUnits, knownModel, temperatureIsFixed } from '../../providers/model-table.ts';

t.test('a cost unit is a thousandth of a dollar', async (t) => {
  const million = { input: 1_000_000, output: 1_000_000 };
  t.equal(costUnits('gpt-6.1-sol', million), 12_000, '2 and 10 dollars');
  t.equal(costUnits('gpt-6.1-sol', { ...million, cachedInput: 500_000 }), 11_050, '1, 0.05 and 10');
  t.equal(costUnits('gpt-6.1-sol', { input: 50, output: 10 }), 0.2, 'a turn may cost a part of one');
  t.equal(costUnits('gpt-6.1-sol', { input: 0, output: 0 }), 0);
});

t.test('reasoning tokens are output and are not charged twice', async (t) => {
  t.equal(costUnits('kimi-k3', { input: 0, output: 1000, reasoning: 900 }), 15);
});

t.test('limits cached tokens to the number of input tokens', async (t) => {
  t.equal(costUnits('gpt-6.1-sol', { input: 1000, output: 0, cachedInput: 9000 }), 0.1);
});

t.test('charges a higher price for a long prompt of some models', async (t) => {
  t.equal(costUnits('gemini-2.5-pro', { input: 200_000, output: 1000 }), 260);
  t.equal(costUnits('gemini-2.5-pro', { input: 200_001, output: 0, cachedInput: 1 }), 500.00025);
});

t.test('an unknown model has no cost', async (t) => {
  for (const model of ['llama-of-my-own', '', 'constructor', '__proto__', 'gpt-6.1-sol-2027-01-01']) {
    t.equal(knownModel(model), undefined, model);
    t.equal(costUnits(model, { input: 1500, output: 500, cachedInput: 1000 }), undefined, model);
  }
});

t.test('a known model has its context size and prices', async (t) => {
  t.strictSame(knownModel('deepseek-v4-pro'), {
    contextTokens: 1_000_000,
    price: { input: 1.32, output: 3.96, cachedInput: 0.044 },
  });
  t.strictSame(knownModel('gemini-2.5-pro')?.long, {
    tokens: 200_000,
    price: { input: 2.5, output: 15, cachedInput: 0.25 },
  });
});

t.test('recognises model families with a fixed temperature', async (t) => {
  const fixed = [
    'gpt-5',
    'gpt-6.1-sol',
    'gpt-12',
    'o3',
    'kimi-k3',
    'kimi-k9',
    'claude-opus-5-5',
    'claude-opus-4-7',
  ];
  const free = [
    'gpt-4.1',
    'gpt-5-chat-latest',
    'moonshot-v1-8k',
    'claude-opus-4-5',
    'glm-5.3',
    'orca',
    'my-kimi-k3',
  ];
  for (const model of fixed) t.ok(temperatureIsFixed(model), model);
  for (const model of free) t.notOk(temperatureIsFixed(model), model);
});
