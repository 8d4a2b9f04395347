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

/** Whether a check came to something else: another exit code, other tests, another report or output. */
export function isOtherOutcome(one: CheckOutcome, other: CheckOutcome): boolean {
  return canonicalize(comparable(one)) !== canonicalize(comparable(other));
}

function comparable({ result, tests, executed, reports }: CheckOutcome): object {
  const { passed, failed, skipped } = tests ?? {};
  const text = (bytes: Uint8Array): readonly string[] =>
    Buffer.from(bytes).toString('utf8').replace(varying, '#').split('\n').sort();
  const isSuite = executed !== undefined;
  return {
    exitCode: result?.exitCode ?? null,
    timedOut: result?.timedOut ?? false,
    counts: [passed ?? -1, failed ?? -1, skipped ?? -1],
    names: [...(executed?.names ?? [])].sort(),
    left: [...(executed?.skipped ?? []), ...(executed?.emptyFiles ?? [])].sort(),
    reports: reports.map(({ name, bytes }) => (isSuite ? [name] : [name, ...text(bytes)])),
    output: isSuite || result === undefined ? [] : text(result.combined.bytes),
  };
}
