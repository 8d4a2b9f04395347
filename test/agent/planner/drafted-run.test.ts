import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { WritError } from '../../../core/base/errors.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { runLine } from '../../bin/host.ts';
import { type ModelServer, serveModel } from '../../providers/model-server.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, request, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

t.test('a request is drafted, confirmed, worked, sealed and verified', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([
    {
      calls: [
        ['list_dir', { path: '.' }],
        ['read_file', { path: 'src/price.js' }],
        ['grep_files', { pattern: 'cents', path: 'src' }],
        ['read_file', { path: '../../etc/passwd' }],
      ],
    },
    submits(priceDraft),
    ...makesFix,
  ]);
  const ran = await ask(sample, model, ['--yes']);
  t.match(ran, { code: 0, data: { decision: { type: 'commit' } } }, JSON.stringify(ran.error));
  t.match(ran.data.draft, {
    risk_level: 'low',
    request: [request],
    provider: 'openai',
    model: 'scripted',
    questions: [],
    digest: ran.data.spec.digest,
  });
  t.equal(JSON.parse(readFileSync(ran.data.draft.path, 'utf8')).metadata.id, ran.data.spec.id);
  t.match(ran.err, 'Prices are exact');
  const told = JSON.stringify(model.asked[1]?.body);
  for (const part of ['count * cents + 1', 'src/price.js:3:', 'denied: ', '<untrusted>'])
    t.ok(told.includes(part), part);
  t.match(await call(sample, ['verify', 'HEAD']), { code: 0 });
  t.match(await call(sample, ['replay', ran.data.run_id]), { code: 0, data: { equal: true } });
  const shown = await call(sample, ['show', ran.data.run_id]);
  t.match(shown.data.asked, { said: [request], provider: 'openai', model: 'scripted', turns: 2 });
  t.strictSame(faultsOf('show', shown.data), []);
  t.strictSame(faultsOf('run', ran.data), []);
});

long('without a terminal, a draft that needs a decision waits for `resume --yes`', async (t) => {
  const sample = sampleFor(t);
  const before = sample.state();
  const draft = { ...priceDraft, checks: [{ ...priceDraft.checks[0], command: 'node test/price.test.js' }] };
  for (const [submitted, why] of [
    [{ ...draft, checks: [{ ...draft.checks[0], kind: 'command' }] }, 'a command that nobody allowed'],
    [{ ...priceDraft, questions: ['in cents or in euros?'] }, 'a question'],
    [{ ...priceDraft, changeType: 'feature' }, 'medium risk'],
  ] as const) {
    await using model = await scriptModel([submits(submitted)]);
    const ran = await ask(sample, model, []);
    t.match(ran, { code: 4, error: { code: 'DRAFT_WAITS' }, data: { state: 'drafted' } }, why);
    t.strictSame(faultsOf('run', ran.data), []);
    t.match(ran.error.hints, [`confirm it with \`writ resume ${ran.data.run_id} --yes\``]);
    t.equal(sample.state(), before);
    t.match(await call(sample, ['resume', ran.data.run_id]), { code: 4, error: { code: 'DRAFT_WAITS' } });
  }
});

long('a waiting draft resumes under its run id and commits', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([
    submits({ ...priceDraft, questions: ['in cents or in euros?'] }),
    ...makesFix,
  ]);
  const { data } = await ask(sample, model, ['--message', 'Exact prices']);
  const ran = await call(sample, ['resume', data.run_id, '--yes', '--ci']);
  t.match(ran, { code: 0, data: { run_id: data.run_id, draft: data.draft, decision: { type: 'commit' } } });
  t.equal(sample.git('log', '-1', '--format=%s'), 'Exact prices');
  t.ok(existsSync(join(sample.root, `writ-reports-${data.run_id}`, 'run.sarif')), 'the run is reported');
  t.match(await call(sample, ['resume', data.run_id, '--yes']), { code: 0, data: { state: 'decided' } });
});

long('a low-risk draft without questions proceeds without a terminal', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(priceDraft), ...makesFix]);
  t.match(await ask(sample, model, []), { code: 0, data: { decision: { type: 'commit' } } });
});

long('at a terminal the user confirms, modifies or cancels a draft', async (t) => {
  const sample = sampleFor(t);
  const before = sample.state();
  for (const stdin of ['cancel\n', '', 'what?\n', 'modify\n'])
    t.match(
      await ask(sample, await endless(t), [], { terminal: true, stdin }),
      { code: 1, error: { code: 'DRAFT_CANCELLED' } },
      JSON.stringify(stdin),
    );
  t.equal(sample.state(), before);
  await using model = await scriptModel([submits(priceDraft), submits(priceDraft), ...makesFix]);
  const stdin = 'm\nWithout a new test.\nc\n';
  const ran = await ask(sample, model, [], { terminal: true, stdin });
  t.match(ran, { code: 0, data: { draft: { request: [request, 'Without a new test.'] } } });
  t.ok(JSON.stringify(model.asked[1]?.body).includes('Without a new test.'));
});

t.test('an interrupt while drafting leaves no state', async (t) => {
  const sample = sampleFor(t);
  const before = sample.state();
  const stop = new AbortController();
  await using model = await serveModel(() =>
    stop.abort(new WritError('RUN_INTERRUPTED', { message: 'interrupted by SIGINT' })),
  );
  const line = ['run', '--request', request, '--provider', 'openai', '--api-base', model.base];
  const given = { cwd: sample.root, env: sample.env, signal: stop.signal };
  t.match(await runLine(line, commands, given), { code: 130 });
  t.equal(sample.state(), before);
  t.equal(existsSync(join(sample.root, '.git', 'writ')), false);
});

/** A model that submits the same draft for ever. */
async function endless(t: { teardown(done: () => PromiseLike<void>): void }): Promise<ModelServer> {
  const model = await scriptModel(Array.from({ length: 20 }, () => submits(priceDraft)));
  t.teardown(() => model[Symbol.asyncDispose]());
  return model;
}
