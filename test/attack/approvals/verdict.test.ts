import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { definePlugin, type LoadedPlugin } from '../../../core/kernel/plugin.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { formatJournal } from '../../../store/journal-witness.ts';
import { parseJournal } from '../../../store/parse-journal.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { long } from '../../rooms/long.ts';
import { ann, ben, fix, People, uncounted, wanting } from './people.ts';
import { runWrit } from './run-writ.ts';

const bare = { kind: 'patch', bytes: fix } as const;

/** A judge of the fast stage that says what it is told to. */
function judgeSaying(message: string | undefined): LoadedPlugin {
  return definePlugin({
    name: 'judge',
    api: 1,
    setup({ hooks }) {
      hooks.stage.judge.tap(({ stage }) =>
        stage.stage === 'fast' && message !== undefined
          ? [{ rule: 'judge', severity: 'warning', message }]
          : [],
      );
      return undefined;
    },
  });
}

/**
 * Leaves of a waiting run what it was asked for, and nothing of how it was judged: it is judged anew wherever it goes
 * on.
 */
async function forgetJudging({ sample }: People, runId: string): Promise<void> {
  const { store } = await findRun(builtInStores, await openRepository(sample.root), systemClock, runId);
  const ref = store.refs.run(runId);
  const journal = (await store.objects.read(ref, 'journal.jsonl')) ?? Buffer.alloc(0);
  const first = parseJournal(journal, ref).records.slice(0, 1);
  await store.objects.writeTree(ref, {
    message: 'forgotten',
    keepExisting: true,
    files: [['journal.jsonl', formatJournal(first).bytes]],
  });
  rmSync(join(sample.root, '.git', 'writ', 'runs', runId), { recursive: true });
}

long('a run that repeats its checks with the same verdict keeps its approvals', async (t) => {
  const people = new People(t);
  const took = (ms: number) => [judgeSaying(`looked for ${ms} ms`)];
  const view = await people.sample.run({ source: bare }, wanting(2), took(12));
  await people.approve(view.runId, ann);
  await people.approve(view.runId, ben);
  await forgetJudging(people, view.runId);
  const done = await people.resume(view.runId, took(3456));
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const verified = runWrit(
    people.sample,
    'verify',
    view.runId,
    '--allowed-signers',
    people.signers,
    '--replay',
  );
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

long('a run that repeats its checks with another verdict voids its approvals and waits again', async (t) => {
  const people = new People(t);
  const { sample } = people;
  const base = sample.git('rev-parse', 'main');
  const view = await sample.run({ source: bare }, wanting(2), [judgeSaying(undefined)]);
  const before = await people.waiting(view.runId);
  await people.approve(view.runId, ann);
  await people.approve(view.runId, ben);
  await forgetJudging(people, view.runId);
  const worse = [judgeSaying('the price is rounded')];
  const still = await people.resume(view.runId, worse);
  t.equal(still.state, 'waiting', String(still.decision?.rationale));
  t.strictSame(uncounted(still), ['wrong-subject', 'wrong-subject']);
  t.equal(sample.git('rev-parse', 'main'), base);
  const after = await people.waiting(view.runId);
  t.not(after.subject.gateReportDigest, before.subject.gateReportDigest);
  const signed = runWrit(sample, 'approve', view.runId, '--key', people.key(ann), '--as', ann);
  const { approvers = [] } = (signed.data ?? {}) as {
    readonly approvers?: readonly Record<string, string>[];
  };
  t.match(approvers[0], {
    status: 'wrong-subject',
    detail: /new: warning of `judge`: the price is rounded/,
  });
  await people.approve(view.runId, ben);
  const done = await people.resume(view.runId, worse);
  t.equal(done.decision?.type, 'commit', String(done.decision?.rationale));
  const verified = runWrit(sample, 'verify', view.runId, '--allowed-signers', people.signers, '--replay');
  t.equal(verified.status, 0, JSON.stringify(verified.data).slice(0, 2000));
});

long('a verdict that changes within the same journal also voids the approvals', async (t) => {
  const people = new People(t, '[workspace]\ncarry = ["dist"]\n');
  const view = await people.sample.run(
    { source: bare },
    {
      acceptance: {
        verificationPlan: {
          fastChecks: [
            {
              id: 'unit',
              kind: 'testSuite',
              command: 'node --test --test-isolation=none --test-reporter=tap',
              required: true,
            },
            { id: 'make', kind: 'command', command: 'mkdir -p dist/made', required: true },
            { id: 'people', kind: 'policy', command: 'require-approvers', required: true },
          ],
          integrationChecks: [{ id: 'more', kind: 'command', command: 'true', required: true }],
        },
      },
    },
    [judgeSaying(undefined)],
  );
  t.equal(view.state, 'waiting', String(view.decision?.rationale));
  await people.approve(view.runId, ann);
  // What the checks left is gone after a wait; those that come behind the people need it, so that all are run anew.
  const still = await people.resume(view.runId, [judgeSaying('otherwise')]);
  t.equal(still.state, 'waiting', String(still.decision?.rationale));
  const again = await people.resume(view.runId, [judgeSaying('otherwise')]);
  t.equal(again.state, 'waiting', 'and so they stay');
  t.strictSame(uncounted(again), ['wrong-subject']);
});
