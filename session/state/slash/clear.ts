import type { SlashCommand } from './slash-command.ts';

export const clear: SlashCommand = {
  name: 'clear',
  form: '/clear',
  says: 'starts the conversation anew in this thread; spec, plans and decisions stay',
  read: (rest) => (rest === '' ? { kind: 'cut', how: 'clear' } : undefined),
};
