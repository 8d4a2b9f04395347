import { reachProvider } from '../../bin/command-parts/reach-provider.ts';
import { makeSample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { done, source, toldTo } from './model-work.ts';
import { fixOfPrice, modelRights } from './price-task.ts';
import { scriptModel } from './scripted-model.ts';

long('with `strict-json` a reply is a tool call or JSON, and tool results are JSON', async (t) => {
  for (const encodingPolicy of ['strict-json', 'contextual-escape']) {
    const isStrict = encodingPolicy === 'strict-json';
    const sample = makeSample();
    t.teardown(() => sample.remove());
    await using model = await scriptModel([
      { text: 'I think about it.' },
      { text: '{"thought": "about it"}' },
      { calls: [['read_file', '{"path": "src/price.js"']] },
      { calls: [['read_file', { path: 'src/price.js' }]] },
      { calls: [['apply_patch', { patch: fixOfPrice }]] },
      { calls: [done] },
    ]);
    const view = await sample.run(
      { source: source(model), reach: reachProvider({ variable: () => undefined, keys: {} }) },
      {
        security: {
          ...modelRights,
          outputHandling: { encodingPolicy },
          promptInjection: { enforceOutputSchema: false },
        },
      },
    );
    t.match(view, { decision: { type: 'commit' } });
    const asked = JSON.stringify(model.asked);
    t.equal(asked.includes('neither a call of a tool nor JSON'), isStrict, 'prose is asked again');
    const told = toldTo(model);
    const parsed = told.map((text) => {
      try {
        return (JSON.parse(text) as { ok: boolean; text: string }).text;
      } catch {
        return undefined;
      }
    });
    t.equal(
      parsed.every((text) => typeof text === 'string'),
      isStrict,
    );
    if (isStrict) t.match(parsed.join(), 'export function price');
    t.equal(told.length, isStrict ? 2 : 3, 'a call that does not parse is asked again, and forgotten');
  }
});
