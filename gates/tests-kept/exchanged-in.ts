import type { RuleInput } from '../../core/contract/rule.ts';
import { candidateSource, isRegularCandidate, languageOfChange } from '../source/changed-source.ts';
import { withoutEnding } from '../test-cases/library-bindings.ts';
import { readTests } from '../test-cases/test-cases.ts';
import { exchangedLibrary, type ReadText } from './exchanged-library.ts';
import type { ToldLoss } from './tell-losses.ts';
import { type MayGo, severityOf, type TestChange } from './test-change.ts';

/**
 * Where a test file takes from elsewhere what it took from a test library at the base: an error where that is seen to
 * be hollow.
 */
export function exchangedIn(
  input: RuleInput,
  changes: readonly TestChange[],
  mayGo: MayGo,
): readonly ToldLoss[] {
  let known: ReadonlyMap<string, ReadText> | undefined;
  return changes.flatMap(({ base, candidate }): ToldLoss[] => {
    if (!base || !candidate) return [];
    known ??= modules(input);
    const { path, source, code } = candidate;
    const sides = [
      { path: base.path, text: base.source.text, code: base.code },
      { path, text: source.text, code },
    ] as const;
    return exchangedLibrary(...sides, source.language, known).map(({ at, isHollow }) => ({
      code: isHollow ? 'ASSERTIONS_STUBBED' : 'TEST_LIBRARY_EXCHANGED',
      severity: isHollow ? severityOf(mayGo, path) : 'note',
      path,
      ...source.positionOf(at),
    }));
  });
}

/** Changed files of JavaScript by their path without ending. */
function modules(input: RuleInput): ReadonlyMap<string, ReadText> {
  const found = new Map<string, ReadText>();
  for (const file of input.patch.files) {
    if (!isRegularCandidate(file) || languageOfChange(input, file) !== 'javascript') continue;
    const source = candidateSource(input, file, 'javascript');
    if (source?.whole)
      found.set(withoutEnding(file.path), {
        path: file.path,
        text: source.text,
        code: readTests(source, 'javascript').code,
      });
  }
  return found;
}
