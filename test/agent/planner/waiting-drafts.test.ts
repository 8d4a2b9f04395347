import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import { acquireRunLock, runDirectory } from '../../../store/run-directory.ts';
import { faultsOf } from '../../bin/faults-of.ts';
import { runLine } from '../../bin/host.ts';
import { long } from '../../rooms/long.ts';
import { scriptModel } from '../scripted-model.ts';
import { ask, call, request, sampleFor } from './ask-writ.ts';
import { makesFix, priceDraft, submits } from './drafts.ts';

const question = 'in cents or in euros?';
const asking = { ...priceDraft, questions: [question] };

long('`writ runs` lists waiting drafts with request, risk and reason', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([
    submits(asking),
    submits({ ...priceDraft, changeType: 'feature' }),
    submits(priceDraft),
    ...makesFix,
  ]);
  const [first, second] = [await ask(sample, model, []), await ask(sample, model, [])];
  const done = await ask(sample, model, []);
  const { data } = await call(sample, ['runs']);
  t.strictSame(faultsOf('runs', data), []);
  t.match(data.runs, [
    { run_id: done.data.run_id, state: 'decided', draft: undefined },
    {
      run_id: second.data.run_id,
      state: 'drafted',
      draft: { request: [request], risk_level: 'medium', waits_for: ['its risk is medium'] },
    },
    {
      run_id: first.data.run_id,
      state: 'drafted',
      summary: 'Prices are exact',
      draft: { request: [request], risk_level: 'low', waits_for: [`to be decided: ${question}`] },
    },
  ]);
  t.strictSame(first.data.waits_for, [`to be decided: ${question}`]);
  const { out } = await runLine(['runs'], commands, { cwd: sample.root, env: sample.env });
  for (const part of [request, 'its risk is medium', `writ cancel ${first.data.run_id}`])
    t.ok(out.includes(part), part);
});

t.test('`writ show` prints a waiting draft for confirmation', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking)]);
  const { data } = await ask(sample, model, []);
  const shown = await call(sample, ['show', data.run_id.slice(0, 12)]);
  t.match(shown, { code: 0, data: { ...data, waits_for: [`to be decided: ${question}`] } });
  t.strictSame(faultsOf('show', shown.data), []);
  const { out } = await runLine(['show', data.run_id], commands, { cwd: sample.root, env: sample.env });
  for (const part of ['Prices are exact', '## To be decided by confirming', data.draft.path])
    t.ok(out.includes(part), part);
  writeFileSync(data.draft.path, '{"apiVersion":1}');
  t.match(await call(sample, ['show', data.run_id]), { code: 1, error: { code: 'INTENTSPEC_INVALID' } });
  t.match((await call(sample, ['runs'])).data.runs, [{ summary: '(its spec is not valid)' }]);
});

t.test('`[drafts] least_risk` lets a feature be of low risk, and no security change', async (t) => {
  const sample = sampleFor(t);
  mkdirSync(join(sample.root, '.writ'));
  writeFileSync(join(sample.root, '.writ/config.toml'), '[drafts]\nleast_risk = "low"\n');
  sample.git('add', '-f', '.writ');
  sample.git('commit', '-qm', 'chore: drafts');
  await using model = await scriptModel(
    (['feature', 'security'] as const).map((changeType) => submits({ ...asking, changeType })),
  );
  for (const risk of ['low', 'high']) t.equal((await ask(sample, model, [])).data.draft.risk_level, risk);
});

t.test('a waiting draft lists what is missing for a commit and is restored by `resume`', async (t) => {
  const sample = sampleFor(t);
  const questions = [...Array(15).fill('x'.repeat(12_000)), '  '];
  await using model = await scriptModel([submits({ ...priceDraft, changeType: 'feature', questions })]);
  const asked = await ask(sample, model, []);
  t.match(asked.data.draft, {
    lacks: [
      /1 person has to approve.*no `.writ\/allowed_signers`/,
      /no vulnerability advisories are imported.*`writ sca import FILE`/,
    ],
    questions: { length: 15 },
  });
  t.strictSame(faultsOf('run', asked.data), []);
  t.ok(asked.err.includes('## Missing here, and needed before it can be committed'));
  const again = await call(sample, ['resume', asked.data.run_id]);
  t.match(again, { code: 4, error: { code: 'DRAFT_WAITS' } });
  t.strictSame(again.data, asked.data);
});

long('a cancelled draft is deleted and cannot be resumed', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking), submits(asking)]);
  const { data } = await ask(sample, model, []);
  const other = await ask(sample, model, []);
  const lock = await acquireRunLock(runDirectory({ commonDir: `${sample.root}/.git` }, data.run_id));
  t.match(await call(sample, ['cancel', data.run_id]), { error: { code: 'RUN_BUSY' } });
  t.ok(existsSync(data.draft.path));
  await lock.release();
  const cancelled = await call(sample, ['cancel', data.run_id, '--reason', 'not needed']);
  t.match(cancelled, { code: 0, data: { run_id: data.run_id, state: 'cancelled' } });
  t.strictSame(faultsOf('cancel', cancelled.data), []);
  t.equal(existsSync(dirname(data.draft.path)), false);
  for (const command of ['resume', 'show', 'cancel'])
    t.match(
      await call(sample, [command, data.run_id]),
      { code: 1, error: { code: 'RUN_NOT_FOUND', message: `no run \`${data.run_id}\` is stored here` } },
      command,
    );
  t.match((await call(sample, ['runs'])).data.runs, [{ run_id: other.data.run_id }]);
  t.ok(existsSync(other.data.draft.path));
});

t.test('an id prefix that matches several drafts is refused', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking), submits(asking)]);
  const ids = [(await ask(sample, model, [])).data.run_id, (await ask(sample, model, [])).data.run_id];
  for (const command of ['resume', 'show', 'cancel'])
    t.match(
      await call(sample, [command, ids[0].slice(0, 6)]),
      { error: { code: 'RUN_NOT_FOUND', details: { fits: ids } } },
      command,
    );
  t.equal((await call(sample, ['runs'])).data.runs.length, 2);
});

long('a draft survives a killed run, and a damaged draft hides no other', async (t) => {
  const sample = sampleFor(t);
  await using model = await scriptModel([submits(asking), ...makesFix]);
  const { data } = await ask(sample, model, []);
  const repository = { commonDir: `${sample.root}/.git` };
  mkdirSync(runDirectory(repository, data.run_id), { recursive: true });
  const broken = uuidV7(Date.now() - 5000);
  const place = dirname(data.draft.path).replace(data.run_id, broken);
  mkdirSync(place);
  for (const name of ['intent.json', 'request.json']) writeFileSync(`${place}/${name}`, '{}');
  t.match((await call(sample, ['runs'])).data.runs, [
    { run_id: data.run_id, state: 'drafted' },
    { run_id: broken, summary: '(its record is damaged)' },
  ]);
  t.match(await call(sample, ['cancel', broken]), { code: 0 });
  t.match(await call(sample, ['resume', data.run_id, '--yes']), { code: 0 });
});
