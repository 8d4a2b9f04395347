import { canonicalize } from '../../core/base/canonical.ts';
import { toRfc3339 } from '../../core/base/clock.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { PlanDraft } from '../../core/interfaces/plan.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { type SealOptions, sealObject } from '../../store/stored-object.ts';
import type { Attempt } from '../state/open-run.ts';
import { attemptDecision, attemptIdOf } from './attempt-files.ts';
import type { DecidedTask } from './decision-input.ts';
import { type EvaluatedRun, evaluationFiles, evaluationObjects } from './evaluation-objects.ts';
import { eventFiles } from './event-objects.ts';
import { planIdOf, taskIdOf } from './plan-objects.ts';
import { runBody } from './record-files.ts';

/**
 * Records a merged candidate that will be retried, below `name`: the candidate, the findings, which Tasks were chosen
 * and why, and one event per Task that is sent back.
 */
export async function keepReturned(
  attempt: Attempt,
  judged: EvaluatedRun,
  name: string,
  draft: PlanDraft,
): Promise<void> {
  await attempt.services.steps.once('handed-back', async () => {
    const nowMs = attempt.services.settings.clock.now();
    await attempt.services.record.put(filesOf(attempt, judged, { name, draft, nowMs }));
  });
}

function filesOf(
  attempt: Attempt,
  judged: EvaluatedRun,
  { name, draft, nowMs }: { readonly name: string; readonly draft: PlanDraft; readonly nowMs: number },
): readonly [string, Uint8Array][] {
  const { identity } = attempt;
  const { contract, runId, threadId, startedAtMs } = identity;
  const { decision, input, stages, findings } = judged;
  const spec = contract.effective;
  const run = attemptIdOf(attempt, name);
  const options = (what: string): SealOptions => ({
    nowMs,
    createdBy: schedulerOf(spec),
    objectId: what === '' ? run : uuidV7From(startedAtMs, `${run}/${what}`),
  });
  const taskOf = ({ id }: DecidedTask): string =>
    taskIdOf(identity, draft.revision, draft.tasks.find(({ key }) => key === id)?.number ?? 0);
  const sentBack: readonly DecidedTask[] = input.blame?.tasks.length
    ? input.blame.tasks
    : input.task
      ? [input.task]
      : [];
  const [first] = sentBack;
  const task = first ? taskOf(first) : taskIdOf(identity, draft.revision, 1);
  const plan = planIdOf(identity, draft.revision);
  const judgement = evaluationObjects(attempt, findings, stages, {
    run,
    content: `${attempt.name}/`,
    nowMs,
    applyStatus: 'Proposed',
  });
  const files: [string, Uint8Array][] = [
    [
      'run.json',
      sealObject(
        'run',
        {
          ...runBody(attempt, judged, { intent: threadId, plan, task }),
          attempt: judged.attempts,
          attempt_of: runId,
          finished_at: toRfc3339(nowMs),
          outcome: decision.next,
          metrics: judged.metrics,
        },
        { ...options(''), tags: { ...spec.metadata.target.labels } },
      ).bytes,
    ],
    ...evaluationFiles(judgement),
    ['decision-input.json', Buffer.from(`${canonicalize(input)}\n`)],
    ['decision-record.json', Buffer.from(`${canonicalize(decision)}\n`)],
    [
      'decision.json',
      attemptDecision(
        attempt,
        judged,
        judgement,
        { run, task, attempt: judged.attempts },
        options('decision'),
      ),
    ],
    ...sentBack.map((one, index): [string, Uint8Array] => {
      const path = `sent-back/${String(index + 1).padStart(4, '0')}.json`;
      const body = {
        task: taskOf(one),
        run,
        kind: 'retried',
        attempt: one.attempt,
        reason: decision.rationale,
      } as const;
      return [path, sealObject('task_event', body, options(path)).bytes];
    }),
    ...eventFiles(attempt, { run, startedAtMs, decidedAtMs: nowMs, stages, outcome: decision }),
  ];
  return files.map(([path, bytes]) => [`${name}/${path}`, bytes]);
}
