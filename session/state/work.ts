/** Drafts, plans, tasks, patchsets, gates and reviews of a session. */
import type { DecisionType } from '../../core/interfaces/run-view.ts';
import type { StageRecord } from '../../core/interfaces/stage.ts';
import type { TaskAdvice } from '../../engine/plan/plan-advice.ts';
import type { HeldChange } from '../../engine/seal/move-target.ts';
import type { StepCost } from './usage.ts';

/** A drafted spec; its file is stored under the id of its run. */
export interface SessionDraft {
  readonly runId: string;
  /** From 1; each new draft adds one. */
  readonly revision: number;
  /** The request, and the person's comments on earlier drafts. */
  readonly said: readonly string[];
  readonly summary: string;
  readonly digest: string;
  /** `metadata.id` of the spec. */
  readonly intentId: string;
}

export type StepStatus = 'pending' | 'in_progress' | 'completed';

/** One line of a plan. */
export interface PlanStep {
  readonly id: string;
  readonly step: string;
  readonly status: StepStatus;
  /** Key of the Task that it belongs to. */
  readonly task?: string;
}

/** How often a plan that failed was revised and run again by itself, and until when that goes on. */
export interface Repair {
  readonly attempt: number;
  readonly limit: number;
}

/** Automatic repairs before a person is prompted, and the maximum that a person can allow. */
export const repairs = { threshold: 3, cap: 10 } as const;

/** A plan of the engine, or steps that a model reports. */
export interface SessionPlan {
  readonly id: string;
  readonly title?: string;
  readonly summary?: string;
  readonly status: 'proposed' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly steps: readonly PlanStep[];
  readonly updatedAtMs: number;
  /** What each Task is expected to cost. */
  readonly estimates?: readonly StepCost[];
  /** How many Tasks of this thread the estimates rest on; 0: they are assumed. */
  readonly estimatedFrom?: number;
  /** Actual cost of each task so far; internal. */
  readonly actuals?: readonly StepCost[];
  /** Of a plan of the engine's: what it is run with. */
  readonly run?: {
    readonly runId: string;
    readonly revision: number;
    readonly advice: readonly TaskAdvice[];
    readonly repair: Repair;
    /** It was executed once. */
    readonly hasBegun?: true;
  };
}

export interface SessionTask {
  readonly id: string;
  readonly title?: string;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly details?: string;
  readonly updatedAtMs: number;
}

/** One place of a file at which it is changed, as people review it. */
export interface PatchHunk {
  /** Of path and lines; the same in every patchset that changes the same lines in the same way. */
  readonly id: string;
  /** The hunk's `@@` line of the diff, or a description if the change has no lines. */
  readonly header: string;
}

export interface SessionChange {
  readonly path: string;
  readonly changeType: string;
  /** Unified; cut behind a whole hunk where it is long. */
  readonly diff?: string;
  /** In the order of the diff. */
  readonly hunks?: readonly PatchHunk[];
  /** How many hunks more there are than the diff shows. */
  readonly unshown?: number;
}

export interface SessionPatchset {
  readonly id: string;
  readonly status: 'proposed' | 'accepted' | 'rejected';
  readonly changes: readonly SessionChange[];
  readonly updatedAtMs: number;
}

/** What came of one stage of the gates of a run. */
export interface GateResult extends Pick<StageRecord, 'stage' | 'status'> {
  /** Checks that ran, of so many. */
  readonly ran: number;
  readonly expected: number;
  /** Tests and checks that failed, the first of them; absent where none did. */
  readonly failed?: readonly string[];
}

/** How much of a stage ran; why it was skipped. */
export function gateWords({ ran, expected }: Pick<GateResult, 'ran' | 'expected'>): string {
  return expected === 0 ? 'no check listed' : `${ran} of ${expected} ran`;
}

/** What a run came to, or that it waits for people; `held`: committed where no branch of the person's has moved. */
export interface RunOutcome {
  readonly runId: string;
  readonly decision: DecisionType | 'waiting' | 'held' | 'none';
  /** Why, in words. */
  readonly why: string;
  readonly commit?: string;
}

/** A person's review of one hunk. */
export interface HunkReview {
  readonly patchset: string;
  readonly path: string;
  readonly hunk: string;
  /** Absent: a comment alone. */
  readonly verdict?: 'keep' | 'reject';
  readonly comment?: string;
}

/** A run with a change that waits on its own branch until a person has reviewed it. */
export interface HeldRun extends Pick<HeldChange, 'runId' | 'branch' | 'target'> {
  /** Of the plan that it executed. */
  readonly plan: string;
}

/** What a person reviews: it is committed, and no branch of the person's has moved. */
export interface HeldReview extends HeldRun, Pick<HeldChange, 'commit'> {
  readonly patchset: string;
  readonly summary: string;
  /** The run of the remaining hunks after others were rejected. */
  readonly anew?: { readonly runId: string; readonly rejected: readonly string[] };
}

/** A run, and the run that undoes it. */
export interface UndoneRun {
  readonly run: string;
  readonly by: string;
}

export type HeldEnd = 'kept' | 'taken-out' | 'discarded';
