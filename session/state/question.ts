/** The kinds of questions to the controller, each with the data that clients show. Members may lack in old threads. */
import type { UseClass } from '../approvals/classify-command.ts';
import type { WrittenChange } from '../approvals/written-change.ts';
import type { GoalCriterion, toGoalView, toNumbers } from './goal.ts';
import type { StepCost } from './usage.ts';
import type { Repair } from './work.ts';

export type Question =
  | { readonly kind: 'approval'; readonly metadata: ApprovalMetadata }
  | { readonly kind: 'sandbox_approval'; readonly metadata: ApprovalMetadata }
  | { readonly kind: 'request_user_input'; readonly metadata: InputMetadata }
  | { readonly kind: 'intent_review_choice'; readonly metadata: DraftMetadata }
  | { readonly kind: 'post_plan_choice'; readonly metadata: PlanMetadata };

/** A tool use that needs approval: what it is, what is proven, and what each option covers. */
export type ApprovalMetadata = {
  readonly tool?: string;
  readonly action?: string;
  /** Key of the task that makes the call, if the plan has several. */
  readonly task?: string;
  /** Of a command; any other use has `subject`. */
  readonly command?: string;
  readonly subject?: string;
  readonly commandLines?: readonly string[];
  /** Arguments of a call of an MCP tool, as JSON; the answer covers the tool with any. */
  readonly arguments?: string;
  readonly change?: WrittenChange;
  readonly cwd?: string;
  readonly branch?: string;
  readonly sandboxPolicyDigest?: string;
  readonly isOutsideSandbox?: boolean;
  readonly reason?: string;
  readonly verdict?: UseClass;
  readonly rule?: string;
  readonly segments?: readonly ShownSegment[];
  readonly moreSegments?: number;
  readonly unproven?: readonly string[];
  readonly isExact?: boolean;
  readonly keyForm?: 'argv' | 'text';
  readonly argv?: readonly string[];
  readonly approvalKey?: string;
  readonly ttlSeconds?: number;
  /** The policy demands a question for each command, so no answer covers all of them. */
  readonly approvalPolicy?: 'untrusted';
  /** What each option covers, by option. */
  readonly reuse?: Readonly<Record<string, string>>;
  /** The option that must be chosen again. */
  readonly needsConfirmation?: string;
};

/** One command of a shell text with its verdict. */
export type ShownSegment = {
  readonly text: string;
  readonly words: readonly { readonly text: string; readonly isKnown?: false }[];
  readonly assigns?: readonly string[];
  readonly verdict: UseClass;
  readonly rule: string;
  readonly why: string;
};

/** Questions of a model, or of writ about a held change, an undo or local changes. */
export type InputMetadata = {
  readonly questions?: readonly AskedQuestion[];
  readonly runId?: string;
  readonly task?: string;
  readonly commit?: string;
  readonly branch?: string;
  readonly target?: string;
  readonly patchset?: string;
  readonly files?: readonly { readonly path: string; readonly changeType: string }[];
  readonly paths?: readonly { readonly path: string; readonly reason: string }[];
};

export interface AskedQuestion {
  readonly id: string;
  readonly prompt: string;
  readonly kind: 'single' | 'text';
  readonly options?: readonly {
    readonly id: string;
    readonly label: string;
    readonly description?: string;
  }[];
  readonly secret?: boolean;
}

/** A drafted spec that waits for confirmation. */
export type DraftMetadata = {
  readonly runId?: string;
  readonly revision?: number;
  readonly digest?: string;
  readonly riskLevel?: string;
  readonly path?: string;
  readonly scope?: readonly string[];
  readonly checks?: readonly string[];
  readonly networkPolicy?: string;
  readonly essence?: DraftEssence;
  readonly repairs?: readonly string[];
  readonly questions?: readonly string[];
  readonly lacks?: readonly string[];
  readonly changes?: readonly string[];
  readonly criteria?: readonly GoalCriterion[];
};

/** The parts of a drafted spec that a person reviews, without the defaults of its risk level. */
export type DraftEssence = {
  readonly problem?: string;
  readonly objectives?: readonly string[];
  readonly acceptedWhen?: readonly string[];
  readonly checks?: readonly { readonly id: string; readonly stage: string; readonly command?: string }[];
  readonly rationale?: string;
  readonly factors?: readonly string[];
  readonly unusual?: readonly string[];
  readonly stricter?: readonly string[];
};

/** A plan that waits for its execution. */
export type PlanMetadata = {
  readonly planId?: string;
  readonly runId?: string;
  readonly revision?: number;
  readonly networkAccess?: 'allow' | 'deny';
  /** Digest of the working tree; the plan can be executed while it is unchanged. */
  readonly workspace?: string;
  /** Ids of the lines. */
  readonly lines?: readonly string[];
  readonly estimates?: readonly StepCost[];
  readonly estimated?: Omit<StepCost, 'line'>;
  readonly estimatedFrom?: number;
  readonly changes?: readonly string[];
  readonly riskLevel?: string;
  readonly scope?: readonly string[];
  readonly stages?: readonly { readonly stage: string; readonly checks: readonly string[] }[];
  readonly notices?: readonly string[];
  readonly unadvised?: string;
  readonly repair?: Repair & { readonly cap: number };
  readonly goal?: Omit<ReturnType<typeof toGoalView>, 'objective'>;
  readonly grants?: ReturnType<typeof toNumbers>;
  /** Why the goal is blocked. */
  readonly stopped?: string;
};

export function isApproval<Asked extends Pick<Question, 'kind'>>(
  asked: Asked,
): asked is Asked & { readonly kind: 'approval' | 'sandbox_approval' } {
  return asked.kind === 'approval' || asked.kind === 'sandbox_approval';
}

export function questionsOf(asked: Question): readonly AskedQuestion[] {
  return asked.kind === 'request_user_input' ? (asked.metadata.questions ?? []) : [];
}
