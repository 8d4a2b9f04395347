import type { ModelEvent } from '../../core/contract/model.ts';
import { countIn, partsOf } from '../wire/json-parts.ts';

/** Reads `usage`, which comes in parts: at the start what went in, at the end what came out, each time cumulative. */
export function usageReader(): (usage: unknown) => Iterable<ModelEvent> {
  const counts = new Map<string, number>();
  const note = (name: string, value: unknown): void => {
    const count = countIn(value);
    if (count !== undefined) counts.set(name, count);
  };
  return function* (usage) {
    const told = partsOf(usage);
    for (const name of [
      'input_tokens',
      'output_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
    ])
      note(name, told[name]);
    note('thinking_tokens', partsOf(told.output_tokens_details).thinking_tokens);
    const fresh = counts.get('input_tokens');
    const output = counts.get('output_tokens');
    if (fresh === undefined || output === undefined) return;
    const cached = counts.get('cache_read_input_tokens');
    const reasoning = counts.get('thinking_tokens');
    // The vendor's `input_tokens` are those that no cache had to do with.
    const input = countIn(fresh + (cached ?? 0) + (counts.get('cache_creation_input_tokens') ?? 0));
    if (input === undefined) return;
    yield {
      type: 'usage',
      usage: {
        input,
        output,
        ...(cached === undefined ? {} : { cachedInput: cached }),
        ...(reasoning === undefined ? {} : { reasoning }),
      },
    };
  };
}
