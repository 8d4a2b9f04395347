/* The rule `new-tests`. */
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { languageOf } from '../../readers/source/language.ts';
import { isOfTests } from '../../readers/source/test-paths.ts';
import { type NewCase, newRows, noNewCase, readPatterns, requiresNewTests } from '../new-tests/new-cases.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { readTests } from '../test-cases/test-cases.ts';
import { type InventoryCase, testInventory } from '../test-cases/test-inventory.ts';
import { isTestFile } from '../test-cases/test-text.ts';

const rule = 'new-tests';
const maxListed = 200;

/**
 * A bugfix must add at least one test case in a test file.
 *
 * A new case has a name *and* a body that no changed file had at base. Cases that are skipped, commented out, moved,
 * renamed, only touched, or without assertions are not new. A new row of a table of cases counts, and so does a line
 * with a prefix from `[rules.new-tests] cases`.
 *
 * If the fast stage has a test suite, the suite run decides (`executed.ts`). A change of test files without a visible
 * case then gets a note. With `--cases` the rule returns a note that lists the new cases, at most 200.
 */
export const judge: RuleFunction = (input) => {
  if (!requiresNewTests(input.spec)) return [];
  const patterns = readPatterns(input.options);
  if (typeof patterns === 'string') return [{ rule, severity: 'error', message: patterns }];
  const names = new Set<string>();
  const bodies = new Set<string>();
  for (const file of input.patch.files) {
    const path = file.oldPath ?? file.path;
    const language = languageOf(path);
    if (!language || file.changeType === 'add' || !isTestFile(path, language)) continue;
    const source = baseSource(input, file, language);
    for (const one of source ? readTests(source, language).cases : []) {
      if (one.isIdle) continue;
      if (one.name !== '') names.add(one.name);
      bodies.add(one.body);
    }
  }
  const isNew = ({ isIdle, name, body, saysAnything }: InventoryCase): boolean =>
    !isIdle && !names.has(name) && !bodies.has(body) && saysAnything();
  const changed: string[] = [];
  const isListed = input.args.includes('--cases');
  const fresh: NewCase[] = [];
  for (const file of input.patch.files) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    if (!language || !isTestFile(file.path, language)) continue;
    changed.push(file.path);
    const source = candidateSource(input, file, language);
    const cases = source ? testInventory(source, language).cases : [];
    for (const one of cases) {
      if (!isNew(one) || !source?.isAdded(one.start)) continue;
      if (!isListed) return [];
      fresh.push({ name: one.name, language });
    }
    const before = file.changeType === 'add' ? undefined : baseSource(input, file, language);
    const isAlive = cases.some(({ isIdle }) => !isIdle) || language === 'c' || patterns.length > 0;
    const rows = source && isAlive ? newRows(source, language, before?.text ?? '', patterns) : [];
    if (rows.length > 0 && !isListed) return [];
    fresh.push(...rows);
  }
  if (fresh.length > 0) {
    const message = `the patch adds ${fresh.length} test cases`;
    return [{ rule, severity: 'note', message, detail: { cases: fresh.slice(0, maxListed) } }];
  }
  const place = placeOf(input, changed);
  const testFiles = changed.slice(0, 50);
  if (changed.length === 0 && !input.patch.files.some(({ path }) => isOfTests(path))) {
    const message = 'the contract is for a bugfix, and the patch changes no test file';
    return [{ rule, severity: 'error', message, ...place, detail: { testFiles } }];
  }
  if (input.spec.acceptance.verificationPlan.fastChecks.some(({ kind }) => kind === 'testSuite')) {
    const message = 'the text of the change shows no new test case: the test suite of the fast stage decides';
    return [{ rule, severity: 'note', message, ...place, detail: { code: 'NEW_TEST_UNSEEN', testFiles } }];
  }
  return [{ rule, severity: 'error', message: noNewCase, ...place, detail: { testFiles } }];
};

/** If no test file changes, the rule parses no file. */
export const isLinear = (input: RuleInput): boolean =>
  input.patch.files.every((file) => {
    const oldPath = file.oldPath ?? file.path;
    const [before, after] = [languageOf(oldPath), languageOfChange(input, file)];
    return !(before && isTestFile(oldPath, before)) && !(after && isTestFile(file.path, after));
  });

function placeOf(input: RuleInput, changed: readonly string[]): { readonly path?: string } {
  const path = changed[0] ?? input.patch.files[0]?.path;
  return path === undefined ? {} : { path };
}
