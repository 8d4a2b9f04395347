import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { runLine } from '../../bin/host.ts';
import { fixtures, makeSample, type Sample, sampleSpec } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { callIn, chained, type JournalLine } from './waiting-run.ts';

/** A run that needs no people, stopped while its only check sleeps; its contract names a commit and no branch. */
async function stoppedRun(
  t: Test,
): Promise<{ readonly sample: Sample; readonly runId: string; readonly journal: string }> {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const base = sample.git('rev-parse', 'main');
  const spec = join(sample.home, 'spec.json');
  const command = 'sleep 2 && node --test --test-reporter=tap';
  const fast = { id: 'unit', kind: 'command', command, required: true, artifactsProduced: ['test-log'] };
  const merged = JSON.parse(
    sampleSpec({ acceptance: { verificationPlan: { fastChecks: [fast] } } }).toString('utf8'),
  );
  merged.metadata.target.baseRef = base;
  writeFileSync(spec, JSON.stringify(merged));
  const patch = join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff');
  const stop = new AbortController();
  const env = { ...sample.env, PATH: process.env.PATH ?? '' };
  const running = runLine(['run', spec, '--patch', patch], commands, {
    cwd: sample.root,
    env,
    signal: stop.signal,
  });
  const runs = join(sample.root, '.git', 'writ', 'runs');
  const journalOf = (): string => {
    try {
      return readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'journal.jsonl'), 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => journalOf().includes('check/unit'));
  stop.abort();
  await running;
  const [runId = ''] = readdirSync(runs);
  return { sample, runId, journal: join(runs, runId, 'journal.jsonl') };
}

long('a branch named only by a forged record is moved only if the user names it too', async (t) => {
  const { sample, runId, journal } = await stoppedRun(t);
  const call = callIn(t, sample);
  const base = sample.git('rev-parse', 'main');
  sample.git('branch', 'release');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const text = lines.join('\n').replaceAll('refs/heads/main', 'refs/heads/release');
  writeFileSync(journal, chained(text.split('\n').map((line) => JSON.parse(line) as JournalLine)));
  t.match(await call('resume', runId), { code: 1, error: { code: 'TARGET_UNCONFIRMED' } });
  t.match(await call('resume', runId, '--onto', 'main'), { code: 1, error: { code: 'TARGET_UNCONFIRMED' } });
  t.equal(sample.git('rev-parse', 'release'), base);
  t.equal(sample.git('rev-parse', 'main'), base);
  t.equal((await call('resume', runId, '--onto', 'release')).code, 0, 'as the person said');
  t.not(sample.git('rev-parse', 'release'), base);
  t.equal(sample.git('rev-parse', 'main'), base);
});

long('a run lands only on the branch it was started for', async (t) => {
  const { sample, runId } = await stoppedRun(t);
  const call = callIn(t, sample);
  const base = sample.git('rev-parse', 'main');
  sample.git('branch', 'release');
  t.match(await call('resume', runId, '--onto', 'release'), {
    code: 1,
    error: { code: 'TARGET_UNCONFIRMED' },
  });
  t.equal((await call('resume', runId)).code, 0);
  t.equal(sample.git('rev-parse', 'release'), base);
  t.not(sample.git('rev-parse', 'main'), base);
});
