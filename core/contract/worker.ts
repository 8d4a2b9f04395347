import type { AgentHost } from './agent.ts';
import type { CodeDoor } from './code-use.ts';
import type { DraftEnd, DraftOrder } from './draft-order.ts';
import type { Hands } from './hands.ts';
import type { PersonQuestion } from './person-question.ts';
import type { ModelChoice, Turns } from './turns.ts';
import type { Web } from './web.ts';

/**
 * One attempt at one Task, as whoever does it is told (document 1, Object-model binding; resolutions, Other fields'
 * effects).
 */
export interface TaskOrder {
  readonly runId: string;
  readonly taskId: string;
  /** Place of the Task in its plan, from 1; stable over resumes. */
  readonly taskNumber: number;
  /** From 1. */
  readonly attempt: number;
  /** Revision of the plan, from 1. */
  readonly revision: number;
  readonly title: string;
  /** `changeType` of the intent. */
  readonly goal: string;
  readonly steps: readonly string[];
  /** `in-scope:…`, `out-of-scope:…`, `crypto-policy:…`, `risk-rationale:…`. */
  readonly constraints: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  /** A directory that holds the base of this attempt; the worker may change it, only its answer counts. */
  readonly workspace: string;
  /** Digest of the context snapshot taken at the start, where the contract asks for one. */
  readonly snapshot?: string;
  /** Why the attempt before this one did not count; untrusted text. */
  readonly previousFailure?: string;
  /**
   * Calls of an earlier try at this attempt that left the machine before it was interrupted, a line each, and whether
   * they are refused in the same words. Untrusted text.
   */
  readonly lostCalls?: readonly string[];
  /** The workspace as tools see it. */
  readonly hands: Hands;
  /** What hands may ask about code; absent where no rule names it, or no language server is there. */
  readonly code?: CodeDoor;
  /** What lies outside the repository; absent where no tool rule of the contract names it. */
  readonly web?: Web;
  /** Where it records its decisions and what they rest on; absent where no model works. */
  readonly citations?: CitationDoor;
  /** The model; present where the worker names one. */
  readonly turns?: Turns;
  /** Who answers questions of the model; absent: nobody is there. */
  readonly person?: { answer(question: PersonQuestion): Promise<string | undefined> };
  /** In place of `turns`, where what the worker names is a program that works by itself. */
  readonly agent?: AgentHost;
  /** Ends with the wall clock, with `writ cancel` and with the person's Ctrl-C. */
  readonly signal: AbortSignal;
}

/** What an attempt used up. Units: `costUnits` of 0.001 USD (resolutions, maxCostUnits). */
export interface WorkUsage {
  readonly costUnits: number;
  readonly tokensUsed?: number;
}

/** What a contract asks a worker to cite (resolutions, Evidence); too few when the attempt has ended, and it fails. */
export interface CitationDoor {
  /**
   * Distinct sources that count, for every recorded decision; each step of the Task needs such a decision. 0: none is
   * asked for, and what is recorded is judged and kept all the same.
   */
  readonly needed: number;
  /** `contract`, the task itself, is a source that counts. */
  readonly trustsContract?: true;
  /** Why sources of one do not count, a line each. */
  refused(citation: WorkCitation): Promise<readonly string[]>;
  /** What lacks of all of them, a line each; empty where nothing does. */
  lacking(citations: readonly WorkCitation[]): Promise<readonly string[]>;
}

/** One choice that the worker calls a key technical decision, with the sources it rests on. */
export interface WorkCitation {
  readonly decision: string;
  readonly sources: readonly string[];
  /** The step of the Task that it settles, from 1. */
  readonly step?: number;
  /** The sources say different things. */
  readonly contradict?: boolean;
}

/** What came of an attempt. A worker that answers nothing says so; it never answers an empty patch. */
export type WorkResult = {
  readonly usage: WorkUsage;
  readonly citations?: readonly WorkCitation[];
  /** Values for `runPolicy.metricsSchema`, e.g. `tokens_used`. */
  readonly metrics?: Readonly<Record<string, number>>;
} & (
  | { readonly kind: 'patch'; readonly patch: Uint8Array }
  /** The change is what the workspace holds now, but for what git ignores there. */
  | { readonly kind: 'workspace' }
  | { readonly kind: 'nothing'; readonly reason: string }
);

/**
 * Does Tasks: a model, a recording, a person's patch. One `work` call per attempt; calls for different Tasks run side
 * by side. A rejection stops the run, to be resumed, and is not the Task's fault; a bad answer is a value.
 */
export interface Worker {
  readonly name: string;
  /**
   * Whether a model answers: prompts, replies and retrieved sources exist only then, and so do the rows of the contract
   * about them.
   */
  readonly usesModel: boolean;
  /** The model that answers, where the engine shall ask it for the worker (`TaskOrder.turns`). */
  readonly model?: ModelChoice;
  /** `false`: it has no way to cite, and a contract that asks for citations is refused before it begins. */
  readonly cites?: false;
  work(order: TaskOrder): Promise<WorkResult>;
  /** Drafts with its model; absent: it cannot. A rejection is an infrastructure failure. */
  draft?(order: DraftOrder): Promise<DraftEnd>;
}

/** Opens workers of one kind (slot `worker`), picked by whoever asks for a run. */
export interface WorkerSource {
  /**
   * A worker out of what it is made of; the same bytes, kept with the run, make it again when the run is resumed.
   * Throws for what it cannot read.
   */
  open(from: Uint8Array): Worker | Promise<Worker>;
}
