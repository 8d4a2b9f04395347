import type { ModelEvent } from '../../core/contract/model.ts';

/** What a reply used, in tokens; what a vendor does not tell stays out. */
export function usageEvent(
  input: number,
  output: number,
  cached: number | undefined,
  thought: number | undefined,
): ModelEvent {
  return {
    type: 'usage',
    usage: {
      input,
      output,
      ...(cached === undefined ? {} : { cachedInput: cached }),
      ...(thought === undefined ? {} : { reasoning: thought }),
    },
  };
}
