import type { CheckOutcome } from '../../../core/contract/check-runner.ts';
import type { Finding } from '../../../core/contract/finding.ts';
import type { CheckNetwork } from '../../../core/contract/network-use.ts';
import type { PatchFile, PatchSet } from '../../../core/contract/patch-set.ts';
import type { CheckKind } from '../../../core/contract/stage.ts';
import { testsMayGo } from '../../../core/contract/tests-may-go.ts';
import { redactTexts } from '../../../readers/sensitive/redact-texts.ts';
import { joinNetworks } from '../record/join-networks.ts';
import type { Attempt } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { leftOut, type TestsAsWritten, testsAsWritten } from './tests-as-written.ts';

const rule = 'tests-kept';
const maxNamed = 20;

/** Where tests stand, and what is loaded before them. */
const ofTests =
  /(?:^|\/)(?:__tests__|tests?|specs?|e2e|integration)\/|[._-](?:test|tests|spec)\.|(?:^|\/)(?:test_|conftest\.)|_(?:test|spec)\.|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;
const ofRunners =
  /(?:^|\/)(?:package\.json|Makefile|[Jj]ustfile|\.taprc|\.mocharc[\w.]*|\.env[\w.]*|\.npmrc|[\w.-]*config\.\w+|[\w.-]+\.(?:toml|ini|cfg|xml|gradle|kts|csproj))$|[sS]etup|[hH]elper/;

/** What comparing a suite with the base came to. */
export interface ComparedExecution {
  readonly findings: readonly Finding[];
  /** Of both runs together, where the base ran. */
  readonly network?: CheckNetwork;
  /** What ran there. */
  readonly base?: CheckOutcome;
}

/**
 * Tests are kept as they are executed, too (rule `tests-kept`): a suite that passed is run once at the base, where the
 * patch takes lines from test files or touches what configures runners, or where no test ran in a file that is not new,
 * and may not run fewer tests than there, nor skip one that ran, nor leave out a file. Elsewhere, and where the base
 * gives no report, nothing is compared; the latter is said.
 */
export async function compareExecuted(
  attempt: Attempt,
  kind: CheckKind,
  ran: CheckOutcome,
  runAtBase: () => Promise<CheckOutcome>,
  readWritten = () => testsAsWritten(attempt, (path) => ofTests.test(path)),
): Promise<ComparedExecution> {
  const { patch } = attempt;
  const isPassed = !ran.findings.some(({ severity }) => severity === 'error');
  if (kind !== 'testSuite' || !isPassed || !ran.executed || !ran.tests) return { findings: [] };
  const { comparesAddedLines } = attempt.means.settings;
  const mayLose = mayLoseTests(patch, comparesAddedLines) || oldEmptyFiles(patch, ran).length > 0;
  if (patch.baseCommit === undefined || !mayLose || attempt.means.wallClockExceeded())
    return { findings: [] };
  const base = await runAtBase();
  const networks = [ran.network, base.network].filter((one) => one !== undefined);
  const network = joinNetworks(networks);
  const written = namesGone(ran, base).length > 0 ? await readWritten() : undefined;
  const findings = redactTexts(executedLosses(attempt, ran, base, written), policyOf(attempt));
  return { findings, base, ...(network ? { network } : {}) };
}

/**
 * Whether a change can leave out tests that the base runs, seen from its paths alone: what only adds lines to tests
 * cannot, and costs nothing.
 */
export function mayLoseTests({ files }: Pick<PatchSet, 'files'>, withAddedLines = false): boolean {
  const takes = ({ changeType, linesDeleted, binary }: PatchFile): boolean =>
    (withAddedLines && changeType === 'modify') ||
    linesDeleted > 0 ||
    binary ||
    (changeType !== 'add' && changeType !== 'modify' && changeType !== 'copy');
  return files.some((file) =>
    [file.path, file.oldPath ?? file.path].some(
      (path) => ofRunners.test(path) || (ofTests.test(path) && takes(file)),
    ),
  );
}

/** Whether tests stand in a file, or beside it what only tests use, by its path. */
export function isOfTests(path: string): boolean {
  return ofTests.test(path);
}

/** What the base ran and the candidate does not. Pure. */
export function executedLosses(
  { identity: { contract }, patch }: Pick<Attempt, 'identity' | 'patch'>,
  candidate: CheckOutcome,
  base: CheckOutcome,
  written: TestsAsWritten = { texts: [], renamed: [] },
): readonly Finding[] {
  if (!candidate.tests || !candidate.executed) return [];
  if (!base.tests || !base.executed) {
    const message =
      'executed tests were not compared with the base: the check leaves no report there that can be read';
    return [{ rule, severity: 'note', message, detail: { code: 'TESTS_NOT_COMPARED' } }];
  }
  const was = base.tests.passed + base.tests.failed;
  const is = candidate.tests.passed + candidate.tests.failed;
  const { names, skipped } = candidate.executed;
  const idle = new Set(base.executed.skipped);
  const gone = namesGone(candidate, base);
  const fresh = [...names].filter((name) => !base.executed?.names.has(name));
  const missed = leftOut(gone, fresh, written);
  const left = skipped.filter((name) => base.executed?.names.has(name) && !idle.has(name));
  const emptied = emptiedFiles(patch, candidate, base, gone);
  const mayGo = testsMayGo(contract.effective, patch.files, ({ path }) => ofTests.test(path));
  const changed = patch.files
    .map(({ path, oldPath }) => oldPath ?? path)
    .filter((path) => ofTests.test(path));
  const isAllowed = changed.some((path) => mayGo(path));
  const severity = isAllowed ? 'note' : 'error';
  const findings: Finding[] = [];
  const tell = (code: string, told: Finding['severity'], message: string, tests: readonly string[]): void => {
    const list = tests
      .slice(0, maxNamed)
      .map((name) => `\`${name}\``)
      .join(', ');
    const more = tests.length > maxNamed ? `, and ${tests.length - maxNamed} more` : '';
    const named = list === '' ? '' : `: ${list}${more}`;
    const detail = { code, base: was, candidate: is, count: tests.length, tests: tests.slice(0, maxNamed) };
    findings.push({ rule, severity: told, message: `${message}${named}`, detail });
  };
  if (emptied.length > 0)
    tell('TEST_FILE_NOT_RUN', severity, 'files run no test any more, and did at the base', emptied);
  if (is < was)
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
function namesGone(candidate: CheckOutcome, base: CheckOutcome): readonly string[] {
  const idle = new Set(base.executed?.skipped);
  return [...(base.executed?.names ?? [])].filter(
    (name) => !candidate.executed?.names.has(name) && !idle.has(name),
  );
}

/** Files without a test that the patch did not bring. */
function oldEmptyFiles({ files }: Pick<PatchSet, 'files'>, { executed }: CheckOutcome): readonly string[] {
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
  candidate: CheckOutcome,
  base: CheckOutcome,
  gone: readonly string[],
): readonly string[] {
  const was = base.executed?.emptyFiles ?? [];
  // The lists are cut: which are missing is not known then.
  if (was.length >= maxNamed) return [];
  const changed = new Set(patch.files.map(({ path }) => path));
  const isConfigured = patch.files.some(({ path }) => ofRunners.test(path));
  return oldEmptyFiles(patch, candidate).filter(
    (path) => !was.includes(path) && (gone.length > 0 || !(changed.has(path) || isConfigured)),
  );
}
