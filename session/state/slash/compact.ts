import type { SlashCommand } from './slash-command.ts';

export const compact: SlashCommand = {
  name: 'compact',
  form: '/compact',
  says: 'shortens what a model is sent of older turns and tool results',
  read: (rest) => (rest === '' ? { kind: 'cut', how: 'compact' } : undefined),
};
