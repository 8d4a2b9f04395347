import type { Finding } from '../../../core/contract/finding.ts';
import type { CheckRecord, StageRecord } from '../../../core/contract/stage.ts';
import type { CheckFacts, StageCheckInput, StandingFinding } from '../../../core/contract/stage-check.ts';
import type { Attempt } from '../state/attempt.ts';

/** Findings that are told, and characters of the message of each. */
const maxFindings = 2000;
const maxMessage = 500;
/** Octets of the diff. */
export const maxDiffBytes = 8 * 1024 * 1024;

/** What stands at a stage, without the diff: bounded data, of everything that happened in the run before it. Pure. */
export function stageCheckInput(
  { identity: { contract, runId }, patch, box, patchFindings = [] }: StandingAttempt,
  stage: Pick<StageRecord, 'stage' | 'checks' | 'findings'>,
  before: readonly Pick<StageRecord, 'stage' | 'checks' | 'findings'>[],
): StageCheckInput {
  const { digest, baseCommit, baseTree, candidateTree, files } = patch;
  const stages = [...before, stage];
  const found = [
    ...patchFindings.map((one) => toStanding(one, {})),
    ...stages.flatMap((one) => [
      ...one.checks.flatMap((check) =>
        check.findings.map((finding) => toStanding(finding, { stage: one.stage, check: check.id })),
      ),
      ...one.findings.map((finding) => toStanding(finding, { stage: one.stage })),
    ]),
  ];
  const isError = ({ severity }: StandingFinding): boolean => severity === 'error';
  const sorted = [...found.filter(isError), ...found.filter((one) => !isError(one))];
  return {
    runId,
    stage: stage.stage,
    spec: contract.effective,
    patch: {
      digest,
      ...(baseCommit === undefined ? {} : { baseCommit }),
      baseTree,
      candidateTree,
      files: files.map(({ start: _start, end: _end, ...file }) => file),
    },
    checks: stages.flatMap(({ checks }) => checks.map(toFacts)),
    findings: sorted.slice(0, maxFindings),
    omittedFindings: Math.max(0, sorted.length - maxFindings),
    artifacts: box.list().map(({ name, stage, checkId, sha256, sizeBytes, contentType }) => ({
      name,
      stage,
      ...(checkId === undefined ? {} : { checkId }),
      sha256,
      sizeBytes,
      contentType,
    })),
  };
}

/** The diff as text; `undefined` where it is larger than a check is handed. */
export function diffText({ diff }: Attempt['patch']): string | undefined {
  if (diff.length > maxDiffBytes) return undefined;
  return Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength).toString('utf8');
}

type StandingAttempt = Pick<Attempt, 'patch' | 'patchFindings'> & {
  readonly identity: Pick<Attempt['identity'], 'contract' | 'runId'>;
  readonly box: Pick<Attempt['box'], 'list'>;
};

function toStanding(
  { detail: _detail, message, ...finding }: Finding,
  place: Pick<StandingFinding, 'stage' | 'check'>,
): StandingFinding {
  return { ...finding, message: message.slice(0, maxMessage), ...place };
}

function toFacts({ tests, ...check }: CheckRecord): CheckFacts {
  const { id, kind, stage, status, required, fromPolicy, tolerated } = check;
  const { command, expectedExitCode, exitCode, timedOut } = check;
  return {
    id,
    kind,
    stage,
    status,
    required,
    ...(fromPolicy ? { fromPolicy } : {}),
    ...(tolerated ? { tolerated } : {}),
    command,
    expectedExitCode,
    ...(exitCode === undefined ? {} : { exitCode }),
    timedOut,
    ...(tests ? { tests: { passed: tests.passed, failed: tests.failed, skipped: tests.skipped } } : {}),
  };
}
