import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { canonicalDigest, sha256Hex } from '../../core/base/canonical.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { Sample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { key, sampleOf, script, writ } from './sample-lines.ts';
import { scriptModel } from './scripted-model.ts';

/** What a recording shows of each exchange, by the two digests that docs/model-traffic.md tells to compute. */
function digestsIn(traffic: string): readonly ModelWork['exchanges'][number][] {
  return readdirSync(traffic)
    .sort()
    .map((name) => {
      const { request, answer } = JSON.parse(readFileSync(join(traffic, name), 'utf8'));
      const question = canonicalDigest(request.body);
      if (answer.failed !== undefined) return { question };
      const pieces = answer.pieces.map((piece: string | { base64: string }) =>
        typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece.base64, 'base64'),
      );
      return { question, answer: sha256Hex(Buffer.concat(pieces)) };
    });
}

async function modelsOf(sample: Sample, target = 'HEAD'): Promise<readonly ModelWork[]> {
  const { exit, out, data } = await writ(sample, ['verify', target]);
  t.equal(exit, 0, out);
  return data.targets[0].models ?? [];
}

long('the provenance names the model, and its digests are those of the recording', async (t) => {
  const sample = sampleOf(t);
  const traffic = join(sample.home, 'traffic');
  await using model = await scriptModel([
    { fails: [503, { error: { message: 'later' } }] },
    { calls: [['shell', { command: 'echo mail jane.doe@acme.io; node --test' }]] },
    ...script,
  ]);
  const argv = ['run', 'SPEC', '--provider', 'openai', '--model', 'm', '--api-base', `${model.base}/deep`];
  const ran = await writ(sample, [...argv, '--record', traffic], { env: { OPENAI_API_KEY: key } });
  t.equal(ran.exit, 0, ran.out);
  const models = await modelsOf(sample);
  t.match(models, [
    {
      provider: 'openai',
      model: 'm',
      endpoint: new URL(model.base).host,
      agent: 'coder',
      tools: /read_file|apply_patch/,
      instructions: [],
      form: 'http',
    },
  ]);
  const [work] = models;
  t.strictSame(work?.exchanges, digestsIn(traffic));
  t.equal(work?.exchanges.length, script.length + 2, 'the refused question counts too');
  t.strictSame(ran.data.provenance.models, models, '`run` and `show` have the same');
  const statement = JSON.stringify(models);
  for (const word of [key, '/deep', 'Prices', 'http:']) t.notMatch(statement, word);
});
