import type { ModelMessage } from '../../core/contract/model.ts';
import { cutDialogue, type DialogueCut } from './cut-dialogue.ts';
import type { Decided, Moment } from './decided.ts';
import { requireIdle } from './require-idle.ts';
import type { SessionState } from './state.ts';

/**
 * Cuts what is sent of the conversation from now on; spec, plans, decisions and the transcript stay as they are.
 * CONTROLLER_CONFLICT while a turn runs.
 */
export function decideCut(state: SessionState, how: DialogueCut, { newId }: Pick<Moment, 'newId'>): Decided {
  requireIdle(state);
  const [before, after] = [state.dialogue, cutDialogue(state.dialogue, how)].map(charactersOf);
  const untold = state.ran.flatMap(({ id, isTold }) => (isTold ? [] : [id]));
  const text =
    how === 'clear'
      ? 'the conversation starts anew: no model is sent what was said before; spec, plans and decisions stay'
      : `a model is sent ${after} characters of the conversation, before it were ${before}; older results can be asked for again`;
  return {
    facts: [
      { type: 'talk-cut', how },
      ...(how === 'clear' && untold.length > 0 ? ([{ type: 'runs-told', ids: untold }] as const) : []),
      { type: 'noted', id: newId(), title: 'Conversation', text },
    ],
    wants: [],
  };
}

function charactersOf(dialogue: readonly ModelMessage[]): number {
  return dialogue.reduce(
    (sum, one) =>
      sum +
      (one.role === 'tool' ? one.results.reduce((all, { text }) => all + text.length, 0) : one.text.length),
    0,
  );
}
