/* Prices and limits of known models. */
import type { ModelUsage } from '../core/interfaces/model.ts';

/** USD per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
}

/** What is known of a model. */
export interface KnownModel {
  /** Tokens that a question and its reply may have together. */
  readonly contextTokens: number;
  readonly price: ModelPrice;
  /** Questions of more than `tokens` cost more, as a whole. */
  readonly long?: { readonly tokens: number; readonly price: ModelPrice };
}

type Price = readonly [input: number, output: number, cachedInput: number];
type Row = readonly [contextTokens: number, price: Price, longerThan?: number, longPrice?: Price];

/**
 * Vendor prices of the models in use: rows of the catalogue of `@earendil-works/pi-ai` 1.5.2 (MIT), read on
 * 2026-11-22. Ids and prices change within months: this table is for estimates and does not restrict the choice of
 * models.
 */
const rows: Readonly<Record<string, Row>> = {
  'claude-haiku-4-5': [200_000, [1, 5, 0.1]],
  'claude-haiku-5-5': [1_000_000, [0.1, 0.5, 0.01]],
  'claude-opus-4-8': [1_000_000, [5, 25, 0.5]],
  'claude-opus-5': [1_000_000, [5, 25, 0.5]],
  'claude-opus-5-5': [1_000_000, [4, 20, 0.2]],
  'claude-sonnet-5': [1_000_000, [2, 10, 0.2]],
  'claude-sonnet-5-5': [1_000_000, [2, 10, 0.1]],
  'deepseek-flash': [1_000_000, [0.3, 1.2, 0.006]],
  'deepseek-v4-pro': [1_000_000, [1.32, 3.96, 0.044]],
  'gemini-2.5-flash': [1_048_576, [0.3, 2.5, 0.03]],
  'gemini-2.5-pro': [1_048_576, [1.25, 10, 0.125], 200_000, [2.5, 15, 0.25]],
  'gemini-3.8-flash': [1_048_576, [0.75, 3.75, 0.075]],
  'gemini-4-argon': [1_048_576, [2, 10, 0.1]],
  'gemini-flash-latest': [1_048_576, [1.5, 9, 0.15]],
  'glm-4.7': [204_800, [0.6, 2.2, 0.11]],
  'glm-5-turbo': [200_000, [1.2, 4, 0.24]],
  'glm-5.2': [1_000_000, [1.4, 4.4, 0.26]],
  'glm-5.3': [1_000_000, [1.4, 4.4, 0.26]],
  'glm-5.3-flash': [1_000_000, [0.15, 0.5, 0.03]],
  'gpt-5.6-luna': [272_000, [0.2, 1.2, 0.02]],
  'gpt-5.6-sol': [272_000, [4, 20, 0.4]],
  'gpt-5.6-terra': [272_000, [2, 12, 0.2]],
  'gpt-6-astra': [272_000, [10, 50, 1]],
  'gpt-6-luna': [272_000, [0.1, 0.5, 0.01]],
  'gpt-6-sol': [272_000, [2, 10, 0.2]],
  'gpt-6.1-sol': [272_000, [2, 10, 0.1]],
  'gpt-6.1-terra': [272_000, [1, 5, 0.05]],
  'kimi-k2.6': [262_144, [0.95, 4, 0.16]],
  'kimi-k2.7-code': [262_144, [0.95, 4, 0.19]],
  'kimi-k2.7-code-highspeed': [262_144, [1.9, 8, 0.38]],
  'kimi-k3': [1_048_576, [3, 15, 0.3]],
  'kimi-k3.1-pro': [1_048_576, [2, 10, 0.2]],
};

/** Families that refuse a temperature, or any but their own; the same catalogue, and the vendors' pages. */
const fixedTemperature: readonly RegExp[] = [
  /^claude-(?:opus-4-[78]|(?:haiku|opus|sonnet)-[5-9])/,
  /^(?:gpt-(?:[5-9]|[1-9]\d)|o\d)(?!.*-chat)/,
  /^kimi-/,
];

/** Returns the known data of a model; `undefined` for most models. */
export function knownModel(model: string): KnownModel | undefined {
  const row = Object.hasOwn(rows, model) ? rows[model] : undefined;
  if (row === undefined) return undefined;
  const [contextTokens, price, tokens, longPrice] = row;
  return {
    contextTokens,
    price: toPrice(price),
    ...(tokens === undefined || longPrice === undefined
      ? {}
      : { long: { tokens, price: toPrice(longPrice) } }),
  };
}

/** Families that are known to take images, by the vendors' pages. */
const takingImages: readonly RegExp[] = [
  /^claude-/,
  /^(?:gpt-(?:4o|4\.1|[5-9]|[1-9]\d)|o[134])/,
  /^gemini-/,
  /^kimi-(?:k2\.[5-9]|k[3-9])/,
  /^glm-[\w.]*v\b/,
  // Models of Ollama.
  /^(?:llava|bakllava|moondream|minicpm-v|gemma3|llama3\.2-vision|llama4|mistral-small3|qwen[\d.]*-?vl)/,
];

/** Whether a model takes images, by all that is known. */
export function takesImages(model: string): boolean {
  return takingImages.some((family) => family.test(model.replace(/^.*\//, '')));
}

/** Beginnings of model ids, by the provider that has them. */
const providers: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  deepseek: 'deepseek',
  gemini: 'gemini',
  glm: 'zhipu',
  gpt: 'openai',
  kimi: 'kimi',
};

/** A model with its provider, its context window in tokens, and USD for a million tokens. */
export interface ListedModel {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly images: boolean;
}

/** The models of the table, in the order of their names. */
export function listedModels(): readonly ListedModel[] {
  return Object.entries(rows).map(([model, [contextTokens, [inputUsd, outputUsd]]]) => ({
    provider: providers[model.split('-', 1)[0] ?? ''] ?? '',
    model,
    contextTokens,
    inputUsd,
    outputUsd,
    images: takesImages(model),
  }));
}

/** Whether a temperature would be refused, by all that is known. */
export function temperatureIsFixed(model: string): boolean {
  return fixedTemperature.some((family) => family.test(model));
}

/**
 * Returns the cost of a turn in units of 0.001 USD, including fractions; `undefined` for a model without a price. It
 * excludes the vendor's charge for caching a prompt.
 */
export function costUnits(model: string, { input, output, cachedInput = 0 }: ModelUsage): number | undefined {
  const known = knownModel(model);
  if (known === undefined) return undefined;
  const { price, long } = known;
  const asked = long !== undefined && input > long.tokens ? long.price : price;
  const cached = Math.min(cachedInput, input);
  return ((input - cached) * asked.input + cached * asked.cachedInput + output * asked.output) / 1000;
}

function toPrice([input, output, cachedInput]: Price): ModelPrice {
  return { input, output, cachedInput };
}
