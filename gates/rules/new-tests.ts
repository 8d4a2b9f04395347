import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { type TestCase, testCases } from '../new-tests/test-cases.ts';
import { isTestFile } from '../new-tests/test-file.ts';
import {
  baseSource,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { languageOf } from '../source/language.ts';

const rule = 'new-tests';

/**
 * A bugfix must add at least one test case in a test file (resolutions, New test for a bugfix). Cases that are skipped, commented out, moved,
 * renamed or only touched are not new: a new case has a name *and* a body that no changed file had at base.
 */
export const judge: RuleFunction = (input) => {
  const { intent, acceptance } = input.spec;
  if (intent.changeType !== 'bugfix' || !acceptance.qualityGates.requireNewTestsWhenBugfix) return [];
  const names = new Map<string, number>();
  const bodies = new Map<string, number>();
  for (const file of input.patch.files) {
    const language = languageOf(file.oldPath ?? file.path);
    if (!language || file.changeType === 'add' || !isTestFile(file.oldPath ?? file.path, language)) continue;
    const source = baseSource(input, file, language);
    for (const one of source ? testCases(source, language) : []) {
      count(names, one.name, 1);
      count(bodies, one.body, 1);
    }
  }
  const changed: string[] = [];
  const candidates: { readonly source: ChangedSource; readonly cases: readonly TestCase[] }[] = [];
  for (const file of input.patch.files) {
    const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
    if (!language || !isTestFile(file.path, language)) continue;
    changed.push(file.path);
    const source = candidateSource(input, file, language);
    if (source) candidates.push({ source, cases: testCases(source, language) });
  }
  // Cases that stand on untouched lines use up their name and body first, so that a copy of one is not taken for it.
  for (const { source, cases } of candidates)
    for (const one of cases) if (!isTouched(source, one)) take(names, bodies, one);
  for (const { source, cases } of candidates) {
    for (const one of cases) if (isTouched(source, one) && !take(names, bodies, one)) return [];
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

function isTouched(source: ChangedSource, one: TestCase): boolean {
  return source.isAdded(one.start);
}

/** Matches a case with one at base, by name or by body; false where there is none: it is new. */
function take(names: Map<string, number>, bodies: Map<string, number>, { name, body }: TestCase): boolean {
  const hasName = (names.get(name) ?? 0) > 0;
  const hasBody = (bodies.get(body) ?? 0) > 0;
  if (hasName) count(names, name, -1);
  if (hasBody) count(bodies, body, -1);
  return hasName || hasBody;
}

function count(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function placeOf(input: RuleInput, changed: readonly string[]): { readonly path?: string } {
  const path = changed[0] ?? input.patch.files[0]?.path;
  return path === undefined ? {} : { path };
}
