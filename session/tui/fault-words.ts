import { isWritError, messageOf } from '../../core/base/errors.ts';
import { visible } from '../screen/visible.ts';

/** Why something was not done, for whoever wanted it: in words, what to do where somebody knows, and the code last. */
export function faultWords(fault: unknown): string {
  if (!isWritError(fault)) return visible(messageOf(fault));
  const { code, message, hints, detail } = fault;
  if (detail.reason === 'lease_held')
    return visible(`${detail.kind ?? 'somebody else'} steers the session: Ctrl+T takes it back`);
  if (typeof detail.unknown === 'string')
    return visible(`there is no command \`/${detail.unknown}\`: /help lists them; or put a word before it`);
  const [hint] = hints;
  return visible(`${message}${hint === undefined ? '' : `; ${hint}`} (${code})`);
}
