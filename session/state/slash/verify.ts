import type { SlashCommand } from './slash-command.ts';

/** A commit, a run or a branch by its name, or the beginning of an id: never a path. */
const named = /^[0-9A-Za-z][\w-]{2,99}$/;

export const verify: SlashCommand = {
  name: 'verify',
  form: '/verify [COMMIT|RUN]',
  says: 'checks a seal, offline; alone: of the last commit of the thread',
  read: (rest) => (rest === '' || named.test(rest) ? { kind: 'verify', target: rest } : undefined),
};
