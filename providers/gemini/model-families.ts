import type { Json } from '../wire/json-parts.ts';

/** What models of one family want said in their own way. */
export interface GeminiFamily {
  readonly models: RegExp;
  readonly thinkingConfig: Json;
  /** Whether a call without a signature is refused, and calls and their results are told apart by id. */
  readonly signsCalls: boolean;
}

/**
 * By model id, the first that matches (ai.google.dev/gemini-api/docs/thinking). A budget and a level in one question
 * are refused, and so is a level by models that know budgets alone. -1 lets the model decide.
 */
const families: readonly GeminiFamily[] = [
  {
    models: /^gemini-2\.5-(?:pro|flash)/,
    thinkingConfig: { includeThoughts: true, thinkingBudget: -1 },
    signsCalls: false,
  },
  {
    models: /^gemini-(?:[3-9]|\d\d)(?:\.\d+)?-/,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
    signsCalls: true,
  },
  {
    models: /^gemini-(?:pro|flash|flash-lite)-latest$/,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
    signsCalls: true,
  },
];

/** The family of a model; nothing for one that is not known, which gets a question without any of this. */
export function geminiFamily(model: string): GeminiFamily | undefined {
  const name = model.replace(/^models\//, '');
  return families.find(({ models }) => models.test(name));
}
