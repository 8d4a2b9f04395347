/** Whether a message is for a goal: no question waits for it as its note. */
export function isGoalMessage(text: string): boolean {
  return /^\s*\/goal(?:\s|$)/.test(text);
}
