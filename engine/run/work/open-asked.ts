import type { TaskOrder } from '../../../core/contract/worker.ts';
import type { OpenRun } from '../state/attempt.ts';
import { openAgentHost } from './agent/open-agent.ts';
import type { HandPlace } from './hands/hand-place.ts';
import type { AttemptTools } from './tools/tool-setting.ts';
import { openTurns, type TurnsTaken } from './turns/open-turns.ts';

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
    const turns = openTurns(run, model, tools.calls.spend);
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
