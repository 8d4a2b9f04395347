import type { Command } from './command.ts';
import { pendingOf, type SessionState } from './state.ts';

/** Whether a command may execute a plan: it is held to what the work tree was like when the plan was made. */
export function dependsOnWorkspace(state: SessionState, command: Command): boolean {
  const choices = pendingOf(state).filter(({ kind }) => kind === 'post_plan_choice');
  if (command.type === 'respond') return choices.some(({ id }) => id === command.id);
  return command.type === 'submit' && choices.length > 0;
}
