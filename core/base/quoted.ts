/** Input as it may stand in a message or on a terminal: in backticks, no control characters, at most 80 characters. */
export function quoted(input: string): string {
  const head = [...input.slice(0, 162)];
  const clipped = head.length > 80 ? `${head.slice(0, 79).join('')}…` : head.join('');
  return `\`${clipped.toWellFormed().replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`]/g, '?')}\``;
}
