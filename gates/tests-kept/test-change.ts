import type { Severity } from '../../core/contract/finding.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { InventoryCase, TestInventory } from '../test-cases/test-inventory.ts';
import { judgingNames, namesFromHelpers } from './judging-names.ts';

/** A changed file of tests, as it was and as it is. */
export interface TestChange {
  readonly file: PatchFile;
  readonly base?: TestInventory;
  readonly candidate?: TestInventory;
}

/** Whether the contract lets tests go from a path. */
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
  /** Another changed test file says the name. */
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

/** Names of the functions of a file that judge. */
export function judgingOf(side: TestInventory): ReadonlySet<string> {
  return judgingNames(side.helpers(), ({ at, end }) =>
    calledWithin(side.code.slice(at, Math.min(end, at + 5_000))),
  );
}

function calledWithin(body: string): ReadonlySet<string> {
  return new Set(
    [...body.slice(1).matchAll(/\b([A-Za-z_]\w{0,79})[!?]?\s*[( ]/g)].slice(1).map(([, name = '']) => name),
  );
}
