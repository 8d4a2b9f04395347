import type { GivenAnswer } from '../../../../session/state/interaction.ts';
import type { Snapshot } from '../../../../session/state/snapshot.ts';

/** What a client is refused with, the same through every door. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** One way to a session, for any number of clients; each verb answers why it was refused, or `undefined`. */
export interface Door extends AsyncDisposable {
  attach(client: string, kind: 'browser' | 'automation'): Promise<Refusal | undefined>;
  detach(client: string): Promise<Refusal | undefined>;
  say(client: string, text: string, commandId?: string): Promise<Refusal | undefined>;
  answer(client: string, interactionId: string, given: GivenAnswer): Promise<Refusal | undefined>;
  cancel(client: string): Promise<Refusal | undefined>;
  goal(client: string, objective: string, criteria: readonly string[]): Promise<Refusal | undefined>;
  giveUp(client: string, reason: string): Promise<Refusal | undefined>;
  snapshot(): Promise<Snapshot>;
}
