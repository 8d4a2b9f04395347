import { WritError } from '../../../core/base/errors.ts';
import type { SlashCommand } from './slash-command.ts';

/** Characters of a command. */
const most = 8000;

export const shell: SlashCommand = {
  name: 'shell',
  form: '/shell COMMAND',
  says: 'runs a command of yours on a copy of the work tree; or `!COMMAND`',
  read(command) {
    if (command === '') return undefined;
    if (command.length <= most && !command.includes('\0')) return { kind: 'shell', command };
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `expected a command of at most ${most} characters and without NUL, found ${command.length}`,
      detail: { expected: most, found: command.length },
    });
  },
};
