import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import type { SessionSetting } from '../../../session/open-session.ts';
import type { Snapshot } from '../../../session/state/snapshot.ts';
import { answeringModel } from '../../agent/scripted-model.ts';
import { type Json, makeSample, type Sample } from '../../engine/sample.ts';
import { until } from '../../waiting/until.ts';
import { ground } from '../state/walk.ts';
import { settingOf } from '../work/scripted-session.ts';
import type { Door, Refusal } from './doors/door.ts';
import { modelOf, type ScriptStep, type SessionScript } from './session-script.ts';
import { differences, normalised, shown } from './shown.ts';

/** Attempts of a run and of a model wait for one another; a lease and a timeout keep their time. */
const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms > 60_000 ? ms : Math.min(ms, 5), signal),
};

const settled: ReadonlySet<string> = new Set(['idle', 'completed', 'error', 'awaiting_interaction']);

/**
 * Plays a script through a door, and answers with what clients see after each step, without ids and times. Every
 * difference from what the script expects fails the test.
 */
export async function playScript(
  t: Test,
  script: SessionScript,
  open: (setting: SessionSetting, sample: Sample) => Promise<Door>,
): Promise<readonly Json[]> {
  const {
    context = 'dev',
    policy = 'on-request',
    network = 'deny',
    isHasty = false,
    goalTokens = 100_000,
    steps,
    ends = {},
  } = script;
  const sample = makeSample();
  await using model = await answeringModel(modelOf(script));
  const setting = await settingOf(sample, model, {
    clock: isHasty ? hasty : systemClock,
    approval: { policy, ttlSeconds: 300, grants: keepGrants(systemClock), mask: (text) => text },
    ground: {
      ...ground({ context, local: 'none', networkAccess: network }),
      workingDir: sample.root,
      goalBudget: { tokens: goalTokens, costUsd: 1, workMs: 600_000 },
    },
  });
  await using _engine = setting.engine;
  await using door = await open(setting, sample);
  const seen: Json[] = [];
  for (const [index, step] of steps.entries()) {
    const refusal = await act(door, sample, step);
    const name = `step ${index + 1}, ${Object.entries(step)[0]?.join(' ')}`;
    if (!t.equal(refusal?.code, step.refused, `${name}: ${refusal?.message ?? 'accepted'}`)) return seen;
    const snapshot = await settle(door, sample.root, step.then ?? {});
    if (!t.strictSame(differences(shown(snapshot), step.then ?? {}), [], name)) return seen;
    seen.push({ refusal: (refusal ?? null) as Json, snapshot: snapshot as unknown as Json });
  }
  const asked = model.asked.map(({ body }) => JSON.stringify(body));
  if (ends.asked !== undefined) t.equal(asked.length, ends.asked, 'how often the model was asked');
  for (const words of ends.heard ?? [])
    t.ok(
      asked.some((text) => text.includes(words)),
      words,
    );
  const subject = sample.git('log', '-1', '--format=%s');
  if (ends.commit !== undefined) t.match(subject, ends.commit, 'the last commit');
  sample.remove();
  return seen;
}

async function act(door: Door, sample: Sample, step: ScriptStep): Promise<Refusal | undefined> {
  const { by = 'bot' } = step;
  if ('attach' in step) return door.attach(step.attach, step.kind ?? 'automation');
  if ('detach' in step) return door.detach(step.detach);
  if ('say' in step) return door.say(by, step.say, step.commandId);
  if ('cancel' in step) return door.cancel(by);
  if ('goal' in step) return door.goal(by, step.goal, step.criteria ?? []);
  if ('giveUp' in step) return door.giveUp(by, step.giveUp);
  if ('change' in step) {
    writeFileSync(join(sample.root, step.change), step.to);
    return undefined;
  }
  const { interactions } = await door.snapshot();
  const isOver = step.isOver ?? false;
  const asked = interactions.findLast(
    ({ kind, status }) => kind === step.answer && (status === 'pending') !== isOver,
  );
  if (asked === undefined) throw new Error(`there is no \`${step.answer}\` to answer`);
  return door.answer(by, asked.id, step.given);
}

/** The snapshot once it has the status that is expected, or another one in which it stays. */
async function settle(
  door: Door,
  root: string,
  { status, toolCalls }: NonNullable<ScriptStep['then']>,
): Promise<Snapshot> {
  let snapshot = normalised(await door.snapshot(), root);
  let updatedAt = '';
  await until(
    async () => {
      const now = await door.snapshot();
      ({ updatedAt } = now);
      snapshot = normalised(now, root);
      if (settled.has(snapshot.status)) return true;
      if (toolCalls !== undefined)
        return differences(shown(snapshot), { status, toolCalls } as Json).length === 0;
      return snapshot.status === status;
    },
    `the status ${JSON.stringify(status)}, which is ${snapshot.status}`,
    () => updatedAt,
  );
  return snapshot;
}
