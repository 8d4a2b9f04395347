import { WritError } from '../../../core/base/errors.ts';
import { maxObjectiveBytes } from '../goal.ts';
import { behindVerb } from './behind-verb.ts';
import type { SlashCommand } from './slash-command.ts';

export const goalStart: SlashCommand = {
  name: 'goal',
  form: '/goal start [OBJECTIVE]',
  says: 'works until the objective is verified; without one it goes on with a goal that is blocked',
  read: (rest) => {
    const objective = behindVerb('start', rest);
    if (objective === undefined) return undefined;
    const words =
      objective === ''
        ? ({ kind: 'go-on' } as const)
        : ({ kind: 'start', objective: bounded(objective) } as const);
    return { kind: 'goal', words };
  },
};

function bounded(objective: string): string {
  const size = Buffer.byteLength(objective);
  if (size <= maxObjectiveBytes) return objective;
  throw new WritError('INVALID_BODY', {
    message: `expected a goal of 1 to ${maxObjectiveBytes} octets, found ${size}`,
    detail: { found: size },
  });
}
