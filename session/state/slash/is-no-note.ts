/** Whether a message is for a goal, or a command of one's own: no question waits for it as its note. */
export function isNoNote(text: string): boolean {
  return /^\s*(?:!|\/(?:goal|shell|verify)(?:\s|$))/.test(text);
}
