import type { AttestRequest } from '../../core/interfaces/sealing.ts';
import type { CheckRecord } from '../../core/interfaces/stage.ts';
import { encodeId } from '../../workspace/git/ref-name.ts';
import { subjectsOf } from './build-provenance.ts';
import { type ResourceDescriptor, type Statement, statementType } from './statement.ts';

/** in-toto test-result 0.1. */
export const testResultType = 'https://in-toto.io/attestation/test-result/v0.1';

/** What a test suite found; `configuration` names the contract that asked for it and the evidence that it left. */
export interface TestResult {
  readonly result: 'PASSED' | 'WARNED' | 'FAILED';
  readonly configuration: readonly ResourceDescriptor[];
  readonly failedTests?: readonly string[];
}

type TestResultStatement = Statement<typeof testResultType, TestResult>;

/**
 * One statement for each check that ran tests, by the check's id. An old failure that the contract tolerates is
 * `WARNED`.
 */
export function buildTestResults(request: AttestRequest): ReadonlyMap<string, TestResultStatement> {
  const checks = request.stages.flatMap((stage) => stage.checks).filter((check) => check.tests !== undefined);
  return new Map(checks.map((check) => [check.id, buildTestResult(request, check)]));
}

/** What is said of a suite by what its check did: its result, and the tests that failed, by name. */
export function outcomeOf(check: Pick<CheckRecord, 'status' | 'tolerated' | 'tests'>): {
  readonly result: TestResult['result'];
  readonly failed: readonly string[];
} {
  const failed = (check.tests?.failedTests ?? []).map(({ name }) => name);
  if (check.status !== 'passed') return { result: check.tolerated ? 'WARNED' : 'FAILED', failed };
  return { result: failed.length > 0 ? 'WARNED' : 'PASSED', failed };
}

function buildTestResult(request: AttestRequest, check: CheckRecord): TestResultStatement {
  const { result, failed } = outcomeOf(check);
  const evidence = request.byproducts.filter(
    ({ name }) => /^evidence\/\d+-(.+)\.json$/.exec(name)?.[1] === encodeId(check.id),
  );
  return {
    _type: statementType,
    subject: subjectsOf(request),
    predicateType: testResultType,
    predicate: {
      result,
      configuration: [
        { name: 'intentspec', digest: { sha256: request.specDigest } },
        ...evidence.map(({ name, digest }) => ({ name, digest })),
      ],
      ...(failed.length === 0 ? {} : { failedTests: failed }),
    },
  };
}
