import { behindVerb } from './behind-verb.ts';
import type { SlashCommand } from './slash-command.ts';

export const goalCancel: SlashCommand = {
  name: 'goal',
  form: '/goal cancel [REASON]',
  says: 'gives the goal up, and stops its turn',
  read: (rest) => {
    const reason = behindVerb('cancel', rest);
    if (reason === undefined) return undefined;
    return { kind: 'goal', words: { kind: 'cancel', ...(reason === '' ? {} : { reason }) } };
  },
};
