import stringWidth from 'string-width';

/** Columns of a terminal that text takes; it holds no control characters. */
export function cellsOf(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}
