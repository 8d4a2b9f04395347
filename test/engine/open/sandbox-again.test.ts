import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import type { SandboxBackend } from '../../../core/interfaces/sandbox.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { sandboxAgain } from '../../../engine/open/environment.ts';
import { listRuns } from '../../../engine/record/list-runs.ts';
import { readRun } from '../../../engine/record/read-run.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import type { WritEngine } from '../../../spec/contract-rows.ts';
import type { JournalRecord } from '../../../store/parse-journal.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { fixtures, makeSample } from '../sample.ts';

const bytes = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const command = (id: string) => ({
  id,
  kind: 'command',
  command: 'true',
  required: true,
  timeoutSeconds: 60,
});
const contract = {
  constraints: { security: { networkPolicy: 'allow' } },
  acceptance: {
    verificationPlan: { fastChecks: [command('first')], integrationChecks: [command('second')] },
  },
};

long(
  'a run that resumes in another sandbox repeats its checks there and records that sandbox',
  { timeout: 300_000 },
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const asked: (string | undefined)[] = [];
    let stop = new AbortController();
    const stopping = definePlugin({
      name: 'stopping',
      api: 1,
      setup({ hooks }) {
        hooks.tool.started.tap(async ({ checkId }) => {
          asked.push(checkId);
          if (checkId === 'second' && asked.length < 5) stop.abort(new Error('stopped'));
        });
        return undefined;
      },
    });
    const shown = async () => {
      const repository = await openRepository(sample.root);
      const [run] = await listRuns(builtInStores, repository, systemClock);
      const { store, runId } = await findRun(builtInStores, repository, systemClock, run?.runId ?? '');
      return readRun(repository, store, runId);
    };
    const source = { kind: 'patch', bytes } as const;
    const { signal } = stop;
    await t.rejects(sample.run({ source, sandbox: 'bubblewrap', signal }, contract, [stopping]));
    const { runId, ...before } = await shown();
    t.match(before, { state: 'interrupted', sandbox: 'bubblewrap' });
    stop = new AbortController();
    await t.rejects(sample.resume(runId, { sandbox: 'none', signal: stop.signal }, [stopping]));
    t.match(await shown(), { state: 'interrupted', sandbox: 'none' });
    const view = await sample.resume(runId, {}, [stopping]);
    t.strictSame(
      asked.slice(0, 5),
      ['first', 'second', 'first', 'second', 'second'],
      'what bubblewrap ran counts for nothing, what ran without counts',
    );
    t.match(view, { decision: { type: 'commit' }, sandbox: 'none' });
    const stored = (file: string) =>
      JSON.parse(sample.git('cat-file', 'blob', `refs/ai/runs/${runId}:${file}`));
    t.equal(stored('gate-report.json').sandbox, 'none');
    t.equal(stored('run.json').sandbox, 'none');
    const { payload } = stored('provenance.sigstore.json').dsseEnvelope;
    t.match(JSON.parse(Buffer.from(payload, 'base64').toString('utf8')).predicate.buildDefinition, {
      internalParameters: { writ_sandbox: 'none' },
    });
  },
);

t.test('a run that resumes without a named sandbox reuses its last sandbox if that works', async (t) => {
  const backend = (name: string, works: boolean, unconfined?: true) => ({
    name,
    ...(unconfined ? { unconfined } : {}),
    probe: async () => ({ works, enforced: [], reason: 'it is broken' }),
  });
  const known = [
    backend('one', true),
    backend('two', true),
    backend('broken', false),
    backend('none', true, true),
  ];
  const engine = {
    slots: {
      sandbox: {
        names: known.map(({ name }) => name),
        pick: async (name: string) => known.find((one) => one.name === name) as unknown as SandboxBackend,
      },
    },
  } as unknown as WritEngine;
  const own = (...steps: [string, string][]) => ({
    records: steps.map(
      ([step, answer]) => ({ type: 'step-ended', data: { step, answer } }) as unknown as JournalRecord,
    ),
  });
  const started = (sandbox: string) => ({ sandbox });
  t.equal(await sandboxAgain(engine, own(), started('none')), 'none');
  const judged = own(['candidate-1/epoch-1/sandbox', 'one'], ['candidate-1/epoch-2/sandbox', 'two']);
  t.equal(await sandboxAgain(engine, judged, started('one')), 'two', 'the last');
  t.equal(
    await sandboxAgain(engine, own(['candidate-1/epoch-1/fast/check/sandbox', 'none']), started('one')),
    'one',
    'a check of that name says nothing',
  );
  t.equal(await sandboxAgain(engine, own(), started('broken')), 'auto', 'it does not work here');
  t.equal(await sandboxAgain(engine, own(), started('gone')), 'auto', 'there is none of that name');
  t.equal(await sandboxAgain(engine, undefined, started('none')), 'auto', 'a claim takes no sandbox away');
});
