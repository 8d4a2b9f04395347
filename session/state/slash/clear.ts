import type { SlashCommand } from './slash-command.ts';

export const clear: SlashCommand = {
  name: 'clear',
  form: '/clear',
  says: 'restarts the conversation in this thread; spec, plans and decisions stay',
  read: (rest) => (rest === '' ? { kind: 'cut', how: 'clear' } : undefined),
};
