import type { ChatDialect } from '../wire/chat/chat-format.ts';
import { openaiFailure } from './openai-failure.ts';

/** What servers at another base understand: the least that OpenAI's own chat dialect was. */
export const chatDialect: ChatDialect = {
  provider: 'openai',
  streams: true,
  asksForUsage: true,
  lengthField: 'max_tokens',
  namesCache: false,
  reasoningBack: () => 'where-there-is',
  failureOf: openaiFailure,
};
