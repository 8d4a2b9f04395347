import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { draftIntent } from '../../../engine/draft/draft-intent.ts';
import { type Sample, sampleSpec } from '../../engine/sample.ts';
import { serveModel } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, request, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

/** Puts a configuration where it judges. */
function configure(sample: Sample, text: string): void {
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ/config.toml'), text);
  sample.git('add', '--all', '--force');
  sample.git('commit', '--quiet', '-m', 'How models are asked');
}

t.test('a worker that cannot draft is refused with DRAFT_UNSUPPORTED', async (t) => {
  const sample = sampleFor(t);
  const engine = await sample.engine([
    definePlugin({
      name: 'mute',
      api: 1,
      setup({ slots }) {
        slots.worker.add('mute', {
          open: () => ({ name: 'mute', usesModel: false, work: () => Promise.reject(new Error('asked')) }),
        });
        return undefined;
      },
    }),
  ]);
  t.teardown(() => engine[Symbol.asyncDispose]());
  const drafting = draftIntent(engine, {
    repositoryPath: sample.root,
    runId: 'r',
    source: { kind: 'worker', worker: 'mute', from: Buffer.alloc(0) },
    said: [request],
    target: {
      repo: { type: 'local', locator: sample.root },
      baseRef: 'main',
      createdBy: { type: 'user', id: 'a' },
    },
    createdAt: '2026-01-01T00:00:00Z',
    clock: systemClock,
    signal: new AbortController().signal,
  });
  await t.rejects(drafting, {
    code: 'DRAFT_UNSUPPORTED',
    detail: { provider: 'mute' },
    hints: [/--provider openai/, String],
  });
});

t.test('an autonomous program may not draft without a sandbox', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(priceDraft)]);
  const line = ['run', '--request', request, '--provider', 'codex', '--codex-bin', process.execPath];
  const ran = await call(sample, [...line, '--sandbox', 'none', '--api-base', model.base]);
  t.match(ran.error, { code: 'SANDBOX_NONE_REFUSED' }, JSON.stringify(ran.error));
  t.equal(model.asked.length, 0);
});

t.test('a backend without citations is refused if the spec requires them', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([]);
  writeFileSync(join(sample.home, 'intent.json'), sampleSpec({ evidence: { minCitationsPerDecision: 2 } }));
  for (const command of ['run', 'plan']) {
    const line = [command, join(sample.home, 'intent.json'), '--provider', 'codex', '--api-base', model.base];
    const ran = await call(sample, line);
    const found = ran.data?.refusals ?? [{ code: ran.error.code }];
    t.equal(ran.code, 129, command);
    t.equal(ran.error.code, 'CITATIONS_UNSUPPORTED', JSON.stringify(found));
  }
  t.equal(model.asked.length, 0);
});

long('the policy commit sets the provider dialect and the model prices', async (t) => {
  const sample = sampleFor(t);
  configure(sample, '[models.scripted]\ninput = 10\noutput = 100\ncached_input = 1\ncontext = 9000\n');
  await using model = await scriptModel([submits(priceDraft), ...makesFix]);
  const ran = await ask(sample, model, ['--yes']);
  t.match(ran, { code: 0 }, JSON.stringify(ran.error));
  const input = JSON.parse(sample.git('show', `refs/ai/runs/${ran.data.run_id}:decision-input.json`));
  // Three turns of 100 tokens in and 50 out: 6 units each; what drafting cost is rounded up by itself.
  t.equal(input.cost.usedUnits, 18);

  configure(sample, '[providers.openai]\ndialect = "responses"\n');
  const paths: string[] = [];
  await using server = await serveModel((asked, response) => {
    paths.push(asked.path);
    response.writeHead(400, { 'content-type': 'application/json', 'x-request-id': 'req_0123' });
    response.end('{"error":{"message":"not today"}}');
  });
  const refused = await ask(sample, server, ['--yes']);
  t.match(paths, [/\/responses$/]);
  t.match(refused.error, {
    code: 'PROVIDER_FAILED',
    message: /not today \[request req_0123\]/,
    details: { requestId: 'req_0123' },
  });
});

for (const [config, path] of [
  ['[providers.opnai]\ndialect = "chat"\n', 'providers.opnai'],
  ['[providers.openai]\ndialekt = "chat"\n', 'providers.openai.dialekt'],
  ['[providers.openai]\ndialect = "chatty"\n', 'providers.openai.dialect'],
  ['[providers]\nopenai = "chat"\n', 'providers.openai'],
  ['[models.m]\ninput = 1\n', 'models.m'],
  ['[models.m]\n', 'models.m'],
  ['[models.m]\ninput = -1\noutput = 1\n', 'models.m.input'],
  ['[models.m]\ninput = nan\noutput = 1\n', 'models.m.input'],
  ['[models.m]\ncontext = 0\n', 'models.m.context'],
  ['[models.m]\ncontext = 5\nprice = 1\n', 'models.m.price'],
] as const)
  t.test(`an invalid model configuration is refused at ${path}`, async (t) => {
    const sample = sampleFor(t);
    configure(sample, config);
    await using model = await scriptModel([]);
    const ran = await ask(sample, model, []);
    t.match(ran.error, { code: 'CONFIG_INVALID' }, config);
    t.ok(
      ran.error.details.issues.some((one: { path: string }) => one.path === path),
      JSON.stringify(ran.error.details),
    );
    t.equal(model.asked.length, 0);
  });
