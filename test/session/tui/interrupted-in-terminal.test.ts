import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { acquireRunLock, journalPath, runDirectory } from '../../../store/run-directory.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { casesOf, long } from '../../rooms/long.ts';
import { answer, type KilledRun, type Moment, openKilledRun } from './killed-run.ts';
import { noPty, type TerminalScene } from './open-terminal-scene.ts';

const [asks, finishes] = ['Go on with the run, or drop it?', 'Finish the run?'];
const skip = noPty;
const gates: Moment = { words: 'pack-objects', starts: 2 };

/** What holds once the run is committed in the conversation. */
async function committed(t: Test, killed: KilledRun, scene: TerminalScene): Promise<void> {
  await scene.until('Committed: ');
  await scene.until('done');
  // The reply that the kill cut off was asked for again, and is counted once.
  await scene.until(/ 600 tok/);
  t.equal(killed.commits(), 1);
  t.equal(killed.sample.git('status', '--porcelain'), '', 'the files follow');
  t.strictSame(killed.outcomes(), ['commit']);
}

async function quit(t: Test, scene: TerminalScene): Promise<void> {
  scene.press('ctrl+d');
  t.equal((await scene.exited).exitCode, 0);
}

function say(scene: TerminalScene, text: string): void {
  scene.type(text);
  scene.press('enter');
}

/** Puts the question off. */
async function later(scene: TerminalScene): Promise<void> {
  await answer(scene, '');
  scene.press('escape');
  await scene.until('`/plan continue` goes on with it');
}

/** When it is killed, and the question of the next start. */
const kills: Readonly<Record<string, readonly [moment: Moment, question: string]>> = {
  'before the run begins': [{ words: 'rev-parse', starts: 1 }, asks],
  'before the run is on disk': [{ words: 'rev-list --first-parent', starts: 1 }, asks],
  'during the gates': [gates, asks],
  'before the branch moves': [{ words: 'writ: run', starts: 1 }, finishes],
  'between branch and files': [{ words: 'read-tree -m', starts: 1 }, finishes],
};

for (const [name, [moment, question]] of casesOf(kills, ['during the gates']))
  t.test(`a run killed ${name} goes on in the conversation up to one commit`, { skip }, async (t) => {
    await using killed = await openKilledRun(moment);
    await using scene = killed.start('--continue');
    await scene.until(question);
    await scene.until(/The run was interrupted/);
    await answer(scene, '1');
    await committed(t, killed, scene);
    t.ok(killed.journal().includes(`${question} → Go on`));
    await quit(t, scene);
  });

long(
  'a run finished in the shell is recorded once, at the next start or at `/status`',
  { skip },
  async (t) => {
    await using killed = await openKilledRun(gates);
    {
      await using scene = killed.start('--continue');
      await scene.until(asks);
      await later(scene);
      killed.writ('resume', killed.run());
      t.strictSame(killed.outcomes(), []);
      say(scene, '/status');
      await scene.until('Committed: ');
      t.strictSame(killed.outcomes(), ['commit']);
      await quit(t, scene);
    }
    await using scene = killed.start('--continue');
    await scene.until('Committed: ');
    await scene.until('you steer');
    t.equal(killed.asked(), 1);
    say(scene, '/status');
    await scene.until('steered by');
    await quit(t, scene);
    t.strictSame(killed.outcomes(), ['commit']);
  },
);

long('the question that was put off is answered by `/plan continue`', { skip }, async (t) => {
  await using killed = await openKilledRun('model');
  await using scene = killed.start('--continue');
  await scene.until(asks);
  await later(scene);
  say(scene, '/plan continue');
  await committed(t, killed, scene);
  say(scene, '/plan continue');
  await scene.until('there is no plan to continue');
});

long('a dropped run ends as `writ cancel` ends it, and is not asked about again', { skip }, async (t) => {
  await using killed = await openKilledRun(gates);
  {
    await using scene = killed.start('--continue');
    await scene.until(asks);
    await answer(scene, '2');
    await scene.until('Refused: guard refused by `cancelled`');
    await quit(t, scene);
  }
  t.equal(killed.commits(), 0);
  t.equal(killed.sample.git('status', '--porcelain'), '');
  const repository = await openRepository(killed.sample.root);
  t.match(readFileSync(journalPath(repository, killed.run()), 'utf8'), 'dropped in `writ code`');
  t.strictSame(killed.outcomes(), ['abandon']);
  await using scene = killed.start('--continue');
  await scene.until('you steer');
  await scene.until('Refused: guard refused by `cancelled`');
  t.equal(killed.asked(), 1);
  await quit(t, scene);
});

long('a run that another process works on is left to it', { skip }, async (t) => {
  await using killed = await openKilledRun(gates);
  const directory = runDirectory(await openRepository(killed.sample.root), killed.run());
  const lock = await acquireRunLock(directory);
  await using scene = killed.start('--continue');
  await scene.until('another process works on run');
  say(scene, '/plan continue');
  await scene.until((screen) => screen.split('another process works on run').length === 3);
  t.strictSame(killed.outcomes(), []);
  await lock.release();
  say(scene, '/plan continue');
  await committed(t, killed, scene);
  await quit(t, scene);
});

long('without a person the run is named, and how it goes on', { skip }, async (t) => {
  await using killed = await openKilledRun(gates);
  const print = ['--continue', '--print', 'What is next?'];
  const refused = killed.writ('code', ...print);
  t.equal(refused.status, 4);
  const told = refused.stderr.toString();
  for (const words of ['Go on with the run', `writ resume ${killed.run()}`, `writ cancel ${killed.run()}`])
    t.match(told, words);
  killed.writ('resume', killed.run());
  await using scene = killed.start(...print);
  t.equal((await scene.exited).exitCode, 0);
  t.strictSame(killed.outcomes(), ['commit']);
});

long('a change under review is still reviewed after a kill of its run', { skip }, async (t) => {
  await using killed = await openKilledRun(gates, { first: ['/review on'] });
  await using scene = killed.start('--continue');
  await scene.until(asks);
  await answer(scene, '1');
  await scene.until('Take out what is rejected');
  t.equal(killed.commits(), 0);
  await answer(scene, '1');
  await scene.until('Committed: ');
  t.equal(killed.commits(), 1);
  await quit(t, scene);
});

long('a yes to a plan does not hold for files that changed before its run began', { skip }, async (t) => {
  const moment = { words: 'rev-list --first-parent', starts: 1 };
  await using killed = await openKilledRun(moment, { isReplanned: true });
  appendFileSync(join(killed.sample.root, 'README.md'), 'mine\n');
  await using scene = killed.start('--continue');
  await scene.until(asks);
  await answer(scene, '1');
  await scene.until('Execute plan');
  t.equal(killed.commits(), 0);
});
