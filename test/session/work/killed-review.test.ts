import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { userJournalWitness } from '../../../attest/signer/user-journal-witness.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { uuidV7 } from '../../../core/base/ids.ts';
import type { Fact } from '../../../session/state/fact.ts';
import { openThread, threadDirectory } from '../../../session/thread/open-thread.ts';
import { deafForMs } from '../../../session/tui/card.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { noPty, openTerminalScene } from '../tui/open-terminal-scene.ts';
import { type Kill, killingGit } from './killing-git.ts';

/** The key of each answer. */
const keys = { keep: '1', discard: '3' } as const;
type Choice = keyof typeof keys;

const fix = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));

/** A thread, on disk, whose change is held and not yet reviewed; and `writ code` itself to go on with it. */
async function heldThread(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  const before = sample.git('rev-parse', 'main');
  const [runId, threadId] = [uuidV7(Date.now()), uuidV7(Date.now())];
  const branch = `refs/heads/writ/review-${runId}`;
  const view = await sample.run({
    source: { kind: 'patch', bytes: fix },
    runId,
    onto: branch.slice('refs/heads/'.length),
    heldFor: 'refs/heads/main',
  });
  const commit = view.decision?.commitSha ?? '';
  const run = { runId, branch, target: { ref: 'refs/heads/main', expected: before }, plan: 'plan' };
  const patchset = view.patch?.digest ?? '';
  const facts: readonly Fact[] = [
    {
      type: 'opened',
      ground: ground({ threadId, workingDir: sample.root, provider: { provider: 'gemini', managed: false } }),
    },
    { type: 'set', settings: { context: 'dev', networkAccess: 'deny', review: 'on' } },
    { type: 'turn-began', turn: 'turn' },
    { type: 'run-began', runId, held: run },
    { type: 'review-began', review: { ...run, commit, patchset, summary: 'Prices are exact' } },
  ];
  const place = threadDirectory(await openRepository(sample.root), threadId);
  {
    const witness = userJournalWitness(sample.env);
    await using thread = await openThread(place, threadId, { clock: systemClock, witness });
    await thread.append(facts.map((fact) => ({ ...fact, atMs: systemClock.now() })));
  }
  const killer = killingGit(sample);
  const journal = (): string => readFileSync(join(place, 'journal.jsonl'), 'utf8');
  const ends = (): readonly string[] =>
    [...journal().matchAll(/"type":"review-ended","end":"([a-z-]+)"/g)].map(([, end = '']) => end);
  return {
    sample,
    before,
    commit,
    killer,
    journal,
    ends,
    /** Goes on with it in a process of its own, up to the question what becomes of the change. */
    async start() {
      const scene = openTerminalScene({
        program: process.execPath,
        args: [
          ...launcherOptions,
          writProgram,
          'code',
          '--port',
          '0',
          '--mcp-port',
          '0',
          '--resume',
          threadId,
        ],
        cwd: sample.root,
        env: { ...sample.env, GEMINI_API_KEY: 'key-of-nobody-1234567890', PATH: killer.path },
        columns: 100,
        rows: 30,
      });
      await scene.until('Take out what is rejected');
      await instant(deafForMs + 50);
      return scene;
    },
    over: () => until(() => ends().length > 0, 'the end of the review', journal),
  };
}

/**
 * One kill between an answer and its end, and an answer to whoever asks again. False where it had ended before anything
 * was killed.
 */
async function killOnce(t: Test, choice: Choice, kill: Kill, then = choice): Promise<boolean> {
  const { sample, before, commit, killer, start, ends, over } = await heldThread(t);
  {
    await using scene = await start();
    killer.arm(scene.pid, kill);
    scene.type(keys[choice]);
    await Promise.race([scene.exited, over()]);
    if (killer.killedAt() === undefined) return false;
    await scene.exited;
  }
  const what = `${choice}, killed before git ${kill.starts} (${killer.killedAt()?.slice(0, 60)}), ${then}`;
  const isKept = sample.git('rev-parse', 'main') === commit || then === 'keep';
  if (ends().length === 0) {
    await using scene = await start();
    scene.type(keys[then]);
    await over();
  }
  t.equal(sample.git('rev-parse', 'main'), isKept ? commit : before, what);
  t.equal(sample.git('status', '--porcelain'), '', `${what}: the files follow`);
  t.equal(sample.git('for-each-ref', 'refs/heads/writ'), '', `${what}: the branch that held it is gone`);
  t.strictSame(ends(), [isKept ? 'kept' : 'discarded'], `${what}: it ends once, and as it is`);
  return true;
}

const skip = noPty;

/** What git is about to do when it kills. */
const kills: Readonly<Record<string, readonly [choice: Choice, kill: Kill, then?: Choice]>> = {
  'before the branch moves': ['keep', { words: 'update-ref', starts: 1 }],
  'before the files follow it': ['keep', { words: 'read-tree -m', starts: 1 }],
  'before the files follow it, and another answer': ['keep', { words: 'read-tree -m', starts: 1 }, 'discard'],
  'before the branch that held it goes': ['keep', { words: 'update-ref', starts: 2 }],
  'while it is discarded': ['discard', { words: 'update-ref', starts: 1 }],
};

long(
  '`kill -9` between the answer of a review and its end loses neither commit nor files',
  { skip },
  async (t) => {
    for (const [name, [choice, kill, then]] of Object.entries(kills))
      t.ok(await killOnce(t, choice, kill, then), name);
  },
);
