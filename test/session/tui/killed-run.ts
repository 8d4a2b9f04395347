import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deafForMs } from '../../../session/tui/card.ts';
import { makesFix, priceDraft, submits } from '../../agent/planner/drafts.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { runProgram } from '../../starter/run-program.ts';
import { instant } from '../../waiting/instant.ts';
import { type Kill, killingGit } from '../work/killing-git.ts';
import { openCodeScene } from './open-code-scene.ts';
import type { TerminalScene } from './open-terminal-scene.ts';

const plans: ScriptedReply = {
  calls: [['submit_plan_draft', { tasks: [{ key: 'task-1', steps: ['take the cent away'] }] }]],
};

/** Git kills before it starts, or the model when it is asked for its third reply, the first of the run. */
export type Moment = Kill | 'model';

/** Presses a key once the question could be read. */
export async function answer(scene: TerminalScene, key: string): Promise<void> {
  await instant(deafForMs + 50);
  scene.type(key);
}

/** `writ code` with a run of a plan that was killed at this moment. */
export type KilledRun = Awaited<ReturnType<typeof openKilledRun>>;

/** `first`: lines that are said before the work; `isReplanned`: the model plans twice. */
export async function openKilledRun(
  moment: Moment,
  { first = [] as readonly string[], isReplanned = false } = {},
) {
  const script = [submits(priceDraft), plans, ...(isReplanned ? [plans] : []), ...makesFix];
  let next = 0;
  let kill = (): boolean => false;
  const code = await openCodeScene(() => {
    if (next === 2 && kill()) return { text: 'nobody hears it' };
    next += 1;
    return script[next - 1] ?? { text: 'The script is over.' };
  });
  const { sample, key } = code;
  const base = sample.git('rev-parse', 'main');
  const killer = killingGit(sample);
  {
    await using scene = code.startIn({ ...key, PATH: killer.path });
    await scene.until('? for help');
    for (const line of first) {
      scene.type(line);
      scene.press('enter');
      await scene.until(`> ${line}`);
      await scene.until('ready');
    }
    scene.type('A price is one cent too high: make it exact.');
    scene.press('enter');
    await scene.until('number or letter chooses');
    await answer(scene, 'y');
    await scene.until('Execute plan');
    if (moment === 'model')
      kill = () => {
        kill = () => false;
        process.kill(scene.pid, 'SIGKILL');
        return true;
      };
    else killer.arm(scene.pid, moment);
    await answer(scene, 'e');
    await scene.exited;
  }
  const [thread = ''] = globSync(join(sample.root, '.git/writ/threads/*/journal.jsonl'));
  const journal = (): string => readFileSync(thread, 'utf8');
  return {
    ...code,
    journal,
    run: () => [...journal().matchAll(/"type":"run-began","runId":"([^"]+)"/g)].at(-1)?.[1] ?? '',
    /** Outcomes that the conversation has recorded, by decision. */
    outcomes: (): readonly string[] =>
      [...journal().matchAll(/"outcome":\{"runId":"[^"]+","decision":"([a-z]+)"/g)].map(
        ([, one = '']) => one,
      ),
    /** How often the conversation asked about it. */
    asked: () => journal().split('"subject":"stopped ').length - 1,
    /** Commits of the branch since the sample. */
    commits: () => Number(sample.git('rev-list', '--count', `${base}..main`)),
    writ: (...args: readonly string[]) =>
      runProgram(process.execPath, [...launcherOptions, writProgram, ...args], {
        cwd: sample.root,
        env: { ...sample.env, ...key, HOME: join(sample.root, '..', 'home') },
      }),
  };
}
