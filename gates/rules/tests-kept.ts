import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { testsMayGo } from '../../core/plan/tests-may-go.ts';
import { readTests } from '../new-tests/test-cases.ts';
import { isTestFile } from '../new-tests/test-file.ts';
import {
  baseSource,
  type ChangedSource,
  candidateSource,
  isRegularCandidate,
  languageOfChange,
} from '../source/changed-source.ts';
import { type Language, languageOf } from '../source/language.ts';
import { assertionStubs } from '../tests-kept/assertion-stubs.ts';
import { judgeCase } from '../tests-kept/judge-case.ts';
import { matchCases } from '../tests-kept/match-cases.ts';
import { shadowsTestLibrary } from '../tests-kept/shadowing-path.ts';
import { nameOf, type ToldLoss, tellLosses } from '../tests-kept/tell-losses.ts';
import { type TestInventory, testInventory } from '../tests-kept/test-inventory.ts';

/** A changed file of tests, as it was and as it is. */
interface TestChange {
  readonly file: PatchFile;
  readonly base?: TestInventory;
  readonly candidate?: TestInventory;
}

/**
 * Tests are kept (resolutions): the cases of the changed test files, base to candidate, as they are written. A case that is gone, skipped,
 * emptied or cut short, a mark that focuses others and a stub of assertions are errors, unless the contract says that tests may go; a new
 * name alone is told. A case that moved to another file is no loss.
 */
export const judge: RuleFunction = (input) => {
  const mayGo = testsMayGo(input.spec, input.patch.files, isNamedAsTest);
  const changes = input.patch.files.flatMap((file) => testChange(input, file) ?? []);
  return tellLosses([
    ...lostCases(changes, mayGo),
    ...changes.flatMap((change) => [...marksOf(change, mayGo), ...idleNews(change, changes)]),
    ...input.patch.files.flatMap((file) => stubsIn(input, file)),
  ]);
};

type MayGo = ReturnType<typeof testsMayGo>;

function testChange(input: RuleInput, file: PatchFile): TestChange | undefined {
  const oldPath = file.oldPath ?? file.path;
  const before = file.changeType === 'add' || file.changeType === 'copy' ? undefined : languageOf(oldPath);
  const after = isRegularCandidate(file) ? languageOfChange(input, file) : undefined;
  const base = before && isTestFile(oldPath, before) && baseSource(input, file, before);
  const candidate = after && isTestFile(file.path, after) && candidateSource(input, file, after);
  if (!base && !candidate) return undefined;
  return {
    file,
    ...(base && before ? { base: { ...testInventory(base, before), path: oldPath } } : {}),
    ...(candidate && after ? { candidate: testInventory(candidate, after) } : {}),
  };
}

function lostCases(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  const newPaths = new Map(changes.map(({ file }) => [file.oldPath ?? file.path, file.path]));
  const base = changes.flatMap(({ base }) =>
    (base?.cases ?? []).map((one) => ({ ...one, path: base?.path ?? one.path })),
  );
  const candidate = changes.flatMap((change) => change.candidate?.cases ?? []);
  const ran = base.filter((one) => !one.isIdle && one.saysAnything());
  const ways = matchCases(ran, candidate, newPaths);
  return ways.flatMap((matched): ToldLoss[] => {
    const code = judgeCase(matched);
    if (code === undefined) return [];
    const { base: was, candidate: is } = matched;
    const name = nameOf(was);
    return [
      {
        code,
        severity: code === 'TEST_RENAMED' || mayGo(was.path, name) ? 'note' : 'error',
        path: is?.path ?? was.path,
        ...(is ? is.source.positionOf(is.start) : {}),
        name,
        ...(is && code === 'TEST_RENAMED' ? { now: nameOf(is) } : {}),
      },
    ];
  });
}

/** Marks beside the cases: on a group, on the file, in a hook; and marks by which only some run. */
function marksOf({ base, candidate }: TestChange, mayGo: MayGo): readonly ToldLoss[] {
  if (!candidate) return [];
  const { path, source, code } = candidate;
  const severity = mayGo(path) ? 'note' : 'error';
  const gained = (was: readonly number[], is: readonly number[]): readonly number[] =>
    is.length > was.length ? is.filter((at) => source.isAdded(at)).slice(0, is.length - was.length) : [];
  const told = (kind: ToldLoss['code'], at: number): ToldLoss => {
    return { code: kind, severity, path, ...source.positionOf(firstWord(code, at)) };
  };
  const skips = base && base.cases.length > 0 ? gained(base.skips, candidate.skips) : [];
  return [
    ...skips.map((at) => told('TEST_MAY_BE_SKIPPED', at)),
    ...gained(base?.focuses ?? [], candidate.focuses).map((at) => told('TEST_FOCUSED', at)),
  ];
}

function firstWord(code: string, at: number): number {
  return at + Math.max(0, code.slice(at, at + 80).search(/[^\s;{,(]/));
}

/** New cases that run nothing: no loss, but no gain either. */
function idleNews({ candidate }: TestChange, changes: readonly TestChange[]): readonly ToldLoss[] {
  if (!candidate) return [];
  const old = new Set(changes.flatMap(({ base }) => (base?.cases ?? []).map(({ name }) => name)));
  const { path, source } = candidate;
  return candidate.cases
    .filter(({ isIdle, name, start }) => isIdle && !old.has(name) && source.isAdded(start))
    .map((one) => ({
      code: 'NEW_TEST_IDLE',
      severity: 'note',
      path,
      ...source.positionOf(one.start),
      name: nameOf(one),
    }));
}

function stubsIn(input: RuleInput, file: PatchFile): readonly ToldLoss[] {
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
  const was = sourceBefore(input, file, language);
  const isTest = isOfTests(path, language, source) || isSetUp.test(path);
  const find = (text: string): readonly number[] =>
    assertionStubs(readTests({ ...source, text }, language).code, text, language, {
      isTest,
      ...(was === undefined ? {} : { before: was }),
    });
  const now = find(source.text);
  const more = now.length - (was === undefined || now.length === 0 ? 0 : find(was).length);
  return now
    .filter((at) => source.isAdded(at))
    .slice(0, Math.max(0, more))
    .map((at) => stubbed(source.positionOf(at)));
}

/** Files that tests load before they run. */
const isSetUp =
  /(?:^|\/)(?:conftest\.py|(?:test|spec|jest|vitest|mocha|karma|rails)?[._-]?(?:setup|set-up|set_up|helper|bootstrap)[\w-]{0,20}(?:\.[\w-]{1,20}){1,3})$/i;

/** Rust keeps tests beside the code. */
function isOfTests(path: string, language: Language, source: ChangedSource): boolean {
  if (language !== 'rust') return isTestFile(path, language);
  return /(?:^|\/)(?:tests|benches)\//.test(path) || readTests(source, language).cases.length > 0;
}

function isNamedAsTest({ path }: PatchFile): boolean {
  const language = languageOf(path);
  return language !== undefined && language !== 'rust' && isTestFile(path, language);
}

function sourceBefore(input: RuleInput, file: PatchFile, language: Language): string | undefined {
  return baseSource(input, file, language)?.text;
}
