/* One test of every store and every way to keep context blobs: a run is stored, read, verified, compared and expires. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gitEvidence } from '../../api/verify/git-evidence.ts';
import { verifyTargets } from '../../api/verify/verify-targets.ts';
import { formatEvidenceFile } from '../../attest/verify/evidence-file.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { listRuns } from '../../engine/record/list-runs.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { checkRepository } from '../../engine/upkeep/check-repository.ts';
import { collectGarbage } from '../../engine/upkeep/collect-garbage.ts';
import { createStores } from '../../plugins/store/built-in-stores.ts';
import { findRun } from '../../store/record/list-records.ts';
import { type BlobRetentionStrategy, readRetained, retainBlobs } from '../../store/retain-blobs.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { startS3 } from '../plugins/store/fault-proxy.ts';
import { casesOf, long } from '../rooms/long.ts';
import { fixtures, makeSample, type Sample } from './sample.ts';
import { daysLater } from './upkeep/finished-run.ts';

const server = await startS3();
t.teardown(() => server.close());
const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

const strategies: readonly BlobRetentionStrategy[] = [
  'ref-anchoring',
  'orphan-commit',
  'keep-pack',
  'custom-gc',
];
const backends = ['git-native', 'external-local', 'external-s3'] as const;
const cases = Object.fromEntries(
  backends.flatMap((backend) =>
    strategies.map((strategy) => [`${backend}, ${strategy}`, { backend, strategy }]),
  ),
);

/** A run of the fix whose content goes to `backend`; the bucket is named by the policy commit. */
async function ran(t: Test, backend: string, blobRetentionStrategy: string) {
  server.fault = undefined;
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.home, '.aws'));
  const credentials = '[default]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret-of-test\n';
  writeFileSync(join(sample.home, '.aws', 'credentials'), credentials, { mode: 0o600 });
  mkdirSync(join(sample.root, '.writ'));
  const place = `endpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\nprefix = "runs/"\n`;
  writeFileSync(join(sample.root, '.writ', 'config.toml'), `[store.s3]\n${place}`);
  sample.git('add', '-f', '.writ/config.toml');
  sample.git('commit', '-qm', 'Settings');
  const view = await sample.run(
    { source: { kind: 'patch', bytes: fix } },
    {
      artifacts: { retention: { days: 10 } },
      constraints: { privacy: { retentionDays: 20 } },
      objmodel: { objectStore: { backend, blobRetentionStrategy } },
    },
  );
  t.equal(view.decision?.type, 'commit');
  const repository = await openRepository(sample.root);
  const stores = createStores({ env: sample.env });
  return { sample, repository, stores, runId: view.runId, ...toolsOf(sample, stores, repository) };
}

function toolsOf(
  sample: Sample,
  stores: ReturnType<typeof createStores>,
  repository: Awaited<ReturnType<typeof openRepository>>,
) {
  const temporary = join(sample.home, 'tmp');
  mkdirSync(temporary);
  return {
    verify: async (target: string) =>
      (await verifyTargets({ stores, repoPath: sample.root, cwd: sample.root, env: sample.env }, [target]))[0]
        ?.report,
    fsck: async (clock: Clock = systemClock, readsContent = true) =>
      (await checkRepository({ repository, clock, stores, readsContent })).problems.map(({ code, where }) => [
        code,
        where,
      ]),
    collect: (clock: Clock, dryRun = false) =>
      collectGarbage({ stores, repository, clock, dryRun, temporary }),
  };
}

const inBucket = async (runId: string) =>
  (await server.keys()).filter((key) => key.startsWith(`runs/${runId}/`));

for (const [name, { backend, strategy }] of casesOf(cases, ['external-s3, keep-pack']))
  t.test(`a run is stored, read, verified, compared and expires: ${name}`, async (t) => {
    const { sample, repository, stores, runId, verify, fsck, collect } = await ran(t, backend, strategy);
    await retainBlobs(repository, strategy, runId, [['page', Buffer.from('found')]]);
    t.match(await listRuns(stores, repository, systemClock), [
      { runId, state: 'decided', decision: 'commit' },
    ]);
    const { store } = await findRun(stores, repository, systemClock, runId.slice(0, 13));
    const ref = store.refs.content(runId);
    t.equal((await readRun(repository, store, runId)).state, 'decided');
    t.same(await store.objects.read(ref, 'patchset.diff'), fix);
    const listed = await store.objects.list(ref);
    t.ok(listed.some(({ path, sizeBytes }) => path === 'patchset.diff' && sizeBytes === fix.length));
    const report = await verify(runId);
    t.equal(
      report?.verified,
      true,
      JSON.stringify(report?.checks.filter(({ status }) => status !== 'passed')),
    );
    t.strictSame(await fsck(), []);
    const kept = await inBucket(runId);
    t.equal(kept.length > 0, backend === 'external-s3');

    await collect(daysLater(9));
    t.same(await store.objects.read(ref, 'patchset.diff'), fix, 'before its time');
    t.equal(`${await readRetained(repository, strategy, runId, 'page')}`, 'found');
    const planned = await collect(daysLater(11), true);
    t.strictSame(await inBucket(runId), kept, 'a dry run removes nothing');
    const removed = await collect(daysLater(11));
    t.strictSame(removed, planned);
    const content = removed.find(({ kind }) => kind === 'content');
    t.equal(content?.bytes, sum(listed), 'the content as it was counted');
    t.equal(await store.objects.read(ref, 'patchset.diff'), undefined);
    t.strictSame(await inBucket(runId), []);
    t.equal(await readRetained(repository, strategy, runId, 'page'), undefined);
    t.equal((await readRun(repository, store, runId)).state, 'decided', 'the record stays');
    t.strictSame(await fsck(daysLater(11)), []);
    t.strictSame(await collect(daysLater(11)), []);
    t.equal(existsSync(join(sample.root, '.git', 'writ', 'store')), backend === 'external-local');
  });

const sum = (entries: readonly { readonly sizeBytes: number }[]) =>
  entries.reduce((all, { sizeBytes }) => all + sizeBytes, 0);

long('a run under `external-s3` keeps its content in the bucket, and git what it refers to', async (t) => {
  const { sample, repository, stores, runId, verify, fsck, collect } = await ran(
    t,
    'external-s3',
    'ref-anchoring',
  );
  const show = (path: string) => JSON.parse(sample.git('show', `refs/ai/content/${runId}:${path}`)) as object;
  const { store } = await findRun(stores, repository, systemClock, runId);
  const ref = store.refs.content(runId);
  const listed = await store.objects.list(ref);
  for (const { path, object, sizeBytes } of listed) {
    const found = show(path);
    t.match(found, { store: 'external-s3', key: object, sha256: object, sizeBytes });
    t.match(found, path === 'patchset.diff' ? { contentType: 'text/x-diff' } : { expiresAt: /^20/ });
  }
  t.strictSame(
    (await inBucket(runId)).sort(),
    [...new Set(listed.map(({ object }) => `runs/${runId}/${object}`))].sort(),
  );
  const { commitSha = '' } = (await readRun(repository, store, runId)).decision ?? {};
  const source = await gitEvidence(repository, store, runId, commitSha);
  const exported = join(sample.home, 'evidence.json');
  if (source) writeFileSync(exported, await formatEvidenceFile(runId, source));

  await t.test('push and fetch move refs only', async (t) => {
    const before = server.seen.length;
    sample.git('init', '-q', '--bare', join(sample.home, 'other.git'));
    sample.git('push', '-q', join(sample.home, 'other.git'), 'refs/ai/*:refs/ai/*');
    t.equal(server.seen.length, before);
  });

  await t.test(
    'without the bucket, verification names what it could not read; exported evidence needs none',
    async (t) => {
      server.fault = () => ({ answer: 403, code: 'AccessDenied' });
      const report = await verify(runId);
      t.equal(report?.verified, false);
      const unread = report?.checks.filter(({ status }) => status === 'missing') ?? [];
      t.ok(unread.some(({ id }) => id === 'subject-patchset'));
      t.ok(
        unread.every(({ detail }) => /403 AccessDenied/.test(String(detail?.found))),
        JSON.stringify(unread),
      );
      t.notOk(
        report?.checks.some(({ status }) => status === 'failed'),
        'nothing is refuted',
      );
      t.strictSame(await fsck(), [['content-unread', ref]]);
      await t.rejects(
        collect(daysLater(11)),
        { code: 'STORE_REFUSED' },
        'gc forgets nothing that it could not delete',
      );
      t.ok(sample.git('rev-parse', ref));
      const [fromFile] = await verifyTargets({ stores, cwd: sample.home, env: sample.env }, [exported]);
      t.equal(
        fromFile?.report.verified,
        true,
        JSON.stringify(fromFile?.report.checks.filter(({ status }) => status !== 'passed')),
      );
      server.fault = undefined;
    },
  );

  await t.test('content that was changed or lost in the bucket is found', async (t) => {
    const log = listed.find(({ path }) => /test-log/.test(path));
    if (log === undefined) throw new Error('no log of tests');
    const key = `runs/${runId}/${log.object}`;
    await server.write(key, 'x'.repeat(log.sizeBytes));
    t.strictSame(await fsck(systemClock, false), [], 'the size alone is right');
    t.strictSame(await fsck(), [['digest-mismatch', `${ref}:${log.path}`]]);
    const changed = (await verify(runId))?.checks.filter(({ status }) => status === 'failed');
    t.match(changed, [{ id: `evidence:${log.path}`, code: 'mismatch' }]);
    await server.write(key, 'shorter');
    t.strictSame(await fsck(systemClock, false), [['digest-mismatch', `${ref}:${log.path}`]]);
    await server.remove(key);
    t.strictSame(await fsck(systemClock, false), [['content-missing', `${ref}:${log.path}`]]);
    t.match(
      (await verify(runId))?.checks.filter(({ status }) => status === 'missing'),
      [{ id: `evidence:${log.path}` }],
    );
    t.strictSame(await fsck(daysLater(11), false), [], 'what has expired may be gone');
  });
});

long(
  'a run is refused before any work without bucket or credentials, and stopped by a store without conditions',
  async (t) => {
    const sample = makeSample();
    t.teardown(() => sample.remove());
    const spec = { objmodel: { objectStore: { backend: 'external-s3' } } };
    const source = { kind: 'patch', bytes: fix } as const;
    await t.rejects(sample.run({ source }, spec), { code: 'CONFIG_INVALID', message: /store\.s3/ });
    mkdirSync(join(sample.root, '.writ'));
    writeFileSync(
      join(sample.root, '.writ', 'config.toml'),
      `[store.s3]\nendpoint = "${server.endpoint}"\nbucket = "${server.bucket}"\nprefix = "refused/"\n`,
    );
    sample.git('add', '-f', '.writ/config.toml');
    sample.git('commit', '-qm', 'Settings');
    await t.rejects(sample.run({ source }, spec), { code: 'STORE_CREDENTIALS' });
    t.equal(sample.git('for-each-ref', 'refs/ai'), '');
    mkdirSync(join(sample.home, '.aws'));
    writeFileSync(
      join(sample.home, '.aws', 'credentials'),
      '[default]\naws_access_key_id=A\naws_secret_access_key=b\n',
      { mode: 0o600 },
    );
    const before = sample.git('rev-parse', 'main');
    server.keepsConditions = false;
    await t.rejects(sample.run({ source }, spec), { code: 'STORE_UNCONDITIONAL' });
    server.keepsConditions = true;
    t.equal(sample.git('rev-parse', 'main'), before, 'nothing was committed');
    t.strictSame(
      (await server.keys()).filter((key) => key.startsWith('refused/')),
      ['refused/probe/once'],
    );
    const [runId = ''] = readdirSync(join(sample.root, '.git', 'writ', 'runs'));
    t.equal((await sample.resume(runId)).decision?.type, 'commit', 'the run goes on when the store does');
  },
);
