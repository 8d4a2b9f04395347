import { judgeCase, toldLosses } from './judge-case.ts';
import { matchCases } from './match-cases.ts';
import { mergedCases } from './merged-cases.ts';
import { nameOf, type ToldLoss } from './tell-losses.ts';
import { knownHelpers, type MayGo, type TestChange } from './test-change.ts';

/** What became of the cases that ran at the base. */
export function lostCases(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  const newPaths = new Map(changes.map(({ file }) => [file.oldPath ?? file.path, file.path]));
  const base = changes.flatMap(({ base }) =>
    (base?.cases ?? []).map((one) => ({ ...one, path: base?.path ?? one.path })),
  );
  const candidate = changes.flatMap((change) => change.candidate?.cases ?? []);
  const ran = base.filter((one) => !one.isIdle && one.saysAnything());
  const ways = matchCases(ran, candidate, newPaths);
  const helpers = knownHelpers(changes);
  const merged = mergedCases(ways, changes);
  return ways.flatMap((matched): ToldLoss[] => {
    const found = judgeCase(matched, helpers);
    const code = found === 'TEST_GONE' && merged.has(matched.base) ? 'TEST_MERGED' : found;
    if (code === undefined) return [];
    const { base: was, candidate: is } = matched;
    const name = nameOf(was);
    return [
      {
        code,
        severity: toldLosses.has(code) || mayGo(was.path, name) ? 'note' : 'error',
        path: is?.path ?? was.path,
        ...(is ? is.source.positionOf(is.start) : {}),
        name,
        ...(is && code === 'TEST_RENAMED' ? { now: nameOf(is) } : {}),
      },
    ];
  });
}
