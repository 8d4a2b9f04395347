import type { Line } from '../../screen/line.ts';
import { seenText } from './seen-text.ts';
import { type Theme, withWords } from './theme.ts';

/** A line for a terminal, without its end. Nothing of it changes how later text looks. */
export function encodeLine(line: Line, theme: Theme): string {
  let look = '';
  let encoded = '';
  for (const { text, tone } of withWords(line, theme)) {
    const seen = seenText(text);
    if (seen === '') continue;
    encoded += changeLook(look, theme.look[tone]) + seen;
    look = theme.look[tone];
  }
  return encoded + changeLook(look, '');
}

/** From one look to another, in as few octets as that takes. */
export function changeLook(from: string, to: string): string {
  if (from === to) return '';
  if (to === '') return '\x1b[m';
  return from === '' ? `\x1b[${to}m` : `\x1b[;${to}m`;
}
