import type { SlashCommand } from './slash-command.ts';

export const review: SlashCommand = {
  name: 'review',
  form: '/review [on|off]',
  says: 'on: a change is held until you have reviewed it, and only then on its branch; alone: asks again',
  read(rest) {
    if (rest === '') return { kind: 'review', text: '/review' };
    return rest === 'on' || rest === 'off' ? { kind: 'set', change: { review: rest } } : undefined;
  },
};
