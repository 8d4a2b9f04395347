import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { WritError } from '../../../core/base/errors.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import type { RunView } from '../../../core/interfaces/run-view.ts';
import { definePlugin } from '../../../core/kernel/plugin.ts';
import { openSession } from '../../../session/open-session.ts';
import type { Fact } from '../../../session/state/fact.ts';
import { pendingOf } from '../../../session/state/state.ts';
import type { HeldReview } from '../../../session/state/work.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { runDirectory } from '../../../store/run-directory.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { cutPatch } from '../../../workspace/patch/patch-paths.ts';
import { fixtures, makeSample, type Sample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { alterEvidence } from './alter-evidence.ts';
import { lastNote, settingOf } from './scripted-session.ts';

const local = { from: 'local' } as const;
const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const extra = Buffer.from(
  [
    'diff --git a/src/extra.js b/src/extra.js',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/src/extra.js',
    '@@ -0,0 +1 @@',
    '+export const extra = 1;',
    '',
  ].join('\n'),
);
const source = { kind: 'patch', bytes: fix } as const;

/** A session that goes on with a thread whose process was killed behind the last of these facts. */
async function killed(t: Test, sample: Sample, facts: readonly Fact[]) {
  const threadId = uuidV7(Date.now());
  const setting = await settingOf(sample, { base: 'http://127.0.0.1:9' }, { resume: threadId });
  t.teardown(() => setting.engine[Symbol.asyncDispose]());
  const { clock, witness } = setting;
  const place = threadDirectory(await openRepository(sample.root), threadId);
  {
    await using thread = await openThread(place, threadId, { clock, witness });
    const opened = { type: 'opened', ground: ground({ threadId }) } as const;
    await thread.append([opened, ...facts].map((fact) => ({ ...fact, atMs: clock.now() })));
  }
  const session = await openSession(setting);
  t.teardown(() => session[Symbol.asyncDispose]());
  const { channel } = session;
  return {
    session,
    state: () => channel.state,
    async say(text: string) {
      await channel.send({ type: 'submit', text, proof: local });
      await until(() => channel.state.turn === undefined || pendingOf(channel.state).length > 0);
    },
    async choose(choice: string, question = 'review') {
      const [asked] = pendingOf(channel.state);
      const given = { answers: { [question]: [choice] } };
      await channel.send({ type: 'respond', id: asked?.id ?? '', given, proof: local });
      await until(() => channel.state.turn === undefined);
    },
  };
}

/** What a session had told of its run until then. */
function begun(runId: string, expected: string): readonly Fact[] {
  const repair = { attempt: 0, limit: 3 };
  const run = { runId, revision: 1, advice: [], repair };
  const target = { ref: 'refs/heads/main', expected };
  const branch = `refs/heads/writ/review-${runId}`;
  return [
    { type: 'set', settings: { context: 'dev', networkAccess: 'deny', review: 'on' } },
    { type: 'planned', plan: { id: 'plan', title: 'Prices', status: 'running', steps: [], run } },
    { type: 'turn-began', turn: 'turn' },
    { type: 'run-began', runId, held: { runId, branch, target, plan: 'plan' } },
  ];
}

function sampleOf(t: Test): Sample {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  return sample;
}

const heldRun = (sample: Sample, runId: string, bytes = fix): Promise<RunView> =>
  sample.run({
    source: { kind: 'patch', bytes },
    runId,
    onto: `writ/review-${runId}`,
    heldFor: 'refs/heads/main',
  });

function reviewOf({ runId, decision, patch, targetRef: branch }: RunView, expected: string): HeldReview {
  return {
    runId,
    branch,
    target: { ref: 'refs/heads/main', expected },
    plan: 'plan',
    commit: decision?.commitSha ?? '',
    patchset: patch?.digest ?? '',
    summary: 'Prices are exact',
  };
}

long(
  'the review of a change that was sealed before the process was killed opens at the next start',
  async (t) => {
    const sample = sampleOf(t);
    const before = sample.git('rev-parse', 'main');
    const runId = uuidV7(Date.now());
    const view = await heldRun(sample, runId);
    const { session, state, choose } = await killed(t, sample, begun(runId, before));
    t.match(pendingOf(state()), [
      { title: 'Prices are exact', metadata: { commit: view.decision?.commitSha } },
    ]);
    await choose('keep');
    t.equal(state().status, 'completed', lastNote(session));
    t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
    t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
  },
);

long(
  'a held commit that is already on the branch counts as kept, even if the answer is discard',
  async (t) => {
    const sample = sampleOf(t);
    const before = sample.git('rev-parse', 'main');
    const runId = uuidV7(Date.now());
    const view = await heldRun(sample, runId);
    const review = reviewOf(view, before);
    sample.git('update-ref', 'refs/heads/main', review.commit, before);
    const facts = [...begun(runId, before), { type: 'review-began', review } as const];
    const { session, state, choose } = await killed(t, sample, facts);
    await choose('discard');
    t.match(lastNote(session), new RegExp(`${review.commit} is on .main.`));
    t.equal(state().status, 'completed');
    t.equal(sample.git('rev-parse', 'main'), review.commit);
    t.equal(sample.git('status', '--porcelain'), '', 'the files have followed');
    t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
  },
);

long('a run that never began is dropped without a trace, and `/review` reports it once', async (t) => {
  const sample = sampleOf(t);
  const lost = begun(uuidV7(Date.now()), sample.git('rev-parse', 'main'));
  const { session, say, state, choose } = await killed(t, sample, lost);
  t.match(pendingOf(state()), [{ description: /before it began/ }]);
  await choose('drop', 'stopped');
  t.match(lastNote(session), /the run never began/);
  t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '');
  await say('/review');
  t.match(lastNote(session), /has made no change that could be reviewed/);
  t.equal(state().heldRun, undefined);
  await t.rejects(say('/review'), { code: 'UNSUPPORTED_OPERATION' });
});

long('a commit that the record of the last run does not prove is not reported as its end', async (t) => {
  const sample = sampleOf(t);
  const runId = uuidV7(Date.now());
  const before = sample.git('rev-parse', 'main');
  const view = await sample.run({ source, runId, onto: 'refs/heads/main' });
  const commit = view.decision?.commitSha ?? '';
  alterEvidence(sample, runId, 'gate-report.json', [`"baseCommit":"${before}"`, `"baseCommit":"${commit}"`]);
  rmSync(runDirectory(await openRepository(sample.root), runId), { recursive: true });
  const { state } = await killed(t, sample, [
    { type: 'turn-began', turn: 'turn' },
    { type: 'run-began', runId },
  ]);
  t.match(state(), {
    outcome: {
      runId,
      decision: 'none',
      why: `its record is not that of commit ${commit}: \`writ verify ${runId}\``,
    },
  });
});

long('an undo that ended while no session looked is reported as an undo', async (t) => {
  const sample = sampleOf(t);
  const [made, undone] = [uuidV7(Date.now()), uuidV7(Date.now())];
  await sample.run({ source, runId: made, onto: 'refs/heads/main' });
  const own = { metadata: { id: 'sample-intent-0002' } };
  const added = { kind: 'patch', bytes: extra } as const;
  const view = await sample.run({ source: added, runId: undone, onto: 'refs/heads/main' }, own);
  const { session, state } = await killed(t, sample, [
    { type: 'turn-began', turn: 'turn' },
    { type: 'undo-began', run: made, by: undone },
    { type: 'run-began', runId: undone },
  ]);
  t.match(state(), { outcome: { runId: undone, decision: view.decision?.type } });
  t.match(lastNote(session), /^nothing was taken back: /);
});

long('an interrupted undo goes on as an undo', async (t) => {
  const sample = sampleOf(t);
  const [made, undone] = [uuidV7(Date.now()), uuidV7(Date.now())];
  await sample.run({ source: { kind: 'patch', bytes: extra }, runId: made, onto: 'refs/heads/main' });
  await interrupted(t, sample, undone);
  const { session, state, choose } = await killed(t, sample, [
    { type: 'turn-began', turn: 'turn' },
    { type: 'undo-began', run: made, by: undone },
    { type: 'run-began', runId: undone },
  ]);
  t.match(pendingOf(state()), [{ description: /nothing is committed/ }]);
  await choose('go-on', 'stopped');
  t.match(state(), { outcome: { runId: undone, decision: 'commit' } }, lastNote(session));
});

/** A run of the change that ends behind its first stage, as if it was killed there. */
async function interrupted(t: Test, sample: Sample, runId: string): Promise<void> {
  const stopped = new AbortController();
  const stops = definePlugin({
    name: 'stops',
    api: 1,
    setup({ hooks }) {
      hooks.stage.settled.tap(async () => stopped.abort(new WritError('RUN_INTERRUPTED')));
      return undefined;
    },
  });
  const own = { metadata: { id: 'sample-intent-0002' } };
  const left = { source, runId, onto: 'refs/heads/main', signal: stopped.signal };
  await t.rejects(sample.run(left, own, [stops]), { code: 'RUN_INTERRUPTED' });
}

long('remaining hunks that are already committed are found after a kill, whatever the answer', async (t) => {
  const sample = sampleOf(t);
  const before = sample.git('rev-parse', 'main');
  const [runId, anew] = [uuidV7(Date.now()), uuidV7(Date.now())];
  const view = await heldRun(sample, runId);
  const review = reviewOf(view, before);
  const own = { metadata: { id: 'sample-intent-0002' } };
  const left = await sample.run({ source, runId: anew, onto: 'refs/heads/main' }, own);
  t.equal(left.decision?.type, 'commit');
  const { session, state, choose } = await killed(t, sample, [
    ...begun(runId, before),
    { type: 'review-began', review },
    { type: 'review-anew', runId: anew, rejected: ['h'] },
    { type: 'run-began', runId: anew },
  ]);
  t.match(pendingOf(state()), [{ kind: 'request_user_input' }], 'it is asked again');
  await choose('discard');
  t.match(lastNote(session), new RegExp(`run ${anew} has committed it without 1 rejected hunk`));
  t.equal(state().status, 'completed');
  t.equal(sample.git('rev-parse', 'main'), left.decision?.commitSha);
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
});

long('taking out hunks continues the run that a kill interrupted', async (t) => {
  const sample = sampleOf(t);
  const before = sample.git('rev-parse', 'main');
  const [runId, anew] = [uuidV7(Date.now()), uuidV7(Date.now())];
  const view = await heldRun(sample, runId, Buffer.concat([extra, fix]));
  const review = reviewOf(view, before);
  const cut = cutPatch(Buffer.from(`${sample.git('diff', before, review.commit)}\n`));
  const hunk = cut.find(({ path }) => path === 'src/extra.js')?.hunks[0]?.id ?? '';
  await interrupted(t, sample, anew);
  const said = { patchset: review.patchset, path: 'src/extra.js', hunk, verdict: 'reject' } as const;
  const { session, state, choose } = await killed(t, sample, [
    ...begun(runId, before),
    { type: 'review-began', review },
    { type: 'reviewed', id: 'v', review: said, by: { kind: 'tui' } },
    { type: 'review-anew', runId: anew, rejected: [hunk] },
    { type: 'run-began', runId: anew },
  ]);
  await choose('take-out');
  t.equal(state().status, 'completed', lastNote(session));
  t.match(sample.git('log', '-1', '--format=%B', 'main'), `Run-Id: ${anew}`, 'the same run, not another one');
  t.notMatch(sample.git('ls-tree', '--name-only', '-r', 'main'), 'src/extra.js');
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '');
});
