import { leavesOutElsewhere } from '../test-cases/conditions.ts';
import { type MayGo, severityOf, type TestChange } from './known-helpers.ts';
import { nameOf, type ToldLoss } from './tell-losses.ts';

/** Marks beside the cases: on a group, on the file, in a hook; and marks by which only some run. */
export function newMarks({ base, candidate }: TestChange, mayGo: MayGo): readonly ToldLoss[] {
  if (!candidate) return [];
  const { path, source, code } = candidate;
  const severity = severityOf(mayGo, path);
  const gained = (was: readonly number[], is: readonly number[]): readonly number[] =>
    is.length > was.length ? is.filter((at) => source.isAdded(at)).slice(0, is.length - was.length) : [];
  const told = (kind: ToldLoss['code'], at: number): ToldLoss => ({
    code: kind,
    severity: kind === 'TEST_SKIPPED_ELSEWHERE' ? 'note' : severity,
    path,
    ...source.positionOf(firstWord(code, at)),
  });
  const skips = base && base.cases.length > 0 ? gained(base.skips, candidate.skips) : [];
  return [
    ...skips.map((at) =>
      told(
        leavesOutElsewhere(source.text, firstWord(code, at), source.language, candidate.outline)
          ? 'TEST_SKIPPED_ELSEWHERE'
          : 'TEST_MAY_BE_SKIPPED',
        at,
      ),
    ),
    ...gained(base?.focuses ?? [], candidate.focuses).map((at) => told('TEST_FOCUSED', at)),
  ];
}

function firstWord(code: string, at: number): number {
  return at + Math.max(0, code.slice(at, at + 80).search(/[^\s;{,(]/));
}

/** New cases that run nothing: no loss, but no gain either. */
export function idleNews({ candidate }: TestChange, changes: readonly TestChange[]): readonly ToldLoss[] {
  if (!candidate) return [];
  const old = new Set(changes.flatMap(({ base }) => (base?.cases ?? []).map(({ name }) => name)));
  const { path, source } = candidate;
  return candidate.cases
    .filter((one) => (one.isIdle || !one.saysAnything()) && !old.has(one.name) && source.isAdded(one.start))
    .map((one) => ({
      code: 'NEW_TEST_IDLE',
      severity: 'note',
      path,
      ...source.positionOf(one.start),
      name: nameOf(one),
    }));
}
