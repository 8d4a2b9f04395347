import { sessionContexts } from '../settings/session-contexts.ts';
import type { SlashCommand } from './slash-command.ts';

export const context: SlashCommand = {
  name: 'context',
  form: '/context dev|review|research',
  says: 'what the session is for: only in dev anything is changed',
  read(rest) {
    const found = Object.hasOwn(sessionContexts, rest) ? sessionContexts[rest] : undefined;
    return found === undefined ? undefined : { kind: 'set', change: { context: found } };
  },
};
