import type { SlashCommand } from './slash-command.ts';

/** As ids of models go: `gemini-2.5-pro`, `org/name:8b`. */
const id = /^[\w@][\w.:@/+-]{0,199}$/;

export const model: SlashCommand = {
  name: 'model',
  form: '/model NAME',
  says: 'another model of the same provider from the next turn on',
  read: (rest) => (id.test(rest) ? { kind: 'set', change: { model: rest } } : undefined),
};
