import { WritError } from '../../../core/base/errors.ts';
import { nearestName } from '../../../core/base/nearest-name.ts';
import { quoted } from '../../../core/base/quoted.ts';
import type { Provider, ProviderSource } from '../../../core/contract/provider.ts';
import type { WritConfig } from '../../config/config.ts';

/** What the policy commit says of backends and models. */
export type ModelConfig = Pick<WritConfig, 'providers' | 'models' | 'plainHttp'>;

export const noModelConfig: ModelConfig = { providers: {}, models: {} };

/**
 * What `[providers.<name>]` says of the chosen backend, as flags of it. CONFIG_INVALID for a backend that nobody knows,
 * a key that the chosen one does not have, and a value that the key does not.
 */
export function configuredFlags(
  { providers }: ModelConfig,
  name: string,
  { settings = {} }: Pick<ProviderSource, 'settings'>,
  known: readonly string[],
): Readonly<Record<string, string>> {
  const stray = Object.keys(providers).find((one) => !known.includes(one));
  if (stray !== undefined) throw invalid(['providers', stray], 'no such provider', known);
  const given = Object.hasOwn(providers, name) ? (providers[name] ?? {}) : {};
  for (const [key, value] of Object.entries(given)) {
    const values = Object.hasOwn(settings, key) ? (settings[key] ?? []) : undefined;
    if (values === undefined) throw invalid(['providers', name, key], 'unknown key', Object.keys(settings));
    if (!values.includes(value))
      throw invalid(['providers', name, key], `found ${quoted(value)}`, values, value);
  }
  return given;
}

/** The backend, with what `[models."<id>"]` says of a model before what it says itself. */
export function withModelRow(provider: Provider, { models }: ModelConfig, model: string): Provider {
  const row = Object.hasOwn(models, model) ? models[model] : undefined;
  if (row === undefined) return provider;
  const { price, contextTokens } = row;
  return {
    name: provider.name,
    ask: (request, signal) => provider.ask(request, signal),
    costUnits(id, usage) {
      if (price === undefined || id !== model) return provider.costUnits?.(id, usage);
      const { input, output, cachedInput = 0 } = usage;
      const cached = Math.min(cachedInput, input);
      // USD per million tokens are units of 0.001 USD per thousand.
      return ((input - cached) * price.input + cached * price.cachedInput + output * price.output) / 1000;
    },
    contextTokens: (id) => (id === model ? contextTokens : undefined) ?? provider.contextTokens?.(id),
  };
}

/** In words, where the price of a model comes from; absent where only its vendor's table is asked. */
export function priceNotice({ models }: ModelConfig, model: string): string | undefined {
  const price = Object.hasOwn(models, model) ? models[model]?.price : undefined;
  if (price === undefined) return undefined;
  const { input, output, cachedInput } = price;
  return `price of \`${model}\`: ${input} USD in, ${cachedInput} cached, ${output} out for a million tokens, of \`[models]\` at the policy commit`;
}

/** In words, that a model is asked in the clear, and who allows it. */
export function plainHttpNotice(host: string): string {
  return `the model is asked over plain HTTP at \`${host}\`: \`[models] allow_http\` at the policy commit allows it`;
}

function invalid(
  path: readonly string[],
  found: string,
  expected: readonly string[],
  value?: string,
): WritError {
  const near = nearestName(value ?? path.at(-1) ?? '', expected);
  const meant = near === undefined ? '' : `, did you mean \`${near}\`?`;
  const known = expected.length === 0 ? 'it takes none' : expected.map((one) => `\`${one}\``).join(', ');
  const message = `${found}${meant} (known here: ${known})`;
  return new WritError('CONFIG_INVALID', {
    message: `\`.writ/config.toml\` at the policy commit is not valid at \`${path.join('.').slice(0, 200)}\`: ${message}`,
    detail: { issues: [{ path: path.join('.').slice(0, 200), message }] },
  });
}
