/** Order of two runs of decimal digits of any length. */
export function compareDigits(left: string, right: string): number {
  const a = left.replace(/^0+(?=\d)/, '');
  const b = right.replace(/^0+(?=\d)/, '');
  return a.length - b.length || compareText(a, b);
}

/** Order by code units. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
