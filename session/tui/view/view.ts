import type { Line } from '../../screen/line.ts';
import { type GivenAnswer, rowsOf } from '../../screen/question/asked.ts';
import type { StatusFacts } from '../../screen/status-line.ts';
import type { TurnTime } from '../../screen/words/turn-time.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Card } from '../card/card.ts';
import type { Composer } from '../composer/composer.ts';
import type { SecretLine } from '../composer/secret.ts';
import type { LocalCommand } from '../local-commands.ts';
import { nothingPrinted, type Printed } from '../print/printed.ts';

/** What a screen knows beside the snapshot: what its user is typing, and what was shown. */
export interface View {
  readonly printed: Printed;
  readonly composer: Composer;
  /** What was being typed when a note or an answer came between; it comes back behind it. */
  readonly aside: Composer | undefined;
  /** A secret answer that is typed now. */
  readonly secret: SecretLine | undefined;
  readonly card: Card | undefined;
  readonly facts: StatusFacts;
  /** Of the turn that runs. */
  readonly time: TurnTime | undefined;
  /** The question whose turn the key before would have ended: the same again ends it. */
  readonly leaving: string | undefined;
  /** What is told above the composer, until the next key. */
  readonly notice: Line | undefined;
}

export function openView(composer: Composer): View {
  return {
    printed: nothingPrinted,
    composer,
    aside: undefined,
    secret: undefined,
    card: undefined,
    facts: {},
    time: undefined,
    leaving: undefined,
    notice: undefined,
  };
}

/** What a screen asks to be done. */
export type Effect =
  | { readonly type: 'submit'; readonly text: string }
  | {
      readonly type: 'respond';
      readonly id: string;
      readonly given: GivenAnswer;
      /** The card, and what was written for it, in case it is refused. Never of a secret. */
      readonly before?: { readonly card: Card; readonly text: string };
    }
  | { readonly type: 'cancel' | 'suspend' | 'redraw' | 'quit' }
  /** `text`: how it was written. */
  | { readonly type: 'local'; readonly command: LocalCommand; readonly text?: string }
  | { readonly type: 'edit'; readonly text: string }
  | { readonly type: 'complete'; readonly prefix: string; readonly id: number };

export interface Stepped {
  readonly view: View;
  readonly effects: readonly Effect[];
}

/** Whether words would be refused now: they wait. A plan that failed too often waits for some. */
export function mustWait({ status, interactions }: Pick<Snapshot, 'status' | 'interactions'>): boolean {
  if (status !== 'awaiting_interaction') return status === 'thinking' || status === 'executing_tool';
  return !interactions.some((one) => one.status === 'pending' && rowsOf([one.metadata.repair]).length > 0);
}
