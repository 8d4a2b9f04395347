import { long } from '../../rooms/long.ts';
import { cloned } from './cloned.ts';
import { sampleWithRunner } from './sample-with-runner.ts';
import { fix, sampleWithAnn, waitingRun } from './waiting-run.ts';

const anew = /evaluated again/;

long('a runner key named only by a policy that the spec chose is not trusted', async (t) => {
  const sample = await sampleWithRunner(t);
  const brought = sample.git('rev-parse', 'main');
  sample.git('reset', '--quiet', '--hard', 'main~1');
  // In the clone of whoever brings it, that branch is the default one, and nobody is warned.
  sample.git('update-ref', 'refs/remotes/origin/side', brought);
  sample.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/side');
  const run = await waitingRun(t, sample, { baseRef: 'origin/side' });
  sample.git('branch', 'side', brought);
  const clone = await cloned(t, run);
  const { code, data } = await clone.call('resume', run.runId);
  t.equal(code, 4);
  const notices = (data?.notices ?? []).join('\n');
  t.match(notices, anew, 'everything is judged here');
  t.match(notices, /POLICY_FOREIGN/, 'and whose policy judges is said');
});

long('a range run resumes in a clone without its commits and with another name for main', async (t) => {
  const sample = sampleWithAnn(t);
  sample.git('checkout', '--quiet', '-b', 'work');
  sample.git('apply', fix);
  sample.git('commit', '--quiet', '--all', '-m', 'Exact prices');
  const tip = sample.git('rev-parse', 'work');
  const main = sample.git('rev-parse', 'main');
  // As CI checks out: no branch of its own, only those of the remote.
  sample.git('checkout', '--quiet', '--detach');
  sample.git('update-ref', 'refs/remotes/origin/main', main);
  sample.git('branch', '--quiet', '-D', 'main', 'work');
  const run = await waitingRun(t, sample, { range: `${main}..${tip}` });
  sample.git('branch', 'main', main);
  const approved = await run.approve();
  t.equal(approved.code, 0, approved.error?.message ?? '');
  sample.git('checkout', '--quiet', 'main');
  const clone = await cloned(t, run);
  const went = await clone.call('resume', run.runId);
  t.equal(went.code, 0, went.error?.message ?? '');
  t.match(went.data?.notices, [anew]);
  t.equal(clone.git('log', '-1', '--format=%P %an', `writ/${run.runId}`), `${main} Sample maintainer`);
});
