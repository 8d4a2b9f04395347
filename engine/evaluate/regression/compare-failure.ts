import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { CheckBaseline, CheckRecord } from '../../../core/interfaces/stage.ts';

type Failure = NonNullable<CheckBaseline['failure']>;

const maxNamed = 20;
/**
 * Codes that a failed test leaves. Any other code (no report, no test, a broken report) does not indicate a failed
 * test.
 */
const ofTests: readonly unknown[] = ['CHECK_EXIT_CODE', 'TESTS_FAILED', 'TEST_FAILED'];

/** Returns whether a run at the base can explain a failed check: it ran to its end and failed as tests fail. */
export function canBeOldFailure({ status, kind, timedOut, exitCode, findings }: CheckRecord): boolean {
  if (status !== 'failed' || kind === 'policy' || timedOut || exitCode === undefined) return false;
  const codes = findings.filter(({ severity }) => severity === 'error').map(({ detail }) => detail?.code);
  return codes.length > 0 && codes.every((code) => ofTests.includes(code));
}

/**
 * Distinguishes a regression from an old failure by one run at the base. An old failure has the same exit code at the
 * base. For a suite, each failed test must also fail at the base at least as often. A result that cannot be compared
 * is `unknown`, which is never tolerated. Pure.
 */
export function compareFailure(candidate: CheckRecord, base: CheckOutcome): Failure {
  const unlike = unknownOf(base);
  if (unlike !== undefined) return { outcome: 'unknown', reason: unlike };
  const baseCodes = codesOf(base);
  if (baseCodes.length === 0) return { outcome: 'regression', reason: 'it passes at the base' };
  if (!baseCodes.every((code) => ofTests.includes(code)))
    return {
      outcome: 'unknown',
      reason: `at the base it fails for another reason (${baseCodes.join(', ')})`,
    };
  const { exitCode } = candidate;
  if (base.result?.exitCode !== exitCode) {
    const reason = `it ends with exit code ${exitCode}, and with ${base.result?.exitCode} at the base`;
    return { outcome: 'regression', reason };
  }
  if (candidate.kind !== 'testSuite')
    return { outcome: 'old-failure', reason: `it ends with exit code ${exitCode} at the base too` };
  return compareTests(candidate.tests, base.tests);
}

function compareTests(candidate: CheckRecord['tests'], base: CheckOutcome['tests']): Failure {
  if (!candidate || !base) return { outcome: 'unknown', reason: 'there are not two test reports to compare' };
  const old = new Map<string, number>();
  for (const { name } of base.failedTests ?? []) old.set(name, (old.get(name) ?? 0) + 1);
  const named = candidate.failedTests ?? [];
  const added = named.filter(({ name }) => {
    const left = old.get(name) ?? 0;
    old.set(name, left - 1);
    return left <= 0;
  });
  if (added.length > 0) {
    const count = added.length === 1 ? '1 test fails' : `${added.length} tests fail`;
    const newFailures = added.slice(0, maxNamed).map(({ name }) => name);
    return { outcome: 'regression', reason: `${count} that did not fail at the base`, newFailures };
  }
  const areAllNamed = named.length === candidate.failed && (base.failedTests?.length ?? 0) === base.failed;
  if (!areAllNamed) return { outcome: 'unknown', reason: 'more tests failed than are named' };
  const count = named.length === 1 ? 'the test that fails' : `all ${named.length} tests that fail`;
  return { outcome: 'old-failure', reason: `${count} failed at the base too` };
}

/** Returns why the run at the base cannot be compared. */
function unknownOf({ result, findings }: CheckOutcome): string | undefined {
  if (!result) return 'it did not run at the base';
  if (result.timedOut || result.aborted || result.exceeded) return 'it was ended at the base';
  if (result.exitCode === undefined) return 'a signal ended it at the base';
  if (result.exitCode === 126 || result.exitCode === 127) return 'its command is not there at the base';
  return findings.some(({ detail }) => detail?.code === 'WORKSPACE_DEPENDENCIES_MISSING')
    ? 'what it depends on is not there at the base'
    : undefined;
}

function codesOf({ findings }: CheckOutcome): readonly string[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [...new Set(errors.map(({ rule, detail }) => String(detail?.code ?? rule)))];
}
