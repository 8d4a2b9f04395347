/** What must be checked outside the state machine before a command is decided. */
import type { Command } from './command.ts';
import { spokenIn } from './slash.ts';
import { pendingOf, type SessionState } from './state.ts';

/** Whether a command lets plans have a network that they had not: by the toggle of a review, or as a setting. */
export function opensNetwork(state: SessionState, command: Command): boolean {
  if (state.settings.context !== 'dev') return false;
  if (command.type === 'respond')
    return pendingOf(state).some(
      (asked) =>
        asked.id === command.id &&
        asked.kind === 'post_plan_choice' &&
        command.given.selectedOption === 'network' &&
        asked.metadata.networkAccess !== 'allow',
    );
  if (command.type !== 'submit' || state.noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.networkAccess === 'allow';
}

/** Whether a command may execute a plan: it is held to what the work tree was like when the plan was made. */
export function dependsOnWorkspace(state: SessionState, command: Command): boolean {
  const choices = pendingOf(state).filter(({ kind }) => kind === 'post_plan_choice');
  if (command.type === 'respond') return choices.some(({ id }) => id === command.id);
  return command.type === 'submit' && choices.length > 0;
}

/** Whether a command has changes held from now on. */
export function holdsChanges({ noteFor }: Pick<SessionState, 'noteFor'>, command: Command): boolean {
  if (command.type !== 'submit' || noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.review === 'on';
}
