import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { readProvenance } from '../../attest/verify/provenance-claims.ts';
import { commands } from '../../bin/command-table.ts';
import { canonicalDigest, sha256Hex } from '../../core/base/canonical.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import { runLine } from '../bin/host.ts';
import { fixtures, type Sample } from '../engine/sample.ts';
import { long } from '../rooms/long.ts';
import { ask, call } from './planner/ask-writ.ts';
import { makesFix, priceDraft, submits } from './planner/drafts.ts';
import { key, sampleOf, script, writ } from './sample-lines.ts';
import { scriptModel } from './scripted-model.ts';

/** What a recording shows of each exchange, by the two digests that docs/guides/model-traffic.md tells to compute. */
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

async function modelsOf(sample: Sample): Promise<readonly ModelWork[]> {
  const { exit, out, data } = await writ(sample, ['verify', 'HEAD']);
  if (exit !== 0) throw new Error(out);
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

  const words = [
    `openai m at ${new URL(model.base).host}, as coder`,
    '6 calls; questions and answers by digest',
    'tools: apply_patch, ',
    'instruction files: none',
    'data classes sent: public, pii',
  ];
  const place = { cwd: sample.root, env: sample.env };
  const { run_id: run } = ran.data;
  const page = join(sample.home, 'report.html');
  const shown = [
    await runLine(['verify', 'HEAD'], commands, place),
    await runLine(['verify', 'HEAD', '--explain'], commands, place),
    await runLine(['show', run], commands, place),
  ].map(({ out }) => out);
  await runLine(['report', run, '--html', page], commands, place);
  for (const text of [...shown, readFileSync(page, 'utf8')])
    for (const part of words) t.ok(text.includes(part), part);
  const [again] = await replayedOn(t, traffic);
  t.match(again, { provider: 'openai', model: 'm', endpoint: work?.endpoint, replayed: true });
});

/** The same run in another clone, out of its recording. */
async function replayedOn(t: Test, traffic: string): Promise<readonly ModelWork[]> {
  const fresh = sampleOf(t);
  const ran = await writ(fresh, ['run', 'SPEC', '--provider', `replay:${traffic}`]);
  t.equal(ran.exit, 0, ran.out);
  return modelsOf(fresh);
}

long('a draft that waited for a person counts, and so do calls before a failure', async (t) => {
  const sample = sampleOf(t);
  await using model = await scriptModel([
    submits({ ...priceDraft, questions: ['in cents or in euros?'] }),
    { calls: [['read_file', { path: 'src/price.js' }]] },
    { fails: [401, { error: { message: 'no' } }] },
    ...makesFix,
  ]);
  const { data } = await ask(sample, model, []);
  t.match(await call(sample, ['resume', data.run_id, '--yes']), { error: { code: 'PROVIDER_FAILED' } });
  const resumed = await call(sample, ['resume', data.run_id]);
  t.equal(resumed.code, 0, resumed.out);
  const models = await modelsOf(sample);
  t.match(models, [{ tools: ['apply_patch', /./] }], 'one model in one role is one entry');
  t.ok(models[0]?.tools.includes('submit_intent_draft'));
  t.equal(models[0]?.exchanges.length, model.asked.length);
});

t.test('a change that no model made names none, and a block of another shape is refused', async (t) => {
  const sample = sampleOf(t);
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  const ran = await writ(sample, ['run', 'SPEC', '--patch', patch]);
  t.equal(ran.exit, 0, ran.out);
  t.strictSame(await modelsOf(sample), []);
  t.notOk('models' in ran.data.provenance);
  const bundle = JSON.parse(sample.git('show', ran.data.provenance.bundle));
  const payload = Buffer.from(bundle.dsseEnvelope.payload, 'base64');
  const withBlock = (block: unknown): Buffer => {
    const statement = JSON.parse(payload.toString('utf8'));
    statement.predicate.buildDefinition.internalParameters.writ_model_work = block;
    return Buffer.from(JSON.stringify(statement));
  };
  const sound: ModelWork = {
    provider: 'p',
    model: 'm',
    endpoint: 'p.example',
    agent: 'coder',
    tools: [],
    instructions: [],
    data_classes: ['public'],
    form: 'turn',
    exchanges: [{ question: 'a'.repeat(64) }],
  };
  t.strictSame(readProvenance(payload).models, []);
  t.strictSame(readProvenance(withBlock([sound])).models, [sound]);
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../docs/schemas/sealed-change.v1.json'), 'utf8'),
  );
  const validate = new Ajv2020({ strict: false }).compile(schema);
  const fits = (statement: Buffer): unknown =>
    validate(JSON.parse(statement.toString('utf8')).predicate.buildDefinition);
  t.ok(fits(payload));
  t.ok(fits(withBlock([sound])), 'the schema that is published agrees');
  for (const block of [
    [],
    {},
    null,
    [{ ...sound, prompt: 'words' }],
    [{ ...sound, endpoint: 'a\nb' }],
    [{ ...sound, data_classes: ['own'] }],
    [{ ...sound, exchanges: [{ question: 'A'.repeat(64) }] }],
    [{ ...sound, exchanges: [{ answer: 'a'.repeat(64) }] }],
    [{ ...sound, profile: { name: 'x', tier: 'other', sha256: 'a'.repeat(64) } }],
    [(({ form: _, ...rest }) => rest)(sound)],
  ]) {
    t.throws(() => readProvenance(withBlock(block)), {
      code: 'VERIFY_REFUTED',
      detail: { reason: 'malformed', member: '/internalParameters/writ_model_work' },
    });
    t.notOk(fits(withBlock(block)), JSON.stringify(block));
  }
});
