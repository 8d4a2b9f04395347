import type { Given, Page } from '../../page/page.ts';
import type { Question } from '../../seen.ts';

/** What the body of each kind of card is handed. */
export interface CardGiven {
  readonly page: Page;
  readonly question: Question;
  /** No answer can be given now. */
  readonly isShut: boolean;
  readonly answer: (given: Given) => void;
  /** What keys and buttons call. */
  readonly choose: (option: string) => void;
  /** Asked about an option first, by whoever wants more than it: whether that was seen to. */
  readonly takes: { current: ((option: string) => boolean) | undefined };
  /** Asked about a digit first, by whoever has choices of its own: whether it stands for one. */
  readonly digits: { current: ((digit: number) => boolean) | undefined };
}
