import { unseen } from '../../core/base/printable.ts';

/**
 * Text of somebody else as a person may be shown it before he allows it: secrets masked while it is whole, then every
 * control, bidirectional and invisible character written out, then cut to so many characters, which says so.
 */
export function visibleText(text: string, mask: (text: string) => string, most: number): string {
  const shown = mask(text).replaceAll(unseen, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
  const letters = [...shown.slice(0, 2 * most + 2)];
  return letters.length <= most ? shown : `${letters.slice(0, most - 1).join('')}…`;
}
