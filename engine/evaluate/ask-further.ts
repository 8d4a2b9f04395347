import type { CheckOutcome } from '../../core/interfaces/check.ts';
import type { ArtifactRecord, CarriedPath, LaidRun } from '../../core/interfaces/stage.ts';
import { joinNetworks } from '../record/judgement-objects.ts';
import type { Attempt } from '../state/open-run.ts';
import { judgeExecuted } from './executed-rules.ts';
import type { OpeningWorkspace, WorkspaceSide } from './open-workspace.ts';
import { type JudgedCheck, judgeByPolicy } from './second-run/judge-by-policy.ts';

/** What running a check again, elsewhere, adds to what it did in the candidate. */
export interface AskedFurther {
  /** Members of its outcome that are others now. */
  readonly outcome: Pick<CheckOutcome, 'findings' | 'network' | 'tools'>;
  readonly atPolicy?: LaidRun;
  readonly withBaseTests?: LaidRun;
  readonly onBaseProduct?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

/** Carried paths that another run receives, and whether a later check receives its output. */
export interface OtherRun {
  readonly received: readonly CarriedPath[];
  readonly handsOn?: boolean;
}

/**
 * Runs a passed check again in other workspaces if the change requires it. One reason is a rule that compares
 * executions. The other is a change to verification inputs: the check then runs with those of the policy commit.
 */
export async function askFurther(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: JudgedCheck,
  ran: CheckOutcome,
  ask: (side: WorkspaceSide, other: OtherRun) => Promise<CheckOutcome>,
): Promise<AskedFurther> {
  // Paths carried over from candidates must not influence a run on the base.
  const { findings, outcomes, artifacts, ...records } = await judgeExecuted(
    attempt,
    workspace,
    task,
    ran,
    (side) => ask(side, { received: side === workspace.base ? [] : task.received, handsOn: false }),
  );
  const second = await judgeByPolicy(attempt, workspace, task, ran, (side, received) =>
    ask(side, { received }),
  );
  const all = [ran, ...outcomes, ...(second.outcome ? [second.outcome] : [])];
  const network = joinNetworks(all.flatMap((one) => one.network ?? []));
  const tools = all.flatMap((one) => one.tools ?? []);
  return {
    outcome: {
      findings: [...ran.findings, ...findings, ...second.findings],
      ...(network ? { network } : {}),
      ...(tools.length === 0 ? {} : { tools }),
    },
    ...(second.run ? { atPolicy: second.run } : {}),
    ...records,
    artifacts: [...artifacts, ...second.artifacts],
  };
}
