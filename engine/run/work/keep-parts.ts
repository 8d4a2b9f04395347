import { join } from 'node:path';
import { canonicalize } from '../../../core/base/canonical.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import { type PartRecord, type PartsRecord, partContentPath, partsPath } from '../../store/record/parts.ts';
import { describeObjects } from '../../vcs/blobs.ts';
import type { JudgedRun } from '../record/judged-run.ts';
import { suspectFiles } from '../record/mask-patch.ts';
import type { PlanState } from '../record/plan-state.ts';
import { recordedFile } from '../record/recorded-file.ts';
import type { SettledAttempt } from '../record/settled-attempt.ts';
import type { Attempt } from '../state/attempt.ts';
import { inParallel } from '../state/in-parallel.ts';
import { createRecordBox } from '../state/record-box.ts';
import { acceptedWork } from './accepted-work.ts';
import { treesOf } from './merge-tasks.ts';

/** Diffs that git makes side by side. */
const lanes = 4;

/**
 * Keeps what each Task of a candidate changed that is to be sealed, so that one of several can be taken back alone: as
 * it was merged, each from what stood before it. Nothing of it where one step may hold a secret that the change itself
 * does not, or where content is not kept. Done while the work is at hand: who seals it elsewhere has the record alone.
 */
export async function keepParts(attempt: Attempt, state: PlanState, judged: JudgedRun): Promise<void> {
  const { next } = judged.decision;
  if (next !== 'seal' && next !== 'wait-for-approval') return;
  const work = acceptedWork(state);
  const isOfSeveral = new Set(work.map(({ key }) => key)).size > 1;
  if (!isOfSeveral || !attempt.box.keepsContent) return;
  await attempt.means.steps.once('parts', async () => {
    const parts = await makeParts(attempt, work);
    if (parts === undefined) return;
    const content = createRecordBox(join(attempt.means.directory, 'content'));
    for (const { work: made, patch } of parts)
      await content.put([[partContentPath({ attempt: made.name }), patch.diff]]);
    const record: PartsRecord = {
      schema: 'urn:writ:parts:v1',
      base_tree: attempt.patch.baseTree,
      candidate_tree: attempt.patch.candidateTree,
      parts: parts.map(toRecord),
    };
    await attempt.means.record.put([[partsPath, Buffer.from(`${canonicalize(record)}\n`)]]);
  });
}

interface Part {
  readonly work: SettledAttempt;
  readonly patch: PatchSet;
}

function toRecord({ work, patch }: Part): PartRecord {
  return {
    task: work.key,
    attempt: work.name,
    base_tree: patch.baseTree,
    candidate_tree: patch.candidateTree,
    digest: patch.digest,
    size_bytes: patch.diff.byteLength,
    files: patch.files.map((file) => recordedFile(file)),
  };
}

/** `undefined` where they cannot be told, or not kept. */
async function makeParts(
  { means: { scratch }, patch: whole }: Pick<Attempt, 'means' | 'patch'>,
  work: readonly SettledAttempt[],
): Promise<readonly Part[] | undefined> {
  // A run that waited is sealed elsewhere with its candidate alone.
  const needed = [...new Set(work.flatMap(({ baseTree, tree }) => [baseTree, tree]))];
  if ((await describeObjects(scratch, needed)).some((found) => found?.type !== 'tree')) return undefined;
  const trees = await treesOf(scratch, whole.baseTree, work);
  if (trees?.at(-1) !== whole.candidateTree) return undefined;
  const steps = work.flatMap((one, at) => {
    const [before = '', after = ''] = [at === 0 ? whole.baseTree : trees[at - 1], trees[at]];
    return before === after ? [] : [{ work: one, before, after }];
  });
  const parts = await inParallel(steps, lanes, async ({ work: one, before, after }) => {
    const base = { commit: whole.baseCommit, tree: before };
    return { work: one, patch: await normalisePatch(scratch, base, after) };
  });
  const sealed = new Set(whole.files.map(({ newBlob }) => newBlob));
  const isSafe = parts.every(({ patch }) =>
    [...suspectFiles(patch)].every(({ newBlob }) => newBlob === undefined || sealed.has(newBlob)),
  );
  return isSafe ? parts : undefined;
}
