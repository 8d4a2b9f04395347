import type { ModelMessage } from '../../core/contract/model.ts';
import type { Decided, Moment } from './decided.ts';
import { requireIdle } from './require-idle.ts';
import type { SessionState } from './state.ts';

/** `clear`: nothing that was said before is sent to a model; `compact`: less of it is. */
export type DialogueCut = 'clear' | 'compact';

/** Turns that stay, the newest ones; the last of them whole. */
const keptTurns = 4;
/** Characters of an older text that stay. */
const keptResult = 200;
const keptText = 2000;

/** What a model is sent of a dialogue after a cut. Pure. */
export function cutDialogue(dialogue: readonly ModelMessage[], how: DialogueCut): readonly ModelMessage[] {
  if (how === 'clear') return [];
  const begins = dialogue.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
  const last = begins.at(-1) ?? 0;
  const first = begins.at(-keptTurns) ?? begins[0] ?? 0;
  return [...dialogue.slice(first, last).map(shortened), ...dialogue.slice(last)];
}

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

function shortened(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return { ...message, text: cut(message.text, keptText) };
  if (message.role === 'assistant') return { ...message, text: cut(message.text, keptText) };
  return {
    ...message,
    results: message.results.map((one) => ({ ...one, text: cut(one.text, keptResult) })),
  };
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n[left out: ${text.length - most} characters; ask again]`;
}

function charactersOf(dialogue: readonly ModelMessage[]): number {
  return dialogue.reduce(
    (sum, one) =>
      sum +
      (one.role === 'tool' ? one.results.reduce((all, { text }) => all + text.length, 0) : one.text.length),
    0,
  );
}
