/** What models of one family want said in their own way. */
export interface AnthropicFamily {
  readonly models: RegExp;
  /**
   * Whether it thinks as much as it sees fit. Where it does, a temperature is refused: by some models always, by the
   * others next to thinking.
   */
  readonly adaptive: boolean;
  /**
   * What is asked for where nobody says how much: a question without a number is refused, and one above the model's.
   */
  readonly maxTokens: number;
}

/**
 * By model id, the first that matches (platform.claude.com/docs: adaptive thinking, models overview). Older models
 * think by a budget that nobody gave, so they do not.
 */
const families: readonly AnthropicFamily[] = [
  { models: /^claude-[a-z]+-4-[6-9](?:-|$)/, adaptive: true, maxTokens: 64_000 },
  { models: /^claude-[a-z]+-4-5(?:-|$)/, adaptive: false, maxTokens: 64_000 },
  { models: /^claude-[a-z]+-4(?:-|$)/, adaptive: false, maxTokens: 32_000 },
  { models: /^claude-[a-z]+-(?:[5-9]|\d\d)(?:-|$)/, adaptive: true, maxTokens: 64_000 },
];

/** Whatever else speaks this wire. */
const unknown: Omit<AnthropicFamily, 'models'> = { adaptive: false, maxTokens: 8192 };

/** The family of a model. */
export function anthropicFamily(model: string): Omit<AnthropicFamily, 'models'> {
  return families.find(({ models }) => models.test(model)) ?? unknown;
}
