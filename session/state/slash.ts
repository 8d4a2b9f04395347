import { WritError } from '../../core/base/errors.ts';
import { repairs } from './work.ts';

/** What a message is to a session: words for a model, or a command of its own (document 2, What the service does). */
export type Spoken =
  | { readonly kind: 'plain'; readonly text: string }
  /** A question that is answered and changes nothing. */
  | { readonly kind: 'ask'; readonly text: string }
  /** Goes on with a plan that failed; with another limit of repairs where one is named. */
  | { readonly kind: 'plan-continue'; readonly limit?: number };

const commands = ['/ask TEXT', '/plan continue [N]'];

/** Reads a message. UNSUPPORTED_OPERATION for a command that there is not: it is never sent to a model as words. */
export function readSpoken(text: string): Spoken {
  const trimmed = text.trim();
  if (!trimmed.startsWith('/')) return { kind: 'plain', text };
  const [, name = '', rest = ''] = /^\/(\S*)\s*(.*)$/s.exec(trimmed) ?? [];
  if (name === 'ask' && rest !== '') return { kind: 'ask', text: rest };
  const [, more] = name === 'plan' ? (/^continue(?:\s+([0-9]{1,4}))?$/.exec(rest) ?? []) : [];
  if (name === 'plan' && /^continue(?:\s+[0-9]{1,4})?$/.test(rest)) {
    if (more === undefined) return { kind: 'plan-continue' };
    const limit = Number(more);
    if (limit >= 1 && limit <= repairs.cap) return { kind: 'plan-continue', limit };
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `expected 1 to ${repairs.cap} repairs, found ${more}`,
      detail: { expected: [1, repairs.cap], found: limit },
    });
  }
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `there is no command \`/${name.slice(0, 40)}\` of that form; there is ${commands.join(', ')}`,
    detail: { commands },
    hints: ['a message that begins with a slash and is no command: put a word before it'],
  });
}
