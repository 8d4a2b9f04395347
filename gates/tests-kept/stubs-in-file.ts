import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleInput } from '../../core/contract/rule.ts';
import type { Language } from '../../readers/source/language.ts';
import {
  baseSource,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { readTests } from '../test-cases/test-cases.ts';
import { isTestFile } from '../test-cases/test-file.ts';
import { assertionStubs, mayStub } from './assertion-stubs.ts';
import { shadowsTestLibrary } from './shadowing-path.ts';
import type { ToldLoss } from './tell-losses.ts';

/** Places of a changed file that newly keep assertions from judging. */
export function stubsIn(input: RuleInput, file: PatchFile): readonly ToldLoss[] {
  const { path } = file;
  if (file.changeType === 'delete') return [];
  const stubbed = (place: object): ToldLoss => ({
    code: 'ASSERTIONS_STUBBED',
    severity: 'error',
    path,
    ...place,
  });
  if (shadowsTestLibrary(path)) return [stubbed({})];
  const language = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const source = language && candidateSource(input, file, language);
  if (!source || !language) return [];
  const isTest = isOfTests(path, language, source) || isSetUp.test(path);
  if (!isTest && !mayStub(source.text, language)) return [];
  const was = baseSource(input, file, language)?.text;
  const find = (text: string): readonly number[] => {
    const { code } = readTests({ ...source, text }, language);
    return assertionStubs(code, text, language, { isTest, ...(was === undefined ? {} : { before: was }) });
  };
  const now = find(source.text);
  const more = now.length - (was === undefined || now.length === 0 ? 0 : find(was).length);
  return now
    .filter((at) => source.isAdded(at))
    .slice(0, Math.max(0, more))
    .map((at) => stubbed(source.positionOf(at)));
}

/** Files that tests load before they run. */
export const isSetUp =
  /(?:^|\/)(?:conftest\.py|(?:test|spec|jest|vitest|mocha|karma|rails)?[._-]?(?:setup|set-up|set_up|helper|bootstrap)[\w-]{0,20}(?:\.[\w-]{1,20}){1,3})$/i;

/** Rust keeps tests beside the code. */
function isOfTests(path: string, language: Language, source: ChangedSource): boolean {
  if (language !== 'rust') return isTestFile(path, language);
  return /(?:^|\/)(?:tests|benches)\//.test(path) || readTests(source, language).cases.length > 0;
}
