/* Runs a passed check again with the policy commit's verification inputs. */
import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { Finding } from '../../../core/interfaces/finding.ts';
import type { EffectiveCheck } from '../../../core/interfaces/intentspec.gen.ts';
import type { ArtifactRecord, CarriedPath, LaidRun, StageName } from '../../../core/interfaces/stage.ts';
import { isBelowTestRoot, testsOfBase } from '../../../readers/source/test-paths.ts';
import { keepSecondRun } from '../../record/evaluation-objects.ts';
import type { Attempt } from '../../state/open-run.ts';
import { isBelow } from '../../state/open-scanners.ts';
import { environmentSign, stopIfSameAtBase } from '../machine-failure.ts';
import { preparedFills } from '../observe/observe-prepare.ts';
import type { OpeningWorkspace, WorkspaceSide } from '../open-workspace.ts';
import { leavesJudging, mixedTree, type PlacedTree } from './policy-inputs.ts';
import { reportedOutcome } from './verification-inputs.ts';

const rule = 'judge-changed';
/** Name of the output of the second run among the artifacts. */
const logName = 'policy-judge-log';
const maxNamed = 10;

/** The result of a run with the policy commit's verification inputs. */
export interface EvaluatedByPolicy {
  readonly findings: readonly Finding[];
  readonly outcome?: CheckOutcome;
  readonly run?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

export interface CheckByPolicy {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  readonly received: readonly CarriedPath[];
  /** Paths carried over from earlier second runs, if any ran. */
  readonly receivedAtPolicy?: readonly CarriedPath[];
}

const nothing: EvaluatedByPolicy = { findings: [], artifacts: [] };

/**
 * Runs a passed check again with the policy commit's verification inputs, if the patch changes them and no person
 * reviews that (rule `judge-changed`). The check fails if this second run fails. It also runs again if an earlier
 * second run left its carried paths different.
 */
export async function evaluateByPolicy(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: CheckByPolicy,
  ran: CheckOutcome,
  run: (side: WorkspaceSide, received: readonly CarriedPath[]) => Promise<CheckOutcome>,
): Promise<EvaluatedByPolicy> {
  if (ran.result === undefined) return nothing;
  const unprepared = attempt.observed?.unprepared[task.check.id] ?? [];
  const brought = unprepared.length > 0 ? preparedFills(unprepared, (await workspace.found()).provided) : [];
  const judge = leavesJudging(attempt) ? await workspace.policyJudge() : undefined;
  const { received, receivedAtPolicy = received } = task;
  const differs = judge !== undefined && JSON.stringify(received) !== JSON.stringify(receivedAtPolicy);
  if (!(judge?.judges(task.check.id) || differs || brought.length > 0)) return nothing;
  const isFailed = ran.findings.some(({ severity }) => severity === 'error');
  if (isFailed) return { findings: neverTolerated(attempt, task), artifacts: [] };
  const { expectedExitCode } = task.check;
  const prepared = brought.map((path) => ({ path }));
  const withPrepared = (one: PlacedTree): PlacedTree => ({
    tree: one.tree,
    laid: [...one.laid, ...prepared],
  });
  let laid = withPrepared(judge ?? { tree: attempt.patch.candidateTree, laid: [] });
  // Builds the base's dependencies in a separate workspace.
  if (brought.length > 0) await (await workspace.base.open([])).close();
  const inputs = attempt.environment.config.workspace.prepare.flatMap((step) => step.inputs);
  const over = ({ tree, laid: paths }: PlacedTree): WorkspaceSide => {
    const isOfPrepare = paths.some(({ path }) => isBelow(path, inputs));
    return workspace.over(tree, brought.length > 0 ? 'base' : isOfPrepare ? 'own' : 'candidate');
  };
  let outcome = await run(over(laid), receivedAtPolicy);
  let told = reportedOutcome(outcome, expectedExitCode);
  if (told === undefined && judge?.apart) {
    // Restoring the product as well would only check the old product with the old inputs. So run again with only the
    // verification inputs restored.
    laid = withPrepared(judge.apart);
    outcome = await run(over(laid), receivedAtPolicy);
    told = reportedOutcome(outcome, expectedExitCode);
  }
  if (told !== undefined && judge?.isSure) {
    // New tests may need what the change adds to the inputs: those of the policy commit decide about the base's tests.
    const { edited, added } = testsOfBase(attempt.patch.files);
    const tests = [...new Set([...edited, ...added])].filter(
      (path) => isBelowTestRoot(path) && !laid.laid.some((one) => one.path === path),
    );
    if (tests.length > 0) {
      const other = {
        tree: await mixedTree(attempt, 'candidate', tests, [], judge.tree),
        laid: [...laid.laid, ...tests.map((path) => ({ path }))],
      };
      const again = await run(over(other), receivedAtPolicy);
      if (reportedOutcome(again, expectedExitCode) === undefined) {
        [laid, outcome, told] = [other, again, undefined];
      }
    }
  }
  const sign = told === undefined ? undefined : environmentSign(task.check, outcome);
  // A limit that ends the check at the base, too, decides nothing about the change.
  if (sign?.kind === 'limit') stopIfSameAtBase(task.check, sign, await run(workspace.base, []));
  const { tree, laid: paths } = laid;
  const { record, log } = await keepSecondRun(attempt, task, outcome, { name: logName, tree, laid: paths });
  return {
    findings: [toFinding(laid, told, attempt.patch.baseCommit === undefined)],
    outcome,
    run: record,
    artifacts: log ? [log] : [],
  };
}

function toFinding({ laid }: PlacedTree, told: string | undefined, isFirst: boolean): Finding {
  const names = laid.map(({ path, parts }) =>
    parts === undefined ? `\`${path}\`` : `\`${path}\` (${parts.map((part) => `\`${part}\``).join(', ')})`,
  );
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  const by = `${names.slice(0, maxNamed).join(', ')}${more} as the policy commit has it`;
  return told === undefined
    ? {
        rule,
        severity: 'note',
        message: `the check also passes with ${by}`,
        detail: { code: 'POLICY_JUDGE_PASSES' },
      }
    : {
        rule,
        severity: 'error',
        message: `the check passes as the change has it, and fails with ${by}: ${told}${isFirst ? '; no commit exists yet: make the first one with `git commit`, and seal the next change' : ''}`,
        detail: { code: 'POLICY_JUDGE_FAILS' },
      };
}

/**
 * The change edits the verification inputs of the comparison with the base, so the failure never counts as an old
 * one.
 */
function neverTolerated(
  { identity: { contract } }: Pick<Attempt, 'identity'>,
  { stage }: CheckByPolicy,
): readonly Finding[] {
  const { maxAllowedRegression } = contract.effective.acceptance.qualityGates;
  if (stage !== 'integration' || maxAllowedRegression === 'none') return [];
  return [
    {
      rule,
      severity: 'error',
      message:
        'the check fails, and the change edits its verification inputs: then an old failure is not tolerated',
      detail: { code: 'POLICY_JUDGE_NOT_ASKED' },
    },
  ];
}
