import type { CheckOutcome, ExecutedTests } from '../../core/contract/check-runner.ts';
import type { ExecutedCheck } from '../../core/contract/executed-rule.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { PatchSet } from '../../core/contract/patch-set.ts';
import { testsMayGo } from '../../core/contract/tests-may-go.ts';
import { isOfRunners, isOfTests } from '../../readers/source/test-paths.ts';
import { asksForRemoval, executedLoss } from './tell-losses.ts';
import { leftOut, mergedAmong, type TestsAsWritten } from './written-tests.ts';

const rule = 'tests-kept';
const maxNamed = 20;

/** What the base ran and the candidate does not. Pure. */
export function executedLosses(
  { spec, patch }: Pick<ExecutedCheck, 'spec' | 'patch'>,
  candidate: ExecutedTests,
  base: ExecutedTests | undefined,
  written: TestsAsWritten = { texts: [], renamed: [], merged: [] },
): readonly Finding[] {
  if (!base) {
    const message =
      'executed tests were not compared with the base: the check leaves no report there that can be read';
    return [{ rule, severity: 'note', message, detail: { code: 'TESTS_NOT_COMPARED' } }];
  }
  const [was, is] = [base, candidate].map(({ counts }) => counts.passed + counts.failed) as [number, number];
  const idle = new Set(base.skipped);
  const gone = namesGone(candidate, base);
  const fresh = [...candidate.names].filter((name) => !base.names.has(name));
  const merged = mergedAmong(gone, written);
  const missed = leftOut(gone, fresh, written);
  const left = candidate.skipped.filter((name) => base.names.has(name) && !idle.has(name));
  const emptied = emptiedFiles(patch, candidate, base, gone);
  const mayGo = testsMayGo(spec, patch.files, ({ path }) => isOfTests(path));
  const changed = patch.files.map(({ path, oldPath }) => oldPath ?? path).filter(isOfTests);
  const isNamed = (name: string): boolean => name.split(/ > | › |::/).some((part) => mayGo('', part));
  const isAllowed = changed.some((path) => mayGo(path)) || (gone.length > 0 && gone.every(isNamed));
  const severity = isAllowed ? 'note' : 'error';
  const findings: Finding[] = [];
  const tell = (code: string, told: Finding['severity'], message: string, tests: readonly string[]): void => {
    const asks = told === 'error' ? asksForRemoval : '';
    findings.push(executedLoss(code, told, message, tests, asks, { base: was, candidate: is }));
  };
  if (emptied.length > 0)
    tell('TEST_FILE_NOT_RUN', severity, 'files run no test any more, and did at the base', emptied);
  if (is < was - merged.length)
    tell('TESTS_NOT_RUN', severity, `${was} tests ran at the base, and ${is} of the candidate`, gone);
  else if (missed.length > 0)
    tell('TESTS_NOT_RUN', severity, `${missed.length} tests of the base are written and run no more`, missed);
  else if (gone.length > 0)
    tell(
      'TESTS_RENAMED',
      'note',
      `names of ${gone.length} tests of the base are not reported any more`,
      gone,
    );
  if (left.length > 0)
    tell('TESTS_NOW_SKIPPED', severity, `${left.length} tests that the base runs are skipped`, left);
  return findings;
}

/** Names that ran at the base and that the candidate does not report. */
export function namesGone(candidate: ExecutedTests, base: ExecutedTests): readonly string[] {
  const idle = new Set(base.skipped);
  return [...base.names].filter((name) => !candidate.names.has(name) && !idle.has(name));
}

/** Files without a test that the patch did not bring. */
export function oldEmptyFiles(
  { files }: Pick<PatchSet, 'files'>,
  executed: CheckOutcome['executed'],
): readonly string[] {
  const isNew = new Set(
    files.filter(({ changeType }) => changeType === 'add' || changeType === 'copy').map(({ path }) => path),
  );
  const empty = executed?.emptyFiles ?? [];
  return empty.length < maxNamed ? empty.filter((path) => !isNew.has(path)) : empty;
}

/**
 * Of those, the ones that ran tests at the base. A changed file may have given its tests to another, where all names of
 * the base are still reported; so may one that only another configuration collects.
 */
function emptiedFiles(
  patch: Pick<PatchSet, 'files'>,
  candidate: ExecutedTests,
  base: ExecutedTests,
  gone: readonly string[],
): readonly string[] {
  const was = base.emptyFiles ?? [];
  // The lists are cut: which are missing is not known then.
  if (was.length >= maxNamed) return [];
  const changed = new Set(patch.files.map(({ path }) => path));
  const isConfigured = patch.files.some(({ path }) => isOfRunners(path));
  return oldEmptyFiles(patch, candidate).filter(
    (path) => !was.includes(path) && (gone.length > 0 || !(changed.has(path) || isConfigured)),
  );
}
