import type { ReplanTrigger } from './intentspec.gen.ts';
import type { StageName } from './stage.ts';

/** A Task before it is an object. Plain data; keys and numbers are stable over resumes and revisions. */
export interface PlannedTask {
  /** `task-1`, `gate-fast`, `gate`: unique in its plan. */
  readonly key: string;
  /** From 1, unique: the order where dependencies leave one open. */
  readonly number: number;
  readonly kind: 'implementation' | 'gate';
  /** `intent.summary`; a gate says what it checks. */
  readonly title: string;
  /** `intent.changeType`, or `gate`. */
  readonly goal: string;
  /** The objectives it covers, verbatim; the check ids of a gate. */
  readonly steps: readonly string[];
  readonly constraints: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  /** Paths, directories and globs that it is expected to write; absent = unknown, resolved at merge. */
  readonly predictedWrites?: readonly string[];
  /** Keys of the Tasks that come before it. */
  readonly dependsOn: readonly string[];
  /** The stages that a gate stands for, in the order they run; empty for an implementation Task. */
  readonly gateStages: readonly StageName[];
}

/** Why a plan follows another one, and what became of its Tasks. */
export interface PlanRevision {
  /** Revision of the plan before. */
  readonly previous: number;
  readonly trigger: ReplanTrigger;
  /** 1 to 4000 characters, for the changeLog entry. */
  readonly diffSummary: string;
  /** Keys of Tasks that stay done. */
  readonly kept: readonly string[];
  /** Keys of Tasks that are planned anew: the failed one and what depends on it. */
  readonly redo: readonly string[];
}

/** The Tasks of a Plan and their order. Never changed: `revisePlan` makes the next one. */
export interface PlanDraft {
  /** From 1. */
  readonly revision: number;
  readonly tasks: readonly PlannedTask[];
  /** Absent in revision 1. */
  readonly revised?: PlanRevision;
}

/** Every dependency as [before, after], by key. */
export function edgesOf({ tasks }: Pick<PlanDraft, 'tasks'>): readonly (readonly [string, string])[] {
  return tasks.flatMap(({ key, dependsOn }) => dependsOn.map((before) => [before, key] as const));
}
