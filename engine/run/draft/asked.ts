import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';

/** Under `extensions` of a drafted contract: who was asked what, and who answered. It decides nothing. */
export const draftExtension = 'writ/request';

/** A request, and the model that drafted a contract of it; as the contract claims. */
export interface Asked {
  /** What the person said, in order. */
  readonly said: readonly string[];
  readonly provider: string;
  readonly model: string;
  readonly turns: number;
  readonly tokens: number;
  readonly cost_units: number;
}

const maxSaid = 50;
const maxName = 256;

/** What a contract says of its own request; `undefined` where it says nothing of the kind. */
export function readAsked({ extensions = {} }: Pick<IntentSpec, 'extensions'>): Asked | undefined {
  const told = extensions[draftExtension];
  if (typeof told !== 'object' || told === null) return undefined;
  const { said, provider, model, ...counts } = told as Readonly<Record<string, unknown>>;
  if (!Array.isArray(said) || !said.every((one) => typeof one === 'string')) return undefined;
  if (typeof provider !== 'string' || typeof model !== 'string') return undefined;
  const count = (name: string): number => (typeof counts[name] === 'number' ? counts[name] : 0);
  return {
    said: said.slice(0, maxSaid),
    provider: provider.slice(0, maxName),
    model: model.slice(0, maxName),
    turns: count('turns'),
    tokens: count('tokens'),
    cost_units: count('cost_units'),
  };
}
