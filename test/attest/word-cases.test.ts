import t from 'tap';
import { attestCases, outcomeOf } from './word-cases.ts';

t.test('each attestation word case has its expected outcome', async (t) => {
  for (const one of attestCases) {
    const module = (await import(new URL(`../../${one.entry}`, import.meta.url).href)) as Record<
      string,
      unknown
    >;
    const outcome = await outcomeOf(one, module);
    if (one.expected instanceof RegExp) t.match(outcome, one.expected, one.name);
    else t.strictSame(outcome, one.expected, one.name);
  }
});
