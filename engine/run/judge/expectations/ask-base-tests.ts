import { isWritError } from '../../../../core/base/errors.ts';
import type { CheckOutcome } from '../../../../core/contract/check-runner.ts';
import type { Finding } from '../../../../core/contract/finding.ts';
import type { ArtifactRecord, LaidRun } from '../../../../core/contract/stage.ts';
import { testsMayGo } from '../../../../core/contract/tests-may-go.ts';
import { redactTexts } from '../../../../readers/sensitive/redact-texts.ts';
import { readBlobs } from '../../../vcs/blobs.ts';
import { writeTree } from '../../../vcs/write-tree.ts';
import { keepLaidRun } from '../../record/keep-laid-run.ts';
import type { Attempt } from '../../state/attempt.ts';
import { policyOf } from '../../state/attempt-policy.ts';
import { isOfTests } from '../compare-executed.ts';
import type { OpeningWorkspace, WorkspaceSide } from '../open-workspace.ts';
import type { JudgedCheck } from '../second-run/judge-by-policy.ts';
import { baseTests } from './base-tests.ts';
import { compareExpectations, type TestText } from './compare-expectations.ts';

/** Name of the output of that run among the artifacts. */
const logName = 'base-tests-log';
const maxTextBytes = 32 * 1024 * 1024;

/** What the base's tests say of the candidate. */
export interface AskedBaseTests {
  readonly findings: readonly Finding[];
  readonly outcome?: CheckOutcome;
  readonly run?: LaidRun;
  readonly artifacts: readonly ArtifactRecord[];
}

/**
 * Runs a suite that passed, and that ran at the base, once more on the candidate with the base's versions of changed
 * test files (rule `tests-kept`): what fails there is what the change expects otherwise. Where no test file lost a line
 * nothing is run.
 */
export async function askBaseTests(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: JudgedCheck,
  base: CheckOutcome,
  run: (side: WorkspaceSide) => Promise<CheckOutcome>,
): Promise<AskedBaseTests> {
  const {
    identity: { contract },
    means: { scratch },
    patch,
  } = attempt;
  const leaves = baseTests(patch.files, attempt.means.settings.comparesAddedLines);
  if (leaves.size === 0 || attempt.means.wallClockExceeded()) return { findings: [], artifacts: [] };
  const tree = await writeTree({ from: scratch, to: scratch }, leaves, patch.candidateTree);
  const laid = await run(workspace.over(tree));
  const { record, log } = await keepLaidRun(attempt, task, laid, {
    name: logName,
    tree,
    laid: [...leaves.keys()].map((path) => ({ path })),
  });
  const mayGo = testsMayGo(contract.effective, patch.files, ({ path }) => isOfTests(path));
  const findings = compareExpectations({ base, laid, texts: await textsOf(attempt), mayGo });
  return {
    findings: redactTexts(findings, policyOf(attempt)),
    outcome: laid,
    run: record,
    artifacts: log ? [log] : [],
  };
}

/** All changed test files, new ones too: a case may have moved to one. */
async function textsOf({
  means: { scratch },
  patch,
}: Pick<Attempt, 'means' | 'patch'>): Promise<readonly TestText[]> {
  const files = patch.files.filter(
    ({ path, oldPath = path, binary }) => !binary && (isOfTests(path) || isOfTests(oldPath)),
  );
  const was = files.filter(({ changeType }) => changeType !== 'add' && changeType !== 'copy');
  const read = (tree: string, paths: readonly string[]): Promise<ReadonlyMap<string, Buffer>> =>
    readBlobs(scratch, tree, paths, maxTextBytes).catch((fault: unknown) => {
      // Whether cases of such files assert less is not told then; that they fail is.
      if (isWritError(fault, 'INPUT_TOO_LARGE')) return new Map();
      throw fault;
    });
  const [base, candidate] = await Promise.all([
    read(
      patch.baseTree,
      was.map(({ path, oldPath = path }) => oldPath),
    ),
    read(
      patch.candidateTree,
      files.map(({ path }) => path),
    ),
  ]);
  return files.map(({ path, oldPath = path, changeType }) => {
    const before = changeType === 'add' || changeType === 'copy' ? undefined : base.get(oldPath);
    const after = candidate.get(path);
    return {
      path: oldPath,
      ...(before ? { base: before.toString('utf8') } : {}),
      ...(after ? { candidate: after.toString('utf8') } : {}),
    };
  });
}
