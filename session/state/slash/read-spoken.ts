import { WritError } from '../../../core/base/errors.ts';
import { shell } from './shell.ts';
import { slashCommands } from './slash-commands.ts';
import type { Spoken } from './spoken.ts';

/** Reads a message. UNSUPPORTED_OPERATION for a command that there is not: it is never sent to a model as words. */
export function readSpoken(text: string): Spoken {
  const trimmed = text.trim();
  // What other screens have taught: `!` is a command of one's own.
  const typed = trimmed.startsWith('!') ? `/${shell.name} ${trimmed.slice(1).trim()}` : trimmed;
  if (!typed.startsWith('/')) return { kind: 'plain', text };
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(typed) ?? [];
  for (const command of slashCommands) {
    const spoken = command.name === name ? command.read(rest) : undefined;
    if (spoken !== undefined) return spoken;
  }
  const forms = slashCommands.filter((one) => one.name === name).map(({ form }) => form);
  const commands = slashCommands.map(({ form }) => form);
  throw new WritError('UNSUPPORTED_OPERATION', {
    message:
      forms.length > 0
        ? `expected \`${forms.join('` or `')}\`, found \`${trimmed.slice(0, 60)}\``
        : `there is no command \`/${name.slice(0, 40)}\`; there is ${commands.join(', ')}`,
    detail: { commands, ...(forms.length > 0 ? {} : { unknown: name.slice(0, 40) }) },
    ...(forms.length > 0
      ? {}
      : { hints: ['a message that begins with `/` or `!` and is no command: put a word before it'] }),
  });
}
