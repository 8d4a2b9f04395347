import type { EffectiveIntentSpec } from '../../../../core/contract/intentspec.gen.ts';
import type { ModelMessage, ToolResult } from '../../../../core/contract/model.ts';
import { untrustedText } from './untrusted-text.ts';

/**
 * Messages as a vendor gets them: without secrets (`mask`), and what tools answered as the contract treats it, with
 * `asJson` as a JSON object. A
 * message that comes again with the next question, as most do, is the same object and was prepared; a vendor's own
 * state stays as it came.
 */
export function prepareMessages(
  promptInjection: EffectiveIntentSpec['security']['promptInjection'],
  mask: (text: string) => string,
  asJson = false,
): (message: ModelMessage) => ModelMessage {
  const answered = ({ isError }: ToolResult, text: string): string =>
    asJson ? JSON.stringify({ ok: !isError, text }) : text;
  const prepared = new WeakMap<ModelMessage, ModelMessage>();
  const prepare = (message: ModelMessage): ModelMessage => {
    if (message.role === 'user') return { ...message, text: mask(message.text) };
    if (message.role === 'tool')
      return {
        ...message,
        results: message.results.map((one) => ({
          ...one,
          text: answered(one, mask(untrustedText(promptInjection, one.text))),
        })),
      };
    return {
      ...message,
      text: mask(message.text),
      calls: message.calls.map((call) => ({ ...call, arguments: mask(call.arguments) })),
    };
  };
  return (message) => {
    const known = prepared.get(message);
    if (known !== undefined) return known;
    const made = prepare(message);
    prepared.set(message, made);
    return made;
  };
}
