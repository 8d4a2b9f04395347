import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import type { ArtifactRecord, CarriedPath, LaidRun } from '../../../core/contract/stage.ts';
import { joinNetworks } from '../record/join-networks.ts';
import type { Attempt } from '../state/attempt.ts';
import { compareExecuted } from './compare-executed.ts';
import { askBaseTests } from './expectations/ask-base-tests.ts';
import type { OpeningWorkspace, WorkspaceSide } from './open-workspace.ts';
import { type JudgedCheck, judgeByPolicy } from './second-run/judge-by-policy.ts';

/** What running a check again, elsewhere, adds to what it did in the candidate. */
export interface AskedFurther {
  /** Members of its outcome that are others now. */
  readonly outcome: Pick<CheckOutcome, 'findings' | 'network' | 'tools'>;
  readonly atPolicy?: LaidRun;
  readonly withBaseTests?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

/** What another run is handed, and whether anybody comes after it. */
export interface OtherRun {
  readonly received: readonly CarriedPath[];
  readonly handsOn?: boolean;
}

/**
 * Runs a check that passed in other worlds as well, where the change gives reason to: at the base, for tests that run
 * no more; with the base's tests; by the judge of the policy commit, where the change brings its own.
 */
export async function askFurther(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: JudgedCheck,
  ran: CheckOutcome,
  ask: (side: WorkspaceSide, other: OtherRun) => Promise<CheckOutcome>,
): Promise<AskedFurther> {
  // What candidates hand on must not speak for the base.
  const lost = await compareExecuted(attempt, task.check.kind, ran, () =>
    ask(workspace.base, { received: [], handsOn: false }),
  );
  const isKept = !lost.findings.some(({ severity }) => severity === 'error');
  const { base } = lost;
  const tests =
    isKept && base?.tests && base.executed
      ? await askBaseTests(attempt, workspace, task, base, (side) =>
          ask(side, { received: task.received, handsOn: false }),
        )
      : undefined;
  const second = await judgeByPolicy(attempt, workspace, task, ran, (side, received) =>
    ask(side, { received }),
  );
  const others = [tests?.outcome, second.outcome];
  const networks = [lost.network ?? ran.network, ...others.map((one) => one?.network)];
  const network = joinNetworks(networks.filter((one) => one !== undefined));
  const tools = [ran, ...others].flatMap((one) => one?.tools ?? []);
  return {
    outcome: {
      findings: [...ran.findings, ...lost.findings, ...(tests?.findings ?? []), ...second.findings],
      ...(network ? { network } : {}),
      ...(tools.length === 0 ? {} : { tools }),
    },
    ...(second.run ? { atPolicy: second.run } : {}),
    ...(tests?.run ? { withBaseTests: tests.run } : {}),
    artifacts: [...(tests?.artifacts ?? []), ...second.artifacts],
  };
}
