import type { ModelUsage } from '../../../../core/contract/model.ts';
import type { ModelMeter } from '../../state/model-meter.ts';
import type { OpenModel } from '../../state/open-model.ts';

/** Whose questions are counted, and who is told of each. */
export interface Counting {
  readonly meter?: ModelMeter | undefined;
  /** Key of the Task that is worked. */
  readonly task?: string | undefined;
}

/** Where nobody has counted them yet. */
const charactersPerToken = 4;

/** Adds up what turns with a model cost, as its provider prices them (resolutions, maxCostUnits). */
export function countUsage(
  { provider, model }: Pick<OpenModel, 'provider' | 'model'>,
  counting: Counting = {},
) {
  const { meter, task } = counting;
  let units = 0;
  let tokensUsed = 0;
  let cachedBefore = 0;
  const priceOf = (usage: ModelUsage): { readonly costUnits?: number } => {
    const cost = provider.costUnits?.(model, usage);
    return cost !== undefined && Number.isFinite(cost) && cost >= 0 ? { costUnits: cost } : {};
  };
  return {
    /**
     * Before a question of so many characters: throws what its meter refuses it for. What it answers is called when
     * the reply is over, with what it used.
     */
    begin(characters: number): (usage?: ModelUsage) => void {
      const input = Math.ceil(characters / charactersPerToken);
      const settle = meter?.begin({
        provider: provider.name,
        model,
        inputTokens: input,
        // What a vendor kept of the question before, it has kept of this one, which begins alike.
        ...priceOf({ input, output: 0, cachedInput: Math.min(input, cachedBefore) }),
        ...(task === undefined ? {} : { task }),
      });
      return (usage) => {
        if (usage === undefined) return settle?.();
        const { input: asked, output, cachedInput = 0 } = usage;
        const price = priceOf(usage);
        tokensUsed += asked + output;
        units += price.costUnits ?? (asked + output) / 1000;
        cachedBefore = cachedInput;
        const contextTokens = provider.contextTokens?.(model);
        settle?.({ usage, ...price, ...(contextTokens === undefined ? {} : { contextTokens }) });
      };
    },
    counted: () => ({ costUnits: Math.ceil(units), tokensUsed }),
  };
}
