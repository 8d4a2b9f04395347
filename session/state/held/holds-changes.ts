import type { Command } from '../command.ts';
import { spokenIn } from '../slash/spoken-in.ts';
import type { SessionState } from '../state.ts';

/** Whether a command has changes held from now on. */
export function holdsChanges({ noteFor }: Pick<SessionState, 'noteFor'>, command: Command): boolean {
  if (command.type !== 'submit' || noteFor !== undefined) return false;
  const spoken = spokenIn(command.text);
  return spoken?.kind === 'set' && spoken.change.review === 'on';
}
