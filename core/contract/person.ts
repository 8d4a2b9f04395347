import type { Finding } from './finding.ts';
import type { ToolRequest } from './hook-payload.ts';
import type { PersonQuestion } from './person-question.ts';

/**
 * Whoever controls the session that a run works for (document 2, Approval policies). Waits as long as it takes; rejects
 * with the reason of the signal.
 */
export interface Person {
  /** Why a use that rules, scope and guards let through is not made all the same; `undefined`: it is. */
  consent(use: ToolRequest, signal: AbortSignal): Promise<Finding | undefined>;
  /** Untrusted like any other text from outside; `undefined` where nobody answers. */
  answer(question: PersonQuestion, signal: AbortSignal): Promise<string | undefined>;
}
