/* The rule `tests-kept`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { type Language, languageOf } from '../../readers/source/language.ts';
import { testsMayGo } from '../../spec/tests-may-go.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { testInventory, withoutCases } from '../test-cases/test-inventory.ts';
import { isOfHelpers, isTestFile } from '../test-cases/test-text.ts';
import { idleNews, newMarks } from '../tests-kept/asserts-less.ts';
import { lostCases } from '../tests-kept/cases-lost.ts';
import { emptiedHelpers, type TestChange } from '../tests-kept/known-helpers.ts';
import { isSetUp, mayStub, stubsIn } from '../tests-kept/stubs.ts';
import { leftToSuite, reportLosses } from '../tests-kept/tell-losses.ts';

/**
 * Compares the test cases of the changed test files as written, base to candidate. Errors, unless the spec allows
 * tests to go: a case that is removed, skipped, emptied, cut short or without effect; removed helpers; a mark that
 * focuses other cases; a stub of assertions. A change that may assert as much as before is only reported. A case
 * moved to another file is not a loss.
 *
 * If the fast stage has a test suite, the suite run decides about most losses (`executed.ts`), and here they are
 * warnings. With `--as-written` they are errors.
 */
export const judge: RuleFunction = (input) => {
  const findings = asWritten(input);
  return input.args.includes('--as-written') ? findings : leftToSuite(findings, input.spec);
};

function asWritten(input: RuleInput): readonly Finding[] {
  const mayGo = testsMayGo(input.spec, input.patch.files, isNamedAsTest);
  const changes = input.patch.files.flatMap((file) => testChange(input, file) ?? []);
  return reportLosses([
    ...lostCases(changes, mayGo),
    ...emptiedHelpers(changes, mayGo),
    ...changes.flatMap((change) => [...newMarks(change, mayGo), ...idleNews(change, changes)]),
    ...input.patch.files.flatMap((file) => stubsIn(input, file)),
  ]);
}

/** If no test file changes and no text can affect assertions, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    const language = languageOfChange(input, file);
    const source = language && isRegularCandidate(file) && candidateSource(input, file, language);
    return (
      [file.oldPath ?? file.path, file.path].every(
        (path) => !isReadAsTest(path, languageOf(path) ?? language),
      ) &&
      (!source || !mayStub(source.text, source.language))
    );
  });

function isReadAsTest(path: string, language: Language | undefined): boolean {
  const isTest = language !== undefined && isTestFile(path, language);
  return isTest || isOfHelpers.test(path) || isSetUp.test(path);
}

function testChange(input: RuleInput, file: PatchFile): TestChange | undefined {
  const oldPath = file.oldPath ?? file.path;
  const before = file.changeType === 'add' || file.changeType === 'copy' ? undefined : languageOf(oldPath);
  const after = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const wasTest = before !== undefined && isTestFile(oldPath, before);
  const isTest = after !== undefined && isTestFile(file.path, after);
  const base = before && (wasTest || isOfHelpers.test(oldPath)) && baseSource(input, file, before);
  const candidate = after && (isTest || isOfHelpers.test(file.path)) && candidateSource(input, file, after);
  if (!base && !candidate) return undefined;
  const read = (source: Exclude<typeof base, '' | false | undefined>, isCounted: boolean) =>
    isCounted ? testInventory(source, source.language) : withoutCases(testInventory(source, source.language));
  return {
    file,
    ...(base ? { base: { ...read(base, wasTest), path: oldPath } } : {}),
    ...(candidate ? { candidate: read(candidate, isTest) } : {}),
  };
}

function isNamedAsTest({ path }: PatchFile): boolean {
  const language = languageOf(path);
  return language !== undefined && language !== 'rust' && isTestFile(path, language);
}
