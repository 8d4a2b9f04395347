import type { Asked } from '../../screen/question/asked.ts';
import { firstChoiceOf } from '../../screen/question/choices.ts';

/** How far a person is with the answer to one question. */
export interface Card {
  /** Of the interaction. */
  readonly id: string;
  readonly shownAtMs: number;
  /** `away`: keys go to the composer. */
  readonly focus: 'options' | 'lines' | 'away';
  /** The choice, or the line, that Enter takes. */
  readonly at: number;
  /** What is written for it now; absent while something is chosen. */
  readonly writing:
    | { readonly for: 'note' }
    | { readonly for: 'line'; readonly line: string }
    | { readonly for: 'answer'; readonly question: string; readonly isSecret: boolean }
    | undefined;
  /** Notes on lines of a plan, by their ids. */
  readonly notes: Readonly<Record<string, string>>;
  /** Which of the inner questions is asked. */
  readonly question: number;
  readonly answers: Readonly<Record<string, readonly string[]>>;
}

/**
 * Keys that were pressed before a question could be read answer nothing: whoever types while it appears must not
 * approve by accident. Milliseconds.
 */
export const deafForMs = 350;

/** The card of a question that appears; where something is being written, it waits for its turn. */
export function openCard(
  asked: Pick<Asked, 'id' | 'options' | 'metadata'>,
  nowMs: number,
  isWriting: boolean,
): Card {
  return {
    id: asked.id,
    shownAtMs: nowMs,
    focus: isWriting ? 'away' : 'options',
    at: firstChoiceOf(asked),
    writing: undefined,
    notes: {},
    question: 0,
    answers: {},
  };
}
