/** The dialogue that a model gets, bounded and shortened. */
import type { ModelMessage } from '../../core/interfaces/model.ts';

/** `clear`: no earlier message is sent to a model. `compact`: fewer are sent. A number: the last so many are not. */
export type DialogueCut = 'clear' | 'compact' | { readonly messages: number };

/** Characters of a dialogue that are kept. */
export const maxDialogue = 400_000;

/** Turns that stay, the newest ones; the last of them whole. */
const keptTurns = 4;
/** Characters of an older text that stay. */
const keptResult = 200;
const keptText = 2000;

/** What a model is sent of a dialogue after a cut. Pure. */
export function cutDialogue(dialogue: readonly ModelMessage[], how: DialogueCut): readonly ModelMessage[] {
  if (how === 'clear') return [];
  const begins = dialogue.flatMap(({ role }, at) => (role === 'user' ? [at] : []));
  if (how !== 'compact') return dialogue.slice(0, begins.at(-how.messages) ?? 0);
  const last = begins.at(-1) ?? 0;
  const first = begins.at(-keptTurns) ?? begins[0] ?? 0;
  return [...dialogue.slice(first, last).map(shortened), ...dialogue.slice(last)];
}

/** Turns that a note names. */
export const mostNamed = 10;
const mostShown = 60;

/** The first words of a turn, on one line and in quotation marks. */
export function turnInQuotes(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return `“${line.length <= mostShown ? line : `${line.slice(0, mostShown).toWellFormed()}…`}”`;
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

/**
 * Appends a message. If the dialogue is too long, its oldest turns are dropped, up to a message of the user, because
 * vendors reject results without their calls.
 */
export function withMessage(
  dialogue: readonly ModelMessage[],
  message: ModelMessage,
): readonly ModelMessage[] {
  const all = [...dialogue, message];
  if (message.role !== 'user') return all;
  let size = all.reduce((sum, one) => sum + sizeOf(one), 0);
  let from = 0;
  for (let at = 0; at < all.length - 1 && size > maxDialogue; at += 1) {
    size -= sizeOf(all[at] as ModelMessage);
    from = at + 1;
  }
  while (from > 0 && from < all.length && all[from]?.role !== 'user') from += 1;
  return from === 0 ? all : all.slice(from);
}

export function sizeOf(message: ModelMessage): number {
  if (message.role === 'tool') return message.results.reduce((sum, { text }) => sum + text.length, 0);
  if (message.role === 'user') return message.text.length;
  return message.text.length + message.calls.reduce((sum, call) => sum + call.arguments.length, 0);
}
