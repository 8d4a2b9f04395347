import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { systemClock } from '../../core/base/clock.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { createStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { startS3 } from '../plugins/store/fault-proxy.ts';
import { fixtures, makeSample } from './sample.ts';

const server = await startS3();
t.teardown(() => server.close());
const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

t.test('a run under `external-s3` keeps its content in the bucket, and is verified with it', async (t) => {
  const sample = makeSample();
  mkdirSync(join(sample.home, '.aws'));
  writeFileSync(
    join(sample.home, '.aws', 'credentials'),
    '[default]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret\n',
    { mode: 0o600 },
  );
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(
    join(sample.root, '.writ', 'config.toml'),
    `[store.s3]\nendpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\n`,
  );
  sample.git('add', '-f', '.writ/config.toml');
  sample.git('commit', '-qm', 'config');
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix } },
    { objmodel: { objectStore: { backend: 'external-s3' } } },
  );
  t.equal(view.decision?.type, 'commit');

  const repository = await openRepository(sample.root);
  const stores = createStores({ env: sample.env });
  const { store, runId } = await findRun(stores, repository, systemClock, view.runId);
  t.equal((await readRun(repository, store, runId)).state, 'decided');
  t.same(await store.objects.read(store.refs.content(runId), 'patchset.diff'), fix);
  const [verified] = await verifyTargets(
    { stores, repoPath: sample.root, cwd: sample.root, env: sample.env },
    [runId],
  );
  t.equal(
    verified?.report.verified,
    true,
    JSON.stringify(verified?.report.checks.filter(({ status }) => status !== 'passed')),
  );
});
