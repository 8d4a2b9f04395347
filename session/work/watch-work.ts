import { readSteps } from '../../coder/tools/update-plan.ts';
import type { ToolCall } from '../../core/contract/model.ts';
import type { WorkWatch } from '../../engine/run/state/work-watch.ts';
import { envelopeChanges } from '../review/envelope-changes.ts';
import { announcing } from './announcing.ts';
import type { MadePlan } from './plan-step.ts';
import { replyPieces } from './reply-pieces.ts';
import type { TurnScope } from './turn-scope.ts';

/** Tells a session what the workers of its run do: replies as they come, steps, patches, Tasks. */
export function watchWork({ tell, newId, state }: TurnScope, plan: MadePlan): WorkWatch {
  // What is only looked at is told as well as it goes: nobody waits for it.
  const told = (report: Parameters<typeof tell>[0]): void => void tell(report).catch(() => undefined);
  const called = (call: ToolCall): void => {
    if (call.name === 'update_plan') toldSteps(call);
    if (call.name === 'apply_patch') toldPatch(call);
  };
  const toldSteps = (call: ToolCall): void => {
    const steps = readSteps(argumentOf(call, 'steps'));
    if (!('lines' in steps)) return;
    told({
      type: 'planned',
      plan: {
        id: `${plan.id}/model`,
        title: 'Steps of the model',
        status: 'running',
        steps: steps.lines.map((line, at) => ({ id: `${at + 1}`, ...line })),
      },
    });
  };
  const toldPatch = (call: ToolCall): void => {
    const changes = envelopeChanges(argumentOf(call, 'patch'));
    if (changes.length > 0)
      told({ type: 'patched', patchset: { id: `${plan.id}/${call.id}`, status: 'proposed', changes } });
  };
  return {
    // Tasks are worked side by side: each attempt speaks for itself.
    listen() {
      const reply = replyPieces(told, newId);
      const announced = announcing(told, newId);
      return (event) => {
        announced(event);
        reply.hear(event);
        if (event.type === 'call') called(event.call);
        else if (event.type === 'end') {
          const text = reply.text();
          if (text !== '') told({ type: 'replied', id: reply.id(), text: text.toWellFormed() });
          reply.next();
        }
      };
    },
    attempt({ task, attempt }, went) {
      const id = `${state().run ?? plan.run.runId}/${task}`;
      const status = went === 'began' ? 'running' : went === 'taken' ? 'completed' : 'pending';
      const details = `attempt ${attempt}${went === 'refused' ? ' was not accepted' : ''}`;
      told({ type: 'tasked', task: { id, title: task, status, details } });
      const of = went === 'began' ? 'in_progress' : went === 'taken' ? 'completed' : 'pending';
      for (const step of plan.steps)
        if (step.task === task) told({ type: 'stepped', plan: plan.id, step: step.id, status: of });
    },
  };
}

/** An argument of a call as the model wrote it; empty where it is none. */
function argumentOf({ arguments: given }: ToolCall, name: string): string {
  try {
    const value = (JSON.parse(given) as Readonly<Record<string, unknown>> | null)?.[name];
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
