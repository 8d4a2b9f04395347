import stringWidth from 'string-width';
import { commonText } from './common-text.ts';

/** Columns of a terminal that text takes; it holds no control characters. */
export function cellsOf(text: string): number {
  return commonText.test(text) ? text.length : stringWidth(text);
}
