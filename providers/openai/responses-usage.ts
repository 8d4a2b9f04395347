import type { ModelUsage } from '../../core/contract/model.ts';
import { countIn, type Json, partsOf } from '../wire/json-parts.ts';

/** Tokens as the Responses API tells them; `undefined` where it does not. */
export function responsesUsage(usage: Json): ModelUsage | undefined {
  const input = countIn(usage.input_tokens);
  const output = countIn(usage.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const cached = countIn(partsOf(usage.input_tokens_details).cached_tokens);
  const thought = countIn(partsOf(usage.output_tokens_details).reasoning_tokens);
  return {
    input,
    output,
    ...(cached === undefined ? {} : { cachedInput: cached }),
    ...(thought === undefined ? {} : { reasoning: thought }),
  };
}
