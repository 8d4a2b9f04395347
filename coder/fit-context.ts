import type { ModelMessage } from '../core/contract/model.ts';

/** Characters of a conversation; four are about a token, and the smallest windows hold 200,000. */
const maxCharacters = 480_000;
/** What came of the last calls stays whole. */
const keptMessages = 8;

/**
 * The conversation as it is sent: where it would be too long, what the oldest calls answered is left out, visibly,
 * until it fits. The conversation itself keeps everything.
 */
export function fitContext(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  let size = messages.reduce((sum, message) => sum + sizeOf(message), 0);
  if (size <= maxCharacters) return messages;
  return messages.map((message, index) => {
    if (size <= maxCharacters || message.role !== 'tool' || index >= messages.length - keptMessages)
      return message;
    const short = {
      ...message,
      results: message.results.map((result) => ({
        ...result,
        text:
          result.text.length <= 200 ? result.text : `[left out: ${result.text.length} characters; ask again]`,
      })),
    };
    size -= sizeOf(message) - sizeOf(short);
    return short;
  });
}

function sizeOf(message: ModelMessage): number {
  if (message.role === 'user') return message.text.length;
  if (message.role === 'tool') return message.results.reduce((sum, { text }) => sum + text.length + 50, 0);
  return (
    message.text.length + message.calls.reduce((sum, { arguments: given }) => sum + given.length + 50, 0)
  );
}
