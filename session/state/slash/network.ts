import type { SlashCommand } from './slash-command.ts';

export const network: SlashCommand = {
  name: 'network',
  form: '/network allow|deny',
  says: 'what plans are proposed with from now on',
  read: (rest) =>
    rest === 'allow' || rest === 'deny' ? { kind: 'set', change: { networkAccess: rest } } : undefined,
};
