import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { type Language, languageOf } from '../../readers/source/language.ts';
import { asksNewTests } from '../new-tests/asks-new-tests.ts';
import { testCases } from '../new-tests/test-cases.ts';
import { isTestFile } from '../new-tests/test-file.ts';
import {
  baseSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { type InventoryCase, testInventory } from '../tests-kept/test-inventory.ts';

const rule = 'new-tests';
const maxListed = 200;

/**
 * A bugfix must add at least one test case in a test file (resolutions, New test for a bugfix). Cases that are skipped,
 * commented out, moved, renamed, only touched, or that judge nothing are not new: a new case has a name *and* a body
 * that no changed file had at base. Asked with `--cases` it answers a note that names the new ones, the first 200.
 */
export const judge: RuleFunction = (input) => {
  if (!asksNewTests(input.spec)) return [];
  const names = new Set<string>();
  const bodies = new Set<string>();
  for (const file of input.patch.files) {
    const path = file.oldPath ?? file.path;
    const language = languageOf(path);
    if (!language || file.changeType === 'add' || !isTestFile(path, language)) continue;
    const source = baseSource(input, file, language);
    for (const one of source ? testCases(source, language) : []) {
      if (one.name !== '') names.add(one.name);
      bodies.add(one.body);
    }
  }
  const isNew = ({ isIdle, name, body, saysAnything }: InventoryCase): boolean =>
    !isIdle && !names.has(name) && !bodies.has(body) && saysAnything();
  const changed: string[] = [];
  const isListed = input.args.includes('--cases');
  const fresh: { readonly name: string; readonly language: Language }[] = [];
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
  }
  if (fresh.length > 0) {
    const message = `the patch adds ${fresh.length} test cases`;
    return [{ rule, severity: 'note', message, detail: { cases: fresh.slice(0, maxListed) } }];
  }
  const message =
    changed.length === 0
      ? 'the contract is for a bugfix, and the patch changes no test file'
      : 'the contract is for a bugfix, and the patch changes test files without adding a test case';
  return [
    {
      rule,
      severity: 'error',
      message,
      ...placeOf(input, changed),
      detail: { testFiles: changed.slice(0, 50) },
    },
  ];
};

/** Nothing is parsed where no test file changes. */
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
