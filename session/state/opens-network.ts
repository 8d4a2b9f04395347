import type { Command } from './command.ts';
import { spokenIn } from './slash/spoken-in.ts';
import { pendingOf, type SessionState } from './state.ts';

/** Whether a command lets plans have a network that they had not: by the toggle of a review, or as a setting. */
export function opensNetwork(state: SessionState, command: Command): boolean {
  if (state.settings.context !== 'dev') return false;
  if (command.type === 'respond')
    return pendingOf(state).some(
      ({ id, kind, metadata }) =>
        id === command.id &&
        kind === 'post_plan_choice' &&
        command.given.selectedOption === 'network' &&
        metadata.networkAccess !== 'allow',
    );
  if (command.type !== 'submit' || state.noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.networkAccess === 'allow';
}
