import type { SlashCommand } from './slash-command.ts';

/** A run, or one of its tasks: `RUN/TASK`. */
const named = /^[0-9a-f][0-9a-f-]{3,35}(?:\/[A-Za-z0-9][\w.-]{0,63})?$/;

export const undo: SlashCommand = {
  name: 'undo',
  form: '/undo [RUN]',
  says: 'lists what taking back a run would touch, and takes it back by a run of its own; alone: the last one',
  read: (rest) => (rest === '' || named.test(rest) ? { kind: 'undo', text: rest } : undefined),
};
