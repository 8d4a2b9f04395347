import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { long } from '../../rooms/long.ts';
import { cloned } from './cloned.ts';
import { sampleWithRunner } from './sample-with-runner.ts';
import { chained, type JournalLine, type WaitingRun, waitingRun, withStep } from './waiting-run.ts';

const anew = /evaluated again/;

/** A later version of the run's record in which the journal is another; what its history and shape say still holds. */
function putJournal({ sample, runId }: WaitingRun, lines: readonly JournalLine[]): void {
  const ref = `refs/ai/runs/${runId}`;
  writeFileSync(join(sample.home, 'blob'), chained(lines));
  const blob = sample.git('hash-object', '-w', join(sample.home, 'blob'));
  const listed = sample
    .git('ls-tree', ref)
    .split('\n')
    .filter((line) => !line.endsWith('\tjournal.jsonl'));
  const made = spawnSync('git', ['mktree'], {
    cwd: sample.root,
    env: sample.env,
    input: [...listed, `100644 blob ${blob}\tjournal.jsonl`, ''].join('\n'),
    encoding: 'utf8',
  });
  sample.git('update-ref', ref, sample.git('commit-tree', made.stdout.trim(), '-p', ref, '-m', 'other'));
}

function travelling({ sample, runId }: WaitingRun): readonly JournalLine[] {
  return sample
    .git('show', `refs/ai/runs/${runId}:journal.jsonl`)
    .split('\n')
    .map((line) => JSON.parse(line) as JournalLine);
}

long('a run that was only fetched by ref is checked again on resume', async (t) => {
  const run = await waitingRun(t);
  const clone = await cloned(t, run);
  const { code, data } = await clone.call('resume', run.runId);
  t.equal(code, 4);
  t.match(data?.notices, [anew]);
});

long('a journal forged on the remote cannot decide a run', async (t) => {
  const run = await waitingRun(t);
  const answer = {
    input: {},
    decision: { type: 'commit', next: 'seal', rationale: 'yes', reasons: [], runId: run.runId },
    refusals: [],
    metrics: {},
  };
  putJournal(run, withStep(travelling(run), 'candidate-1/decided', answer));
  const clone = await cloned(t, run);
  const { code, data } = await clone.call('resume', run.runId);
  t.equal(code, 4);
  t.match(data?.notices, [anew]);
  t.equal(clone.git('rev-list', '--count', 'main'), '2');
});

long('a runner named by the policy commit is trusted for exactly the journal it signed', async (t) => {
  const run = await waitingRun(t, await sampleWithRunner(t));
  const honest = await cloned(t, run);
  const taken = await honest.call('resume', run.runId);
  t.equal(taken.code, 4);
  t.notMatch(taken.data?.notices ?? [], [anew], 'gone on from');
  putJournal(run, [...travelling(run), { type: 'run-left', data: {} }]);
  const forged = await cloned(t, run);
  t.match(
    await forged.call('resume', run.runId),
    { code: 128, error: { code: 'JOURNAL_CORRUPT' } },
    'one record more',
  );
});

long('a journal forged on the remote is refused where the own key signed another', async (t) => {
  const run = await waitingRun(t);
  putJournal(run, [...travelling(run), { type: 'run-left', data: {} }]);
  const clone = await cloned(t, run);
  const keys = join('.config', 'writ', 'keys');
  cpSync(join(run.sample.home, keys), join(clone.home, keys), { recursive: true });
  t.match(await clone.call('resume', run.runId), { code: 128, error: { code: 'JOURNAL_CORRUPT' } });
});

long('a runner signature over another run is not accepted', async (t) => {
  const sample = await sampleWithRunner(t);
  const [run, other] = [await waitingRun(t, sample), await waitingRun(t, sample)];
  const seal = sample.git('show', `refs/ai/runs/${other.runId}:waiting/runner.sigstore.json`);
  const path = join(sample.home, 'seal');
  writeFileSync(path, seal);
  const index = { ...sample.env, GIT_INDEX_FILE: join(sample.home, 'index') };
  const git = (...args: string[]): string =>
    spawnSync('git', args, { cwd: sample.root, env: index, encoding: 'utf8' }).stdout.trim();
  const ref = `refs/ai/runs/${run.runId}`;
  git('read-tree', ref);
  const blob = git('hash-object', '-w', path);
  git('update-index', '--cacheinfo', `100644,${blob},waiting/runner.sigstore.json`);
  git('update-ref', ref, git('commit-tree', git('write-tree'), '-p', ref, '-m', 'other'));
  const clone = await cloned(t, run);
  t.match((await clone.call('resume', run.runId)).data?.notices, [anew]);
});

long('a runner key named only by the working tree is not trusted', async (t) => {
  const run = await waitingRun(t);
  const keys = join(run.sample.home, '.config', 'writ', 'keys');
  t.ok(readdirSync(keys).some((name) => name.startsWith('signing')));
  t.match(readFileSync(run.journal, 'utf8'), /"mac"/);
  const clone = await cloned(t, run);
  mkdirSync(join(clone.root, '.writ', 'trust'), { recursive: true });
  const pem = readdirSync(keys).find((name) => /^signing-.*\.pub\.pem$/.test(name)) ?? '';
  copyFileSync(join(keys, pem), join(clone.root, '.writ', 'trust', 'ci.pem'));
  writeFileSync(join(clone.root, '.writ', 'config.toml'), '[runners]\nkeys = [".writ/trust/ci.pem"]\n');
  t.match((await clone.call('resume', run.runId)).data?.notices, [anew], 'nor the working tree');
});

long('a run with its own policy, runner and signers moves no branch without confirmation', async (t) => {
  for (const onto of ['release', 'origin/main']) {
    const sample = await sampleWithRunner(t);
    const brought = sample.git('rev-parse', 'main');
    sample.git('reset', '--quiet', '--hard', 'main~2');
    const run = await waitingRun(t, sample, { baseRef: brought, onto });
    t.equal((await run.approve()).code, 0, 'by a signer of its own');
    const clone = await cloned(t, run);
    t.match(await clone.call('resume', run.runId), { code: 1, error: { code: 'TARGET_UNCONFIRMED' } }, onto);
    t.notMatch(clone.git('for-each-ref', '--format=%(refname)', 'refs/heads'), onto);
    const confirmed = await clone.call('resume', run.runId, '--onto', onto);
    t.match(confirmed.data?.notices?.join('\n'), anew, `${onto}: its runner vouches for nothing`);
  }
});

long('a record under another ref prefix does not replace the real record', async (t) => {
  const run = await waitingRun(t);
  const { sample, runId } = run;
  sample.git('update-ref', `refs/ai/aa/runs/${runId}`, sample.git('rev-parse', 'main'));
  t.match(await run.call('show', runId), { code: 0, data: { state: 'waiting' } });
  t.equal((await run.approve()).code, 0);
  t.equal((await run.call('resume', runId)).code, 0);
  t.equal((await run.call('verify', '--run', runId)).code, 0);
});

long('resume does not write through a symlink in place of a run or its spec', async (t) => {
  const run = await waitingRun(t);
  const clone = await cloned(t, run);
  const runs = join(clone.root, '.git', 'writ', 'runs');
  const elsewhere = join(clone.root, '..', 'elsewhere');
  mkdirSync(join(elsewhere, 'content'), { recursive: true });
  mkdirSync(runs, { recursive: true });
  symlinkSync(elsewhere, join(runs, run.runId));
  t.match(await clone.call('resume', run.runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
  t.same(readdirSync(elsewhere), ['content']);
  rmSync(join(runs, run.runId));
  mkdirSync(join(runs, run.runId));
  const victim = join(clone.root, '..', 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(runs, run.runId, 'spec.json'));
  t.equal((await clone.call('resume', run.runId)).code, 4);
  t.equal(readFileSync(victim, 'utf8'), 'mine');
});
