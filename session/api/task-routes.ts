import { WritError } from '../../core/base/errors.ts';
import type { Route } from '../../http/send-answer.ts';
import type { SessionChannel } from '../channel/open-channel.ts';
import type { Happened } from '../state/fact.ts';
import { readDispatch } from './read-body.ts';
import type { WriteDoor } from './write-door.ts';

/** What an agent said, as whoever dispatched it is told. */
export interface DispatchResult {
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly text: string;
}

/**
 * An automation has another agent answer a question; the answer is given when the turn has ended. The agent only reads.
 * AUTOMATION_CONTROLLER_REQUIRED, AGENT_UNKNOWN, CONTROLLER_CONFLICT where the session is busy, CODE_UI_UNAVAILABLE
 * where it is closed meanwhile.
 */
export function taskRoutes({ write }: WriteDoor, requireAgent: (name: string) => void): readonly Route[] {
  return [
    write(
      '/api/code/task/dispatch',
      async (channel, body, proof) => {
        const { agent, prompt } = readDispatch(body);
        requireAgent(agent);
        const ended = watchTurns(channel);
        try {
          const { turn } = await channel.send({ type: 'dispatch', agent, prompt, proof });
          return { accepted: true, result: await ended.of(turn ?? '') };
        } finally {
          ended.stop();
        }
      },
      { isForAutomation: true },
    ),
  ];
}

const statusOf = {
  done: 'completed',
  decided: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/** Looks on from before a turn begins: it may have ended before its beginning was told. */
function watchTurns(channel: SessionChannel) {
  const results = new Map<string, DispatchResult>();
  let wake: (() => void) | undefined;
  let turn = channel.state.turn;
  let text = '';
  const take = (fact: Happened): void => {
    if (fact.type === 'turn-began') [turn, text] = [fact.turn, ''];
    if (fact.type === 'replied') ({ text } = fact);
    if (fact.type !== 'turn-ended' || fact.turn !== turn) return;
    results.set(turn, { status: statusOf[fact.end], text: fact.reason ?? text });
    wake?.();
  };
  const stop = channel.subscribe((_state, facts) => facts.forEach(take));
  const { closed } = channel;
  closed.addEventListener('abort', () => wake?.(), { once: true });
  return {
    stop,
    async of(wanted: string): Promise<DispatchResult> {
      for (;;) {
        const result = results.get(wanted);
        if (result !== undefined) return result;
        if (closed.aborted)
          throw new WritError('CODE_UI_UNAVAILABLE', { message: 'the session was closed before its end' });
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
