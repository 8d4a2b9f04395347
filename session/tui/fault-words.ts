import { isWritError, messageOf } from '../../core/base/errors.ts';
import { visible } from '../screen/visible.ts';

/** Why something was not done, for whoever wanted it: in words, and what to do where somebody knows. */
export function faultWords(fault: unknown): string {
  if (!isWritError(fault)) return visible(messageOf(fault));
  const { code, message, hints, detail } = fault;
  if (detail.reason === 'lease_held')
    return visible(`${detail.kind ?? 'somebody else'} steers the session: Ctrl+T takes it back`);
  const [hint] = hints;
  return visible(`${code}: ${message}${hint === undefined ? '' : `; ${hint}`}`);
}
