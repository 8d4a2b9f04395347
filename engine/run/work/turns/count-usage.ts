import type { ModelUsage } from '../../../../core/contract/model.ts';
import type { Provider } from '../../../../core/contract/provider.ts';

/** Adds up what turns with a model cost, as its provider prices them (resolutions, maxCostUnits). */
export function countUsage({ costUnits }: Pick<Provider, 'costUnits'>, model: string) {
  let units = 0;
  let tokensUsed = 0;
  return {
    count(usage: ModelUsage): void {
      const { input, output } = usage;
      const cost = costUnits?.(model, usage);
      tokensUsed += input + output;
      units += cost !== undefined && Number.isFinite(cost) && cost >= 0 ? cost : (input + output) / 1000;
    },
    counted: () => ({ costUnits: Math.ceil(units), tokensUsed }),
  };
}
