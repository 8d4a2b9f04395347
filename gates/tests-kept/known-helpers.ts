/* Knows which helper functions of tests assert. */
import type { Severity } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { Language } from '../../readers/source/language.ts';
import { isOfHelpers } from '../../readers/source/test-paths.ts';
import type { InventoryCase, TestInventory } from '../test-cases/test-inventory.ts';
import { bindingsOf, type HelperFunction, resolveFrom, testLibrary } from '../test-cases/test-text.ts';
import type { ReportedLoss } from './tell-losses.ts';

/** A changed file of tests, as it was and as it is. */
export interface TestChange {
  readonly file: PatchFile;
  readonly base?: TestInventory;
  readonly candidate?: TestInventory;
}

/** Whether the spec lets tests go from a path. */
export type MayGo = (path: string, name?: string) => boolean;

export function severityOf(mayGo: MayGo, path: string, name?: string): Severity {
  return mayGo(path, name) ? 'note' : 'error';
}

/** What is known of the functions that cases call. */
export interface KnownHelpers {
  /** A function that asserts is called: a changed file shows it. */
  judges(one: InventoryCase): boolean;
  /** A function is called that `before` did not call, from a file of helpers that is not seen. */
  mayJudge(one: InventoryCase, before: InventoryCase): boolean;
  /** Whether another changed test file contains the name. */
  isNamed(name: string, path: string): boolean;
}

/** Reads the functions of all changed test files. */
export function knownHelpers(changes: readonly TestChange[]): KnownHelpers {
  const sides = changes.flatMap(({ candidate }) => (candidate ? [candidate] : []));
  const own = new Map(sides.map((side) => [side.path, judgingOf(side)]));
  const all = new Set([...own.values()].flatMap((names) => [...names]));
  const defined = new Set(sides.flatMap((side) => side.helpers().map(({ name }) => name)));
  const taken = new Map(
    sides.map(({ path, source, code }) => [path, namesFromHelpers(path, source.text, code, source.language)]),
  );
  return {
    isNamed: (name, path) =>
      sides.some((side) => side.path !== path && new RegExp(`\\b${name}\\b`).test(side.code)),
    judges(one) {
      const names = own.get(one.path) ?? new Set();
      const from =
        one.language === 'javascript' || one.language === 'python' ? taken.get(one.path) : undefined;
      return [...one.called()].some(
        (name) => names.has(name) || (all.has(name) && (from === undefined || from.has(name))),
      );
    },
    mayJudge(one, before) {
      const was = before.called();
      const from = taken.get(one.path) ?? new Set();
      return [...one.called()].some((name) => from.has(name) && !was.has(name) && !defined.has(name));
    },
  };
}

/** Names of the asserting functions of a file. */
function judgingOf(side: TestInventory): ReadonlySet<string> {
  return judgingNames(side.helpers(), ({ at, end }) =>
    calledWithin(side.code.slice(at, Math.min(end, at + 5_000))),
  );
}

function calledWithin(body: string): ReadonlySet<string> {
  return new Set(
    [...body.slice(1).matchAll(/\b([A-Za-z_]\w{0,79})[!?]?\s*[( ]/g)].slice(1).map(([, name = '']) => name),
  );
}

/**
 * Names of asserting functions: they assert, or call one that does. `calls` returns the functions that a function
 * calls.
 */
function judgingNames(
  helpers: readonly HelperFunction[],
  calls: (helper: HelperFunction) => ReadonlySet<string>,
): ReadonlySet<string> {
  const judging = new Set(helpers.filter(({ assertions }) => assertions > 0).map(({ name }) => name));
  const others = helpers.filter(({ name }) => !judging.has(name)).slice(0, 500);
  for (let round = 0, before = -1; round < 5 && before !== judging.size; round += 1) {
    before = judging.size;
    for (const helper of others)
      if ([...calls(helper)].some((name) => judging.has(name))) judging.add(helper.name);
  }
  return judging;
}

/** Names that a test file imports from helper files outside the change: they may assert. */
export function namesFromHelpers(
  path: string,
  text: string,
  code: string,
  language: Language,
): ReadonlySet<string> {
  if (language === 'javascript')
    return new Set(
      bindingsOf(text, code)
        .filter(
          ({ module }) =>
            !testLibrary.test(module) &&
            isOfTests(module.startsWith('.') ? resolveFrom(path, module) : module),
        )
        .map(({ name }) => name),
    );
  if (language === 'python')
    return new Set(
      [...code.matchAll(/^[ \t]*from\s+([\w.]{1,200})\s+import\s+(?:\(([^()]{0,1000})\)|([^\n]{1,500}))/gm)]
        .filter(([, module = '']) => module.startsWith('.') || isOfTests(module.replaceAll('.', '/')))
        .flatMap((match) =>
          (match[2] ?? match[3] ?? '').split(',').map((one) => /(\w+)\s*$/.exec(one)?.[1] ?? ''),
        ),
    );
  // A function of the same package that receives `t`.
  if (language === 'go')
    return new Set([...code.matchAll(/(?<![\w.])([a-z]\w{0,79})\(t,/g)].map(([, name = '']) => name));
  return new Set();
}

function isOfTests(path: string): boolean {
  return /(?:^|\/)(?:__tests__|tests?|specs?|conftest|e2e)(?:\/|$)/i.test(path) || isOfHelpers(`${path}.x`);
}

/**
 * Functions of test files that asserted at the base and still exist, but no longer assert. A test that calls one
 * asserts less.
 */
export function emptiedHelpers(changes: readonly TestChange[], mayGo: MayGo): readonly ReportedLoss[] {
  return changes.flatMap(({ base, candidate }): ReportedLoss[] => {
    if (!base || !candidate) return [];
    const was = byName(base.helpers());
    if (was.size === 0) return [];
    const is = byName(candidate.helpers());
    const judging = judgingOf(candidate);
    const { path, source, code } = candidate;
    const unseen = namesFromHelpers(path, source.text, code, source.language);
    return [...was].flatMap(([name, before]): ReportedLoss[] => {
      const now = is.get(name);
      if (before.assertions === 0 || !now || judging.has(name)) return [];
      const body = code.slice(now.at, Math.min(now.end, now.at + 5_000));
      const isKnown =
        before.strong > 0 &&
        ![...unseen].some((one) => !is.has(one) && new RegExp(`\\b${one}\\b`).test(body));
      return [
        {
          code: 'HELPER_EMPTIED',
          severity: isKnown ? severityOf(mayGo, path, name) : 'note',
          path,
          ...source.positionOf(now.at + Math.max(0, code.slice(now.at, now.at + 200).search(/\S/))),
          name,
        },
      ];
    });
  });
}

/** Functions of one name together. */
function byName(helpers: readonly HelperFunction[]): ReadonlyMap<string, HelperFunction> {
  const found = new Map<string, HelperFunction>();
  for (const one of helpers) {
    const known = found.get(one.name);
    found.set(
      one.name,
      known
        ? { ...known, assertions: known.assertions + one.assertions, strong: known.strong + one.strong }
        : one,
    );
  }
  return found;
}
