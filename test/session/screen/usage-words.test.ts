import t from 'tap';
import { costWords, estimateWords, tokenWords, usageItems, usdWords } from '../../../session/screen/words.ts';

t.test('a small use of the context window is shown as less than one percent', async (t) => {
  const [context] = usageItems({
    inputTokens: 0,
    outputTokens: 0,
    contextTokens: 100,
    contextWindow: 200_000,
  });
  t.equal(context?.text, 'ctx <1%');
});

t.test('a status line shows context, tokens and cost as far as they are known', async (t) => {
  const used = { inputTokens: 44_000, outputTokens: 1234, contextTokens: 34_000 };
  t.strictSame(usageItems(undefined), []);
  t.strictSame(usageItems({ ...used, contextWindow: 100_000, costUsd: 0.12, limitUsd: 2 }), [
    { text: 'ctx 34%', tone: 'plain' },
    { text: '45.2k tok', tone: 'plain' },
    { text: '$0.12 of $2.00', tone: 'plain' },
  ]);
  t.strictSame(
    usageItems({ ...used, unpriced: true }).map(({ text }) => text),
    ['ctx 34k', '45.2k tok', 'unpriced'],
    'no window, no price: neither is made up',
  );
  t.strictSame(usageItems({ inputTokens: 0, outputTokens: 0, limitUsd: 5 }), [
    { text: '$0.00 of $5.00', tone: 'plain' },
  ]);
});

t.test('a nearly full context and a nearly spent budget have a warning tone', async (t) => {
  const tones = (contextTokens: number, costUsd: number) =>
    usageItems({
      inputTokens: 1,
      outputTokens: 1,
      contextTokens,
      contextWindow: 1000,
      costUsd,
      limitUsd: 1,
    }).map(({ tone }) => tone);
  t.strictSame(tones(799, 0.79), ['plain', 'plain', 'plain']);
  t.strictSame(tones(800, 0.8), ['warn', 'plain', 'warn']);
  t.strictSame(tones(950, 1.2), ['bad', 'plain', 'bad']);
});

t.test('an estimate is labelled and precedes the actual cost', async (t) => {
  const estimated = { tokens: 12_000, costUsd: 0.03 };
  t.equal(estimateWords(estimated), 'estimated 12k tokens, $0.03');
  t.equal(
    estimateWords(estimated, { tokens: 14_000, costUsd: 0.04 }),
    'estimated 12k tokens, $0.03 · actual 14k, $0.04',
  );
  t.equal(estimateWords({ tokens: 800 }, { tokens: 900 }), 'estimated 800 tokens · actual 900');
  t.equal(estimateWords(undefined, { tokens: 900 }), 'actual 900 tokens');
  t.equal(estimateWords(undefined), '');
});

t.test('counts are shortened, and a small cost is not rounded to zero', async (t) => {
  const counts = [0, 950, 999, 1000, 45_234, 99_949, 99_950, 999_499, 999_500, 1_234_567, 4_000_000_000];
  t.strictSame(counts.map(tokenWords), [
    '0',
    '950',
    '999',
    '1k',
    '45.2k',
    '99.9k',
    '100k',
    '999k',
    '1M',
    '1.2M',
    '4G',
  ]);
  t.strictSame([0, 0.0004, 0.01, 2, 1234.5].map(usdWords), ['$0.00', '<$0.01', '$0.01', '$2.00', '$1234.50']);
  t.equal(costWords({ costUsd: 0.5, unpriced: true }), '$0.50 + unpriced', 'what has no price is said');
});
