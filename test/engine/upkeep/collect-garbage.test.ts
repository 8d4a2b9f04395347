import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gitEvidence } from '../../../api/verify/git-evidence.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { loadAnchors } from '../../../attest/verify/anchors.ts';
import type { VerifyReport } from '../../../attest/verify/report.ts';
import { verifyRun } from '../../../attest/verify/verify-run.ts';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { readRun } from '../../../engine/record/read-run.ts';
import { collectGarbage } from '../../../engine/upkeep/collect-garbage.ts';
import { expiryOf } from '../../../engine/upkeep/expire-content.ts';
import { fetchRefs } from '../../../engine/upkeep/fetch-refs.ts';
import { pushRefs } from '../../../engine/upkeep/push-refs.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import { findRun } from '../../../store/record/list-records.ts';
import { readRetained, retainBlobs } from '../../../store/retain-blobs.ts';
import { acquireRunLock } from '../../../store/run-directory.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { ownIdentity } from '../../../workspace/process/process-lock.ts';
import { long } from '../../rooms/long.ts';
import { clockAt, daysLater, finishedRun, type Spoilable } from './finished-run.ts';
import { makeRemote, told } from './two-repositories.ts';

const limits = { artifacts: { retention: { days: 10 } }, constraints: { privacy: { retentionDays: 20 } } };
const spoilable = await finishedRun(limits);

async function collect(one: Spoilable, clock: Clock, dryRun = false) {
  const temporary = join(one.home, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const removed = await collectGarbage({
    stores: builtInStores,
    repository: one.repository,
    clock,
    dryRun,
    temporary,
  });
  return removed.map(({ kind, where, files }) => [
    kind,
    where.replace(one.root, '').replace(one.home, ''),
    files,
  ]);
}

const contentOf = ({ runId }: Spoilable): string => `refs/ai/content/${runId}`;

async function verify(one: Spoilable, clock: Clock): Promise<VerifyReport> {
  const { store, runId } = await findRun(builtInStores, one.repository, clock, one.runId);
  const source = await gitEvidence(one.repository, store, runId, one.commit);
  if (!source) throw new Error('no evidence');
  const anchors = await loadAnchors({ keyFiles: [], ledgerKeys: [] }, one.env);
  const memory = openCheckpointMemory(join(one.home, 'seen'));
  return verifyRun(source, anchors, { clock, memory, runId });
}

t.test('before it expires content stays, and a decided run keeps only its journal and spec', async (t) => {
  const one = await spoilable();
  const directory = one.inGit('writ', 'runs', one.runId);
  writeFileSync(join(directory, 'left-over'), 'x'.repeat(100));
  t.strictSame(await collect(one, daysLater(9)), [
    ['run-directory', `/.git/writ/runs/${one.runId}`, undefined],
  ]);
  t.strictSame(readdirSync(directory), ['journal.jsonl', 'spec.json']);
  t.ok(one.git('rev-parse', '--verify', contentOf(one)));
  t.strictSame(await collect(one, daysLater(9)), [], 'again: nothing');
});

t.test('expired content and its run directory are removed, and the commit still verifies', async (t) => {
  const one = await spoilable();
  const before = await verify(one, daysLater(11));
  t.ok(before.verified, JSON.stringify(before.checks.filter(({ status }) => status !== 'passed')));
  const planned = await collect(one, daysLater(11), true);
  t.ok(one.git('rev-parse', '--verify', contentOf(one)), 'a dry run removes nothing');
  t.ok(existsSync(one.inGit('writ', 'runs', one.runId, 'journal.jsonl')));
  const removed = await collect(one, daysLater(11));
  t.strictSame(removed, planned);
  t.strictSame(removed, [
    ['content', contentOf(one), undefined],
    ['run-directory', `/.git/writ/runs/${one.runId}`, undefined],
  ]);
  t.throws(() => one.git('rev-parse', '--verify', '--quiet', contentOf(one)));
  t.notOk(existsSync(one.inGit('writ', 'runs', one.runId)));
  const after = await verify(one, daysLater(11));
  t.ok(after.verified, JSON.stringify(after.checks.filter(({ status }) => status !== 'passed')));
  t.equal(after.ran, after.expected, 'what expired counts as run');
  t.ok(after.checks.some(({ id, status }) => id === 'subject-patchset' && status === 'expired'));
  t.notOk((await verify(one, daysLater(1))).verified, 'gone before its time is not expired');
  const { store, runId } = await findRun(builtInStores, one.repository, systemClock, one.runId);
  t.equal((await readRun(one.repository, store, runId)).state, 'decided');
});

t.test(
  'content that expires first is removed first, and the rest moves to a commit without parents',
  async (t) => {
    const one = await spoilable();
    one.git('config', 'core.logAllRefUpdates', 'always');
    const evidence = JSON.parse(one.show(`refs/ai/runs/${one.runId}`, 'evidence/0001-unit.json'));
    const reports: readonly { readonly key: string; readonly expiresAt: string }[] = evidence.reports;
    const [{ key, expiresAt } = { key: '', expiresAt: '' }] = reports.toSorted((a, b) =>
      a.expiresAt.localeCompare(b.expiresAt),
    );
    const path = key.slice(key.indexOf(':') + 1);
    const old = one.git('rev-parse', contentOf(one));
    t.strictSame(await collect(one, clockAt(Date.parse(expiresAt) - 1)), []);
    const [first] = await collect(one, clockAt(Date.parse(expiresAt)));
    t.equal(first?.[0], 'content');
    t.type(first?.[2], 'number');
    const left = one.git('ls-tree', '-r', '--name-only', contentOf(one)).split('\n');
    t.ok(left.includes('patchset.diff'));
    t.notOk(left.includes(path));
    t.equal(one.git('rev-list', '--count', contentOf(one)), '1');
    t.notMatch(one.git('rev-list', '--all', '--reflog'), new RegExp(old));
    const report = await verify(one, clockAt(Date.parse(expiresAt)));
    t.ok(report.verified, JSON.stringify(report.checks.filter(({ status }) => status !== 'passed')));
  },
);

t.test(
  'a run that waits, works or can be resumed, or whose journal is damaged, keeps everything',
  async (t) => {
    const one = await spoilable();
    const directory = one.inGit('writ', 'runs', one.runId);
    const journal = join(directory, 'journal.jsonl');
    const whole = readFileSync(journal, 'utf8');
    const lines = whole.trimEnd().split('\n');
    const finished = lines.findIndex((line) => line.includes('"run-finished"'));
    t.ok(finished > 0);
    writeFileSync(journal, `${lines.slice(0, finished).join('\n')}\n`);
    t.strictSame(await collect(one, daysLater(1000)), [], 'stopped before its last step');
    writeFileSync(journal, whole.replace('run-finished', 'run-finishes'));
    t.strictSame(await collect(one, daysLater(1000)), [], 'a damaged journal tells nothing');
    writeFileSync(journal, whole);
    const lock = await acquireRunLock(directory);
    t.strictSame(await collect(one, daysLater(1000)), [], 'somebody works on it');
    await lock.release();
    one.rewrite(`refs/ai/runs/${one.runId}`, { 'waiting.json': '{}' });
    t.strictSame(await collect(one, daysLater(1000)), [], 'it waits');
    one.rewrite(`refs/ai/runs/${one.runId}`, { 'waiting.json': undefined, 'decision.json': '{}' });
    t.strictSame(await collect(one, daysLater(1000)), [], 'nobody can tell what was decided');
  },
);

t.test('content without a run and files that are not of writ are kept', async (t) => {
  const one = await spoilable();
  one.git('update-ref', '-d', `refs/ai/runs/${one.runId}`);
  one.git('update-ref', 'refs/heads/content/x', 'main');
  mkdirSync(one.inGit('writ', 'tmp', 'store-mine'), { recursive: true });
  t.strictSame(await collect(one, daysLater(1000)), []);
  t.ok(existsSync(one.inGit('writ', 'tmp', 'store-mine')));
});

t.test('stale files of killed processes are removed, and their size is reported', async (t) => {
  const one = await spoilable();
  await collect(one, daysLater(0));
  const { host, boot, namespace } = await ownIdentity();
  const dead = [host, boot, namespace, '4194303', '1'].map(encodeURIComponent).join('+');
  const left = one.inGit('writ', 'tmp', `store-${dead}+0123`);
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, 'pack'), 'x'.repeat(1000));
  const temporary = join(one.home, 'tmp');
  const workspace = join(temporary, `writ-run-${one.runId}`);
  mkdirSync(workspace, { recursive: true, mode: 0o700 });
  writeFileSync(join(workspace, 'file'), 'x'.repeat(2000));
  const removed = await collectGarbage({
    stores: builtInStores,
    repository: one.repository,
    clock: systemClock,
    dryRun: false,
    temporary,
  });
  t.strictSame(
    removed.map(({ kind, where, bytes }) => [kind, where, bytes]),
    [
      ['workspace', workspace, 2000],
      ['temporary', left, 1000],
    ],
  );
  t.notOk(existsSync(left));
  t.notOk(existsSync(workspace));
});

t.test('content expires at the earlier of its artifact limit and its privacy limit', async (t) => {
  const day = 86_400_000;
  const created = 100 * day;
  const decided = 105 * day;
  const of = (artifactDays: number, privacyDays: number): number => {
    const shown = new Map([['log', created + Math.min(artifactDays, privacyDays) * day]]);
    return expiryOf({ decidedAtMs: decided, artifactDays, privacyDays }, shown).expiresAtMs('log') / day;
  };
  t.equal(of(10, 30), 110, 'from the creation');
  t.equal(of(30, 10), 115, 'from the decision');
  t.equal(of(12, 10), 112);
  t.equal(of(0, 10), 100);
  t.equal(of(10, 0), 105);
});

long('content that expired locally is deleted at the remote and not fetched again', async (t) => {
  const one = await spoilable();
  const { bare, clone } = makeRemote();
  one.git('remote', 'add', 'origin', bare);
  const other = clone('other');
  const request = {
    repository: one.repository,
    remote: undefined,
    cwd: one.root,
    signal: new AbortController().signal,
  };
  t.ok(told(await pushRefs({ ...request, clock: systemClock })).includes(`${contentOf(one)} created`));
  await other.move(fetchRefs);
  const later = daysLater(11);
  await collect(one, later);
  t.ok(
    told(await fetchRefs({ ...request, clock: later })).includes(`${contentOf(one)} expired`),
    'before the push',
  );
  t.throws(() => one.git('rev-parse', '--verify', '--quiet', contentOf(one)));
  t.ok(told(await pushRefs({ ...request, clock: later })).includes(`${contentOf(one)} deleted`));
  const there = { ...request, repository: await openRepository(other.root), cwd: other.root };
  t.ok(
    told(await pushRefs({ ...there, clock: later })).includes(`${contentOf(one)} expired`),
    'nor sent by another',
  );
  t.equal(other.git('ls-remote', 'origin', contentOf(one)), '');
});

long('expired content and context in the store `external-local` are removed', async (t) => {
  const objmodel = { objectStore: { backend: 'external-local', blobRetentionStrategy: 'orphan-commit' } };
  const one = await (await finishedRun({ ...limits, objmodel }))();
  t.equal(one.git('for-each-ref', contentOf(one)), '', 'not in git');
  await retainBlobs(one.repository, 'orphan-commit', one.runId, [['page', Buffer.from('found')]]);
  const { store } = await findRun(builtInStores, one.repository, systemClock, one.runId);
  const content = await store.objects.list(contentOf(one));
  const [patch] = content.filter(({ path }) => path === 'patchset.diff');
  const file = one.inGit(
    'writ',
    'store',
    'objects',
    (patch?.object ?? '').slice(0, 2),
    (patch?.object ?? '').slice(2),
  );
  t.ok(existsSync(file));
  await collect(one, daysLater(9));
  t.strictSame(await collect(one, daysLater(9)), []);
  t.ok(existsSync(file), 'before its time');
  const planned = await collect(one, daysLater(11), true);
  t.ok(existsSync(file), 'a dry run removes nothing');
  const removed = await collect(one, daysLater(11));
  t.strictSame(removed, planned);
  t.match(removed, [
    ['content', contentOf(one), undefined],
    ['context', new RegExp(`^refs/ai/orphan-commits/${one.runId}/`), undefined],
    ['run-directory', `/.git/writ/runs/${one.runId}`, undefined],
  ]);
  t.notOk(existsSync(file), 'the bytes, too');
  t.equal(await readRetained(one.repository, 'orphan-commit', one.runId, 'page'), undefined);
  t.equal((await readRun(one.repository, store, one.runId)).state, 'decided', 'the record stays');
  t.strictSame(await collect(one, daysLater(11)), []);
});
