const punctuation = [
  '===',
  '!==',
  '...',
  '=>',
  '->',
  '::',
  '?.',
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '??',
  '=~',
  '**',
];
/** Second characters of `punctuation`. */
const mayPair = /[=>:.&|?~*]/;

/** The operator or bracket at an offset, the longest that there is. */
export function markAt(text: string, at: number): string {
  const pair = mayPair.test(text[at + 1] ?? '')
    ? punctuation.find((one) => text.startsWith(one, at))
    : undefined;
  return pair ?? text[at] ?? '';
}
