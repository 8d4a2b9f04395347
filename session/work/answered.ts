import type { Speaker } from '../state/fact.ts';
import type { GivenAnswer } from '../state/interaction.ts';

/** What was answered to a question that a step waits for. */
export interface Answered {
  readonly option: string;
  readonly given: GivenAnswer;
  readonly by: Speaker;
}
