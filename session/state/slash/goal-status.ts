import type { SlashCommand } from './slash-command.ts';

export const goalStatus: SlashCommand = {
  name: 'goal',
  form: '/goal status',
  says: 'how far the goal is, and what it used',
  read: (rest) => (rest === 'status' ? { kind: 'goal', words: { kind: 'status' } } : undefined),
};
