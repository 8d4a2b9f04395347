import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { AdmittedContract } from '../../../engine/intent/admit-contract.ts';
import { reopenLanding } from '../../../engine/open/reopen-run.ts';
import { startedRun } from '../../../engine/record/started-run.ts';
import { readJournal } from '../../../store/parse-journal.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import type { Json } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { type Branches, feature, makeBranches } from './branches.ts';

const waits: Json = {
  risk: { humanInLoop: { required: true, minApprovers: 1 } },
  acceptance: {
    verificationPlan: {
      releaseChecks: [{ id: 'people', kind: 'policy', command: 'require-approvers --min 1', required: true }],
    },
  },
};

/** A run that waits for a person, with `feature` as its change. */
async function waiting(t: Test, onto?: string): Promise<Branches & { readonly runId: string }> {
  const made = makeBranches(t);
  made.commit('.writ/allowed_signers', `ann@sample.example ssh-ed25519 ${'A'.repeat(68)}\n`);
  const view = await made.sample.run({ source: feature, ...(onto === undefined ? {} : { onto }) }, waits);
  t.equal(view.state, 'waiting');
  return { ...made, runId: view.runId };
}

long('resume keeps the target of the run, whatever branch is checked out', async (t) => {
  const { sample, runId } = await waiting(t);
  sample.git('checkout', '--quiet', '-b', 'elsewhere', 'feature');
  t.match(await sample.resume(runId), { state: 'waiting', targetRef: 'refs/heads/main' });
  sample.git('checkout', '--quiet', '--detach');
  t.match(await sample.resume(runId), { state: 'waiting', targetRef: 'refs/heads/main' });
  const beside = join(sample.home, 'beside');
  sample.git('worktree', 'add', '--quiet', beside, 'main');
  await t.rejects(sample.resume(runId), { code: 'TARGET_CHECKED_OUT', detail: { ref: 'refs/heads/main' } });
  t.match(await sample.resume(runId, { at: beside }), { state: 'waiting', targetRef: 'refs/heads/main' });
});

long('a run whose policy branch moved while it waited cannot be resumed, only cancelled', async (t) => {
  for (const onto of [undefined, 'side']) {
    const { sample, runId, commit } = await waiting(t, onto);
    const before = sample.git('rev-parse', 'main');
    const moved = commit('.writ/config.toml', '[checks]\nmax_parallel = 1\n');
    await t.rejects(sample.resume(runId), {
      code: 'TARGET_MOVED',
      detail: { expected: before, found: moved },
    });
    sample.git('reset', '--quiet', '--hard', before);
    t.match(await sample.resume(runId), { state: 'waiting' });
    sample.git('reset', '--quiet', '--hard', moved);
    const ended = await sample.resume(runId, { cancel: 'not needed' });
    t.equal(ended.decision?.type, 'abandon', 'such a run can be ended');
  }
});

long('a journal with an invalid target, or a policy of another branch, is JOURNAL_CORRUPT', async (t) => {
  const { sample, runId, start } = await waiting(t);
  const [record] = (await readJournal(join(sample.root, '.git', 'writ', 'runs', runId, 'journal.jsonl')))
    .records;
  if (!record) throw new Error('no journal');
  const data = record.data as { target: object; policy: object; base: object };
  t.match(startedRun([record]), { runId });
  const forge = (more: object) => () => startedRun([{ ...record, data: { ...data, ...more } }]);
  for (const more of [
    { policy: { ...data.policy, commit: start } },
    { policy: { ...data.policy, ref: 'refs/heads/feature' } },
    { base: { ...data.base, commit: start } },
    { target: { ...data.target, ref: 'refs/tags/v1' } },
    { target: { ...data.target, ref: 'main' } },
    { target: { ...data.target, ref: 'refs/heads/../x' } },
    { target: { ...data.target, ref: '--all' } },
    { target: { ref: 'refs/tags/v1', expected: null } },
    { target: { ref: 'refs/heads/a..b', expected: null } },
    { policy: undefined },
    { target: { ...data.target, more: 1 } },
  ])
    t.throws(forge(more), { code: 'JOURNAL_CORRUPT' }, JSON.stringify(more));
});

t.test('resume rejects a forged count of commits behind the target', async (t) => {
  const { sample, runId } = await waiting(t);
  const [record] = (await readJournal(join(sample.root, '.git', 'writ', 'runs', runId, 'journal.jsonl')))
    .records;
  const started = startedRun(record ? [record] : []);
  if (!started?.lag) throw new Error('no lag');
  const repository = await openRepository(sample.root);
  const contract = {
    effective: { metadata: { target: { baseRef: 'main' } } },
  } as unknown as AdmittedContract;
  t.match(await reopenLanding(repository, undefined, started, contract, {}), { lag: { commits: 1 } });
  const forged = { ...started, lag: { ...started.lag, commits: 0 } };
  await t.rejects(reopenLanding(repository, undefined, forged, contract, {}), { code: 'JOURNAL_CORRUPT' });
  const shallow = { ...started, lag: { from: '1'.repeat(40), commits: 1 } };
  await t.rejects(reopenLanding(repository, undefined, shallow, contract, {}), {
    code: 'RUN_NOT_RESUMABLE',
    hints: [/unshallow/, String],
  });
});
