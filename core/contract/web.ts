import type { HandAnswer } from './hands.ts';

/** What a worker may look up outside the repository (tool `web.search`; document 2, Web search tool). */
export type WebUse =
  | { readonly kind: 'search'; readonly query: string }
  /** Text of one page. */
  | { readonly kind: 'read'; readonly url: string };

/** What came of it; untrusted wherever it holds what somebody else wrote. */
export type WebAnswer = Pick<HandAnswer, 'outcome' | 'text'>;

/**
 * The only way out of an attempt: every use is judged by tool rules, network policy, strategy, domain rules and guards
 * before anything is asked, and again at every redirect. One at a time; a refusal is an answer.
 */
export interface Web {
  /** Those that a rule of the contract names. */
  readonly actions: readonly WebUse['kind'][];
  use(use: WebUse): Promise<WebAnswer>;
}
