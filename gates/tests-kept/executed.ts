import type {
  Executed,
  ExecutedAnswer,
  ExecutedCheck,
  ExecutedRule,
} from '../../core/contract/executed-rule.ts';
import type { Finding } from '../../core/contract/finding.ts';
import { testsMayGo } from '../../core/contract/tests-may-go.ts';
import { isOfTests } from '../../readers/source/test-paths.ts';
import { changedData, rerunBaseTests } from '../test-cases/base-tests.ts';
import { executedLosses, namesGone } from './executed-losses.ts';
import { compareExpectations, type TestText } from './expectations.ts';
import { hasFastSuite, isLeftToSuite, isOfSuite, keyOf, ranAt, testsAsWritten } from './written-tests.ts';

/**
 * Tests are kept as they are executed, too: a check that passed may not run fewer tests than at the base, nor skip one
 * that ran there, nor leave out a file; and the candidate has to pass the base's tests, with the data that they read,
 * or the change says why not. Each suite is compared: a product can make tests vanish without a change of any test.
 * What a suite did at the base is usually known from the change before. What the text of the change says of losses is
 * an error unless a suite of the fast stage shows that nothing is lost.
 */
export const executed: ExecutedRule = {
  async judgeCheck(one: ExecutedCheck): Promise<ExecutedAnswer> {
    const { check, ran, patch } = one;
    const data = changedData(one);
    const written = patch.files.some(isOfSuite) ? await one.ask(['--as-written']) : [];
    const doubted = check.kind === 'testSuite' ? written.filter(isLeftToSuite) : [];
    if (!isCompared(one)) return {};
    const base = await one.rerun({ tree: 'base' });
    if (base === undefined) return {};
    const findings: Finding[] = [];
    if (check.kind === 'command') {
      if (!base.executed) return {};
      findings.push(namesSuite(base.executed.counts.passed + base.executed.counts.failed));
    }
    const gone = ran.executed && base.executed ? namesGone(ran.executed, base.executed) : [];
    const texts = gone.length > 0 ? await testsAsWritten(one, written) : undefined;
    findings.push(...executedLosses(one, ran.executed ?? nothing, base.executed, texts));
    if (!base.executed || findings.some(({ severity }) => severity === 'error')) return { findings };
    const compared = await askBaseTests(one, base, data);
    findings.push(...(compared ?? []));
    const isKept = doubted.length > 0 && ran.executed !== undefined && compared && findings.length === 0;
    if (!isKept) return { findings };
    return { findings, note: await ranAt(one, base.executed, doubted) };
  },

  async judgeStage({ stage, spec, patch, checks, notes, ask }) {
    if (stage !== 'fast' || !hasFastSuite(spec) || !patch.files.some(isOfSuite)) return [];
    if (checks.some(({ findings }) => findings.some(isLoss))) return [];
    const kept = new Set([...notes.values()].flatMap((note) => note as readonly string[]));
    return (await ask(['--as-written'])).filter((one) => isLeftToSuite(one) && !kept.has(keyOf(one)));
  },
};

function isLoss({ rule, severity }: Finding): boolean {
  return rule === 'tests-kept' && severity === 'error';
}

const nothing = { counts: { passed: 0, failed: 0, skipped: 0 }, names: new Set<string>(), skipped: [] };

/** Words of commands that print what they test: if such a command is silent, a product may have ended it. */
const namesRunner =
  /\b(?:tap|jest|mocha|vitest|ava|prove|bats|tox|pytest|ctest|rspec|phpunit)\b|(?:^|\s)--test\b|\b(?:npm|pnpm|yarn|bun|go|cargo|dotnet|deno|mix|swift|make)\s(?:run\s)?(?:test|check)\b/;

function isCompared({ check, ran, patch }: ExecutedCheck): boolean {
  if (patch.baseCommit === undefined) return false;
  if (ran.executed !== undefined) return true;
  const isSilent = ran.result?.combined.totalBytes === 0;
  return check.kind === 'command' && isSilent && namesRunner.test(check.command ?? '');
}

function namesSuite(count: number): Finding {
  return {
    rule: 'tests-kept',
    severity: 'warning',
    message: `its output at the base is a report of ${count} test${count === 1 ? '' : 's'}, and a check of kind \`command\` judges by the exit code alone: use kind \`testSuite\``,
    detail: { code: 'REPORT_NOT_JUDGED' },
  };
}

/**
 * Runs the check once more on the candidate with the base's versions of changed test files, and of data that they read:
 * what fails there is what the change expects otherwise. `undefined` if that was not compared.
 */
async function askBaseTests(
  one: ExecutedCheck,
  base: Executed,
  data: readonly string[],
): Promise<readonly Finding[] | undefined> {
  const { spec, patch, isForGoal } = one;
  const laid = await rerunBaseTests(one);
  if (laid === undefined) return undefined;
  const mayGo = testsMayGo(spec, patch.files, ({ path }) => isOfTests(path));
  return compareExpectations({
    base,
    laid,
    texts: await textsOf(one, data),
    mayGo,
    isForGoal,
  });
}

/** All changed test files, new ones too: a case may have moved to one. */
async function textsOf(one: ExecutedCheck, data: readonly string[]): Promise<readonly TestText[]> {
  const isWanted = (path: string): boolean => isOfTests(path) || data.includes(path);
  const files = one.patch.files.filter(
    ({ path, oldPath = path, binary }) => !binary && (isWanted(path) || isWanted(oldPath)),
  );
  const old = files.filter(({ changeType }) => changeType !== 'add' && changeType !== 'copy');
  const base = await one.readTexts(
    'base',
    old.map(({ path, oldPath = path }) => oldPath),
  );
  const candidate = await one.readTexts(
    'candidate',
    files.map(({ path }) => path),
  );
  return files.map(({ path, oldPath = path, changeType }) => {
    const before = changeType === 'add' || changeType === 'copy' ? undefined : base.get(oldPath);
    const after = candidate.get(path);
    return {
      path: oldPath,
      ...(before === undefined ? {} : { base: before }),
      ...(after === undefined ? {} : { candidate: after }),
    };
  });
}
