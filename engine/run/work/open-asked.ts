import type { TaskOrder } from '../../../core/contract/worker.ts';
import type { OpenRun } from '../state/attempt.ts';
import type { WorkWatch } from '../state/work-watch.ts';
import { openAgentHost } from './agent/open-agent.ts';
import type { HandPlace } from './hands/hand-place.ts';
import type { AttemptTools } from './tools/tool-setting.ts';
import { type OpenTurns, openTurns, type TurnsTaken } from './turns/open-turns.ts';

/** The way of an attempt to the model that its worker names, or to the program that has one. */
export interface OpenAsked extends AsyncDisposable {
  readonly ways: Pick<TaskOrder, 'turns' | 'agent'>;
  taken(): TurnsTaken | undefined;
}

export async function openAsked(run: OpenRun, place: HandPlace, tools: AttemptTools): Promise<OpenAsked> {
  const { model } = run.means;
  if (model === undefined) return { ways: {}, taken: () => undefined, [Symbol.asyncDispose]: async () => {} };
  const { agent } = model;
  if (agent === undefined) {
    const turns = heardTurns(
      openTurns(run, model, { spend: tools.calls.spend, task: tools.task }),
      run.means.settings.watch,
    );
    return { ways: { turns }, taken: turns.taken, [Symbol.asyncDispose]: async () => {} };
  }
  const host = await openAgentHost(run, place, { ...model, agent }, tools);
  let closed: Promise<void> | undefined;
  return {
    ways: { agent: host },
    taken: host.taken,
    async [Symbol.asyncDispose]() {
      closed ??= host.close();
      await closed;
    },
  };
}

/** The same turns, overheard by whoever watches the run. */
function heardTurns(turns: OpenTurns, watch: WorkWatch | undefined): OpenTurns {
  if (watch === undefined) return turns;
  const heard = watch.listen();
  return {
    ...turns,
    take: (question, told) =>
      turns.take(question, (event) => {
        told?.(event);
        heard(event);
      }),
  };
}
