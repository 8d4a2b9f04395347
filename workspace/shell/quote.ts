/* Writes text as words of a POSIX shell. */

/** The text in single quotes, whatever it holds: one word that the shell takes as it is. */
export function inShellQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The text as one word, in quotes only where a reader needs them. */
export function toShellWord(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : inShellQuotes(text);
}
