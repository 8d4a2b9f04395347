import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { long } from '../../rooms/long.ts';
import { type JournalLine, snapshot, waitingRun, withStep } from './waiting-run.ts';

const anew = /evaluated again/;

/** Decided, as far as a record says so. */
const decidedToSeal = {
  schema: 'urn:writ:decision:v1',
  type: 'commit',
  next: 'seal',
  rationale: 'all gates passed',
  reasons: [],
};

t.test('a forged decision seals nothing, and the run is decided again', async (t) => {
  const run = await waitingRun(t);
  const decided = run.lines().find(({ data }) => /shown\/1$/.test((data as { step?: string }).step ?? ''));
  t.ok(decided, 'the run has waited');
  const input = { runId: run.runId };
  const answer = {
    input,
    decision: { ...decidedToSeal, runId: run.runId, inputDigest: '0'.repeat(64) },
    refusals: [],
    metrics: {},
  };
  run.forge(withStep(run.lines(), 'candidate-1/decided', answer));
  const { code, data } = await run.call('resume', run.runId);
  t.equal(code, 4, 'it waits, as it did');
  t.match(data?.notices, [anew]);
  t.equal(run.sample.git('rev-list', '--count', 'main'), '2');
});

/** The whole journal as if it had been about another candidate all along. */
function aboutAnother(
  lines: readonly JournalLine[],
  candidate: { readonly tree: string; readonly digest: string },
): readonly JournalLine[] {
  const [first] = lines as [JournalLine];
  const { candidate: old } = first.data as { candidate: typeof candidate };
  const text = JSON.stringify(lines).replaceAll(old.tree, candidate.tree);
  return JSON.parse(text.replaceAll(old.digest, candidate.digest)) as JournalLine[];
}

long('a forged candidate does not replace the candidate that was approved', async (t) => {
  const run = await waitingRun(t);
  t.equal((await run.approve()).code, 0);
  const evil = await run.candidateWith('src/backdoor.js', 'export const open = true;\n');
  run.forge(aboutAnother(run.lines(), evil));
  const { code } = await run.call('resume', run.runId);
  t.equal(code, 4, 'it is judged, and waits for somebody to approve this one');
  t.equal(run.sample.git('rev-list', '--count', 'main'), '2', 'nothing was sealed');
});

long('checks that a forged journal marks as passed are run again', async (t) => {
  const run = await waitingRun(t);
  const settled = run.lines().filter(({ data }) => /settled$/.test((data as { step?: string }).step ?? ''));
  t.ok(settled.length >= 1, 'stages have settled');
  const broken = await run.candidateWith('src/price.js', 'export const price = () => 0;\n');
  run.forge(aboutAnother(run.lines(), broken));
  const { code, data } = await run.call('resume', run.runId);
  t.equal(code, 1, 'judged, and refused');
  t.equal(data?.decision?.type, 'abandon');
  t.equal(run.sample.git('rev-list', '--count', 'main'), '2');
});

long('a journal with its tail cut off is detected, although its hash chain is valid', async (t) => {
  const run = await waitingRun(t);
  const whole = readFileSync(run.journal, 'utf8').trimEnd().split('\n');
  for (const keep of [whole.length - 1, Math.floor(whole.length / 2), 1]) {
    writeFileSync(run.journal, `${whole.slice(0, keep).join('\n')}\n`);
    const { code, data } = await run.call('resume', run.runId);
    t.equal(code, 4);
    t.match(data?.notices, [anew], `${keep} of ${whole.length} lines`);
  }
});

long('an older journal of the same run is not trusted in place of the newer one', async (t) => {
  const run = await waitingRun(t);
  const back = snapshot(run);
  const { data: went } = await run.call('resume', run.runId);
  t.notMatch(went?.notices ?? [], [anew], 'an honest journal is gone on from');
  back();
  t.match((await run.call('resume', run.runId)).data?.notices, [anew]);
});

long('a journal of another run and lines without a valid MAC are not trusted', async (t) => {
  const run = await waitingRun(t);
  const line = readFileSync(run.journal, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  const { mac } = JSON.parse(line) as { mac: string };
  t.match(mac, /^[0-9a-f]{64}$/);
  // The same words under the same key, with one hexadecimal digit of what vouches for them changed.
  const other = `${mac.slice(0, -1)}${mac.endsWith('0') ? '1' : '0'}`;
  const kept = readFileSync(run.journal, 'utf8');
  writeFileSync(run.journal, kept.replace(`"mac":"${mac}"}\n`, `"mac":"${other}"}\n`));
  t.match((await run.call('resume', run.runId)).data?.notices, [anew]);

  // What a kill between journal and witness looks like, but for who wrote it. A run of its own: one that was begun anew
  // says so for good.
  const clean = await waitingRun(t, run.sample);
  const whole = readFileSync(clean.journal, 'utf8');
  const last = whole.trimEnd().split('\n').at(-1) ?? '';
  const { seq } = JSON.parse(last) as { seq: number };
  const added = {
    seq: seq + 1,
    at: '2026-01-01T00:00:00Z',
    type: 'run-left',
    data: {},
    prev: sha256Hex(last),
  };
  for (const line of [{ ...added, mac }, added]) {
    writeFileSync(clean.journal, `${whole}${JSON.stringify(line)}\n`);
    t.match((await clean.call('resume', clean.runId)).data?.notices, [anew], 'one line more');
  }

  const second = clean;
  const path = join(run.sample.home, '.config', 'writ', 'journals');
  writeFileSync(join(path, run.runId), readFileSync(join(path, second.runId)), { mode: 0o600 });
  writeFileSync(run.journal, readFileSync(second.journal));
  t.match(await run.call('resume', run.runId), { code: 128, error: { code: 'JOURNAL_CORRUPT' } });
});

long('a journal with the MACs of another key is not trusted', async (t) => {
  const run = await waitingRun(t);
  rmSync(join(run.sample.home, '.config', 'writ', 'keys', 'journal.key'));
  t.match((await run.call('resume', run.runId)).data?.notices, [anew]);
  t.equal((await run.approve()).code, 0);
  const done = await run.call('resume', run.runId);
  t.equal(done.code, 0, 'judged anew, approved, sealed');
  t.equal((await run.call('verify', run.runId)).code, 0);
});

long('a decided run cannot be reopened by forging its journal', async (t) => {
  const run = await waitingRun(t);
  t.equal((await run.approve()).code, 0);
  t.equal((await run.call('resume', run.runId)).code, 0);
  const tip = run.sample.git('rev-parse', 'main');
  const lines = run.lines().filter(({ type }) => type !== 'run-finished');
  run.forge(lines);
  t.match(await run.call('resume', run.runId), { code: 1, error: { code: 'RUN_NOT_RESUMABLE' } });
  t.equal(run.sample.git('rev-parse', 'main'), tip);
});

long('a changed record file beside the journal is OBJECT_CORRUPT and stops the resume', async (t) => {
  const run = await waitingRun(t);
  t.equal((await run.approve()).code, 0);
  const plan = join(run.directory, 'record', 'plans', '0001', 'plan.json');
  const kept = readFileSync(plan);
  appendFileSync(plan, ' ');
  t.match(await run.call('resume', run.runId), { code: 128, error: { code: 'OBJECT_CORRUPT' } });
  t.equal(run.sample.git('rev-list', '--count', 'main'), '2');
  writeFileSync(plan, kept);
  t.equal((await run.call('resume', run.runId)).code, 0, 'and goes on once it is whole');
});
