import type { Interaction, InteractionAnswer } from './interaction.ts';
import type { Lease } from './lease.ts';

/** Who has the session where nobody holds a lease: its terminal, the client at its standard input, nobody. */
export type LocalController = 'tui' | 'cli' | 'none';

/** What is fixed when a session is opened (document 2, Session snapshot). */
export interface SessionGround {
  readonly sessionId: string;
  readonly threadId: string;
  readonly workingDir: string;
  readonly provider: {
    readonly provider: string;
    readonly model?: string;
    readonly mode?: string;
    readonly managed: boolean;
  };
  readonly capabilities: Readonly<Record<CapabilityName, boolean>>;
  readonly local: LocalController;
  /** Clients of these kinds may attach. */
  readonly attachable: readonly Lease['kind'][];
  /** `false` in contexts that only read: no answer there opens the network. */
  readonly mayOpenNetwork: boolean;
}

export type CapabilityName =
  | 'messageInput'
  | 'streamingText'
  | 'planUpdates'
  | 'toolCalls'
  | 'patchsets'
  | 'interactiveApprovals'
  | 'structuredQuestions'
  | 'providerSessionResume';

/** Who said or answered something; it is an author of what comes of it (resolutions, Approvals). */
export interface Speaker {
  readonly kind: 'browser' | 'automation' | 'tui' | 'cli';
  /** Absent for the local one. */
  readonly clientId?: string;
}

export type TurnEnd = 'done' | 'failed' | 'cancelled' | 'decided';
export type ToolStatus = 'preview' | 'running' | 'completed' | 'failed' | 'unknown';

/** Something that has happened. Times are milliseconds since the epoch. */
export type Fact =
  | { readonly type: 'opened'; readonly ground: SessionGround }
  | { readonly type: 'attached'; readonly lease: Lease }
  | { readonly type: 'renewed'; readonly expiresAtMs: number }
  | { readonly type: 'released'; readonly why: 'detached' | 'expired' | 'reclaimed' }
  | {
      readonly type: 'said';
      readonly id: string;
      readonly text: string;
      readonly by: Speaker;
      readonly commandId?: string;
      /** Where it is the note that `modify` waited for: of which interaction. */
      readonly noteOf?: string;
    }
  | { readonly type: 'turn-began'; readonly turn: string }
  | { readonly type: 'replying'; readonly id: string; readonly text: string }
  | { readonly type: 'replied'; readonly id: string; readonly text: string }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly toolName: string;
      readonly status: ToolStatus;
      readonly summary?: string;
    }
  | { readonly type: 'asked'; readonly interaction: Interaction }
  | {
      readonly type: 'answered';
      readonly id: string;
      readonly answer: InteractionAnswer;
      readonly by: Speaker;
    }
  /** It stays pending: the network was switched, or a second word is needed. */
  | {
      readonly type: 'amended';
      readonly id: string;
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'withdrawn';
      readonly id: string;
      readonly why: 'cancelled' | 'taken-over' | 'turn-ended';
    }
  | { readonly type: 'cancel-asked' }
  | { readonly type: 'turn-ended'; readonly turn: string; readonly end: TurnEnd; readonly reason?: string };

/** A fact and when it was. */
export type Happened = Fact & { readonly atMs: number };

/** Facts that hold for one process alone: a lease, half a reply. Every other one is in the journal of the thread. */
export const fleeting: ReadonlySet<Fact['type']> = new Set(['attached', 'renewed', 'released', 'replying']);
