import { WritError } from '../../core/base/errors.ts';
import type { Fact, Speaker } from './fact.ts';
import type { SessionState } from './state.ts';

interface Message {
  readonly text: string;
  readonly commandId: string | undefined;
}

/** A message as it is kept. */
export function saidFact(
  { text, commandId }: Message,
  by: Speaker,
  id: string,
): Extract<Fact, { readonly type: 'said' }> {
  return { type: 'said', id, text, by, ...(commandId === undefined ? {} : { commandId }) };
}

/** Whether the same was said before under the same command. COMMAND_PAYLOAD_CONFLICT where it was something else. */
export function isRepeated(
  { commands }: Pick<SessionState, 'commands'>,
  { text, commandId }: Message,
): boolean {
  const before = commandId === undefined ? undefined : commands.get(commandId);
  if (before === undefined || before === text) return before !== undefined;
  throw new WritError('COMMAND_PAYLOAD_CONFLICT', { detail: { command_id: commandId } });
}
