import { canonicalize } from '../../../../core/base/canonical.ts';
import type { CheckOutcome } from '../../../../core/contract/check-runner.ts';
import type { PatchFile } from '../../../../core/contract/patch-set.ts';
import { type TreeLeaf, writeTree } from '../../../vcs/write-tree.ts';
import type { Attempt } from '../../state/attempt.ts';

/** Times, sizes with a unit, fractions, dates, and addresses: they differ between two runs of the same program. */
const varying =
  /\d{1,20}(?:[.,:]\d{1,20}){1,10}(?: ?[a-zµ]{1,3}\b)?|\d{1,20} ?(?:ns|µs|us|ms|s|sec|seconds|min|[kKMG]i?B)\b|\b0x[0-9a-f]{4,20}\b|\b[0-9a-f]{12,64}\b|\d{4}-\d\d-\d\d[T ]?/g;

/** The policy commit's tree with files of the patch laid over it. */
export async function filledTree(
  { means: { scratch } }: Pick<Attempt, 'means'>,
  tree: string,
  files: readonly PatchFile[],
): Promise<string> {
  const leaves = new Map<string, TreeLeaf>();
  for (const { path, newMode, newBlob } of files)
    if (newMode !== undefined && newBlob !== undefined) leaves.set(path, { mode: newMode, object: newBlob });
  return writeTree({ from: scratch, to: scratch }, leaves, tree);
}

/**
 * Whether a check comes to something else with files that were laid over: another exit code, other failed or skipped
 * tests, or a test, a report or a line of output that is gone. What is new does not count: a new package adds lines.
 */
export function changesOutcome(plain: CheckOutcome, filled: CheckOutcome): boolean {
  const [was, is] = [plain, filled].map(comparable) as [Comparable, Comparable];
  if (canonicalize(was.same) !== canonicalize(is.same)) return true;
  const left = new Map<string, number>();
  for (const line of is.lines) left.set(line, (left.get(line) ?? 0) + 1);
  return was.lines.some((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count === 0;
  });
}

interface Comparable {
  readonly same: readonly (number | string | boolean | null)[];
  readonly lines: readonly string[];
}

function comparable({ result, tests, executed, reports }: CheckOutcome): Comparable {
  const lines = (bytes: Uint8Array, place: string): readonly string[] =>
    Buffer.from(bytes)
      .toString('utf8')
      .replace(varying, '#')
      .split('\n')
      .map((line) => `${place}: ${line}`);
  const names = [...(executed?.names ?? [])].map((name) => `test: ${name}`);
  const skipped = [...(executed?.skipped ?? []), ...(executed?.emptyFiles ?? [])].sort();
  const ended = result?.exitCode ?? result?.signal ?? null;
  return {
    same: [ended, result?.timedOut ?? false, tests?.failed ?? -1, tests?.skipped ?? -1, ...skipped],
    lines:
      executed === undefined
        ? [
            ...(result === undefined ? [] : lines(result.combined.bytes, 'output')),
            ...reports.flatMap(({ name, bytes }) => lines(bytes, name)),
          ]
        : [...names, ...reports.map(({ name }) => `report: ${name}`)],
  };
}
