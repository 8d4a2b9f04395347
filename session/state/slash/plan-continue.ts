import { WritError } from '../../../core/base/errors.ts';
import { repairs } from '../work.ts';
import type { SlashCommand } from './slash-command.ts';

export const planContinue: SlashCommand = {
  name: 'plan',
  form: '/plan continue [N]',
  says: `executes the plan of a run that failed too often, with N (1 to ${repairs.cap}) up to that many repairs by itself`,
  read(rest) {
    const [found, more] = /^continue(?:\s+([0-9]{1,4}))?$/.exec(rest) ?? [];
    if (found === undefined) return undefined;
    if (more === undefined) return { kind: 'plan-continue' };
    const limit = Number(more);
    if (limit >= 1 && limit <= repairs.cap) return { kind: 'plan-continue', limit };
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `expected 1 to ${repairs.cap} repairs, found ${more}`,
      detail: { expected: [1, repairs.cap], found: limit },
    });
  },
};
