import type { SlashCommand } from './slash-command.ts';

export const ask: SlashCommand = {
  name: 'ask',
  form: '/ask TEXT',
  says: 'is answered, and changes nothing',
  read: (text) => (text === '' ? undefined : { kind: 'ask', text }),
};
