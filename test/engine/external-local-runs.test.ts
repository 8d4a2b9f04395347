import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { systemClock } from '../../core/base/clock.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { checkRepository } from '../../engine/upkeep/check-repository.ts';
import { builtInStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { parseObject } from '../../store/stored-object.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { long } from '../rooms/long.ts';
import { fixtures, makeSample } from './sample.ts';

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const quick = {
  id: 'quick',
  kind: 'command',
  command: 'true',
  required: true,
  timeoutSeconds: 30,
  artifactsProduced: ['test-log'],
};
const checks = { acceptance: { verificationPlan: { fastChecks: [quick] } } };

long(
  'a run under `external-local` is stored outside git and can be found, shown and verified there',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const source = { kind: 'patch', bytes: fix } as const;
    const view = await sample.run(
      { source },
      { ...checks, objmodel: { objectStore: { backend: 'external-local' } } },
    );
    t.equal(view.decision?.type, 'commit');
    t.equal(sample.git('for-each-ref', 'refs/ai'), '', 'nothing of it is in git');
    t.equal(sample.git('log', '-1', '--format=%H'), view.decision?.commitSha);

    const repository = await openRepository(sample.root);
    t.match(await listRuns(builtInStores, repository, systemClock), [
      { runId: view.runId, state: 'decided', decision: 'commit', commitSha: view.decision?.commitSha },
    ]);
    const checked = await checkRepository({ repository, clock: systemClock, stores: builtInStores });
    t.strictSame([checked.problems, checked.checked.journals], [[], 1], 'fsck finds its record');
    const { store, runId } = await findRun(builtInStores, repository, systemClock, view.runId.slice(0, 13));
    const shown = await readRun(repository, store, runId);
    t.equal(shown.decision?.decisionDigest, view.decision?.decisionDigest);
    t.equal(shown.state, 'decided');
    const logs = (await store.objects.list(store.refs.content(runId))).map(({ path }) => path);
    t.ok(
      logs.some((path) => path.includes('test-log')),
      logs.join(),
    );
    const records = await store.objects.list(store.refs.run(runId));
    const evidence = records.find(({ path }) => path.includes('evidence/') && path.includes('quick'));
    const bytes = await store.objects.read(store.refs.run(runId), evidence?.path ?? '');
    t.match(parseObject('evidence', bytes ?? Buffer.of()).reports, [{ store: 'external-local' }]);

    const [verified] = await verifyTargets(
      { stores: builtInStores, repoPath: sample.root, cwd: sample.root, env: sample.env },
      [runId],
    );
    t.equal(
      verified?.report.verified,
      true,
      JSON.stringify(verified?.report.checks.filter(({ status }) => status !== 'passed')),
    );
  },
);

long('runs of both object stores are listed together, also for the same intent', async (t) => {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const source = { kind: 'patch', bytes: fix } as const;
  const beside = await sample.run(
    { source },
    { ...checks, objmodel: { objectStore: { backend: 'external-local' } } },
  );
  sample.git('reset', '--quiet', '--hard', 'HEAD^');
  const inGit = await sample.run(
    { source },
    { ...checks, objmodel: { objectStore: { backend: 'git-native' } } },
  );
  const repository = await openRepository(sample.root);
  t.strictSame(
    (await listRuns(builtInStores, repository, systemClock)).map(({ runId }) => runId),
    [inGit.runId, beside.runId],
  );
  for (const { runId } of [inGit, beside]) {
    const { store } = await findRun(builtInStores, repository, systemClock, runId);
    t.equal((await readRun(repository, store, runId)).state, 'decided');
  }
});
