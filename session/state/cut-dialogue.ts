import type { ModelMessage } from '../../core/interfaces/model.ts';

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
