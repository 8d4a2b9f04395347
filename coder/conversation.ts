import type { AssistantMessage, ModelMessage } from '../core/contract/model.ts';

/** What a worker and a model said to each other, as the model gets it. */
export interface Conversation {
  /** Messages follow each other as vendors want them: a question, then replies and what came of each. */
  add(message: ModelMessage): void;
  readonly messages: readonly ModelMessage[];
}

/** Reported where a model answers and says nothing. */
export const emptyReply = 'the reply of the model is empty: it has no text and calls no tool';

export function isEmpty({ text, calls }: Pick<AssistantMessage, 'text' | 'calls'>): boolean {
  return text.trim() === '' && calls.length === 0;
}

/** What came of the last calls stays whole as long as that alone fits. */
const keptMessages = 8;
/** Left out in large steps: a vendor keeps a prompt only as far as it begins as before. */
const shrinkTo = 0.6;
const shortText = 200;

/**
 * A conversation of at most `maxCharacters`: where it would be longer, what the oldest calls answered is left out, then
 * the oldest replies, then the middle of what is too long by itself. Each says that it is left out, and what was is
 * kept nowhere: an attempt of thousands of turns holds no more than one of a hundred.
 */
export function openConversation(question: string, maxCharacters: number): Conversation {
  let messages: ModelMessage[] = [{ role: 'user', text: question }];
  let sizes = [question.length];
  let size = question.length;
  let dropped = 0;

  const replace = (index: number, message: ModelMessage): void => {
    const now = sizeOf(message);
    size += now - (sizes[index] ?? 0);
    sizes[index] = now;
    messages[index] = message;
  };
  const shorten = (from: number, to: number, goal: number, maxText: number): void => {
    for (let index = from; index < to && size > goal; index += 1) {
      const message = messages[index];
      if (message?.role === 'tool') replace(index, withShortResults(message, maxText));
    }
  };
  const dropOldest = (goal: number, kept: number): void => {
    // From the first reply to the reply before which enough is gone.
    let end = 1;
    let left = size;
    for (let index = 1; index < messages.length - kept && left > goal; index += 1) {
      left -= sizes[index] ?? 0;
      if (messages[index + 1]?.role === 'assistant') end = index + 1;
    }
    if (end === 1) return;
    dropped += messages.slice(1, end).filter(({ role }) => role === 'assistant').length;
    messages = [messages[0] as ModelMessage, ...messages.slice(end)];
    sizes = [sizes[0] ?? 0, ...sizes.slice(end)];
    size = sizes.reduce((sum, one) => sum + one, 0);
    replace(0, {
      role: 'user',
      text: `${question}\n\n[${dropped} earlier replies of yours and what came of them are left out here. The files are as you left them.]`,
    });
  };
  return {
    get messages() {
      return messages;
    },
    add(message) {
      const added = sizeOf(message);
      messages.push(message);
      sizes.push(added);
      size += added;
      if (size <= maxCharacters) return;
      const goal = maxCharacters * shrinkTo;
      shorten(1, messages.length - keptMessages, goal, shortText);
      if (size > goal) dropOldest(goal, keptMessages);
      for (let most = maxCharacters / 4; size > maxCharacters && most >= shortText; most /= 2)
        shorten(1, messages.length, maxCharacters, Math.floor(most));
      if (size > maxCharacters) dropOldest(maxCharacters, 2);
    },
  };
}

function withShortResults(
  message: Extract<ModelMessage, { readonly role: 'tool' }>,
  maxText: number,
): ModelMessage {
  return {
    ...message,
    results: message.results.map((result) => ({ ...result, text: shortened(result.text, maxText) })),
  };
}

/** Both ends of a text, and how much is not there; of a text that stays short by itself, all of it. */
function shortened(text: string, maxText: number): string {
  if (text.length <= maxText) return text;
  const left = `[left out: ${text.length} characters; ask again]`;
  if (maxText <= shortText) return left;
  const half = Math.floor((maxText - shortText) / 2);
  return `${text.slice(0, half)}\n${left}\n${text.slice(-half)}`;
}

function sizeOf(message: ModelMessage): number {
  if (message.role === 'user') return message.text.length;
  if (message.role === 'tool') return message.results.reduce((sum, { text }) => sum + text.length + 50, 0);
  const { text, calls, state } = message;
  const opaque = state === undefined ? 0 : JSON.stringify(state.value)?.length;
  return text.length + (opaque ?? 0) + calls.reduce((sum, call) => sum + call.arguments.length + 50, 0);
}
