import type { ChatDialect } from '../wire/chat/chat-format.ts';
import { zhipuFailure } from './zhipu-failure.ts';

/** Models that think; the standard endpoint forgets what they thought unless it is told to keep it. */
const thinking = /^glm-(?:4\.[5-9]|[5-9])/;
/** Models that can stream the arguments of calls; else these come as one late chunk, after minutes of silence. */
const callsInPieces = /^glm-(?:4\.[6-9]|[5-9])/;

/** Knows no `stream_options`; a stream counts its tokens anyway. Reasoning goes back unmodified. */
export const zhipuDialect: ChatDialect = {
  provider: 'zhipu',
  streams: true,
  asksForUsage: false,
  lengthField: 'max_tokens',
  namesCache: false,
  reasoningBack: () => 'where-there-is',
  own: ({ model, tools }, streams) => ({
    ...(thinking.test(model) ? { thinking: { type: 'enabled', clear_thinking: false } } : {}),
    ...(streams && tools.length > 0 && callsInPieces.test(model) ? { tool_stream: true } : {}),
  }),
  failureOf: zhipuFailure,
};
