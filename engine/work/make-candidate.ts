/* Makes the candidate of a run: works on the plan and merges the results. */
import { join } from 'node:path';
import { canonicalize } from '../../core/base/canonical.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import {
  type PartRecord,
  type PartsRecord,
  partContentPath,
  partsPath,
} from '../../store/record/summaries.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { emptyPatch } from '../../workspace/patch/undo.ts';
import { blamedErrors } from '../decide/blame-candidate.ts';
import { decideRun } from '../decide/decide-run.ts';
import { keepReturned, type SettledAttempt } from '../record/attempt-files.ts';
import { type EvaluatedRun, notApprovedYet } from '../record/evaluation-objects.ts';
import { failedOutput, failedTests, failureText, withOutput } from '../record/failure-text.ts';
import { suspectFiles } from '../record/masking.ts';
import type { PlanState } from '../record/plan-state.ts';
import { recordedFile } from '../record/read-run.ts';
import { inParallel } from '../state/machine.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { createRecordCollector } from '../state/record-collector.ts';
import { acceptedWork, treesOf, workBase } from './merge-tasks.ts';
import { replan, returnTasks, startOver, triggerOf } from './plan-work.ts';
import { beginAttempt } from './work-attempt.ts';
import { workPlan } from './work-plan.ts';

/** A candidate to check, or the decision that ended the work before there was one. */
export interface MadeCandidate {
  readonly attempt: Attempt;
  readonly ended?: EvaluatedRun;
}

/**
 * Has the plan worked and merged. The only Task's accepted attempt is the candidate itself: its fast stage is not run
 * twice.
 */
export async function makeCandidate(run: OpenRun, state: PlanState, round: number): Promise<MadeCandidate> {
  try {
    const end = await workPlan(run, state);
    if (end.kind === 'ended') {
      const { attempt, judged } = await end.last.inFull();
      return { attempt, ended: judged };
    }
    const startsFromBase = workBase(run) === run.environment.base.tree;
    if (end.only && round === 1 && startsFromBase) return { attempt: (await end.only.inFull()).attempt };
    const { base } = run.environment;
    const patch =
      end.tree === base.tree ? emptyPatch(base) : await normalisePatch(run.services.scratch, base, end.tree);
    return { attempt: beginAttempt(run, `candidate-${round}`, patch) };
  } catch (fault) {
    if (run.services.settings.signal.aborted || !run.services.wallClockExceeded()) throw fault;
    return endEarly(run, state);
  }
}

/**
 * Ends the run before there is a candidate: the wall clock ran out, or a person cancelled it. That is a decision, not
 * a fault.
 */
export async function endEarly(
  run: OpenRun,
  state: PlanState,
  patch = emptyPatch(run.environment.base),
): Promise<MadeCandidate> {
  const attempt = beginAttempt(run, 'candidate-0', patch);
  const ended = await decideRun(attempt, {
    subject: 'candidate',
    conflicts: [],
    findings: [],
    stages: [],
    dependencies: [],
    before: [],
    human: notApprovedYet(run),
    state,
  });
  return { attempt, ended };
}

/**
 * Returns a failed merged candidate to its Tasks. The Tasks that wrote the refused content start over. If there is
 * none, the last Task continues from the candidate. If a trigger fired, the run replans. `name` is the candidate's
 * name in the record.
 */
export async function returnCandidate(
  attempt: Attempt,
  state: PlanState,
  judged: EvaluatedRun,
  name: string,
): Promise<void> {
  const { findings, stages, input } = judged;
  const guilty = (input.blame?.tasks ?? []).map(({ id }) => id);
  const failure = failureText(findings, stages);
  const output = failedOutput(stages);
  await keepReturned(attempt, judged, name, state.draft);
  const keys =
    guilty.length > 0
      ? guilty
      : [returnTasks(state, attempt.patch.candidateTree, withOutput(failure, output)).key];
  if (guilty.length > 0) {
    const errors = await blamedErrors(attempt, judged, acceptedWork(state));
    for (const key of guilty)
      startOver(state, key, withOutput(failureText(errors.get(key) ?? [], []), output));
  }
  if (judged.decision.next !== 'replan') return;
  const trigger = triggerOf(judged);
  await replan(attempt, state, {
    keys,
    failure,
    failedTests: failedTests(stages),
    ...(trigger === undefined ? {} : { trigger }),
  });
}

/** Diffs that git makes side by side. */
const lanes = 4;

/**
 * Keeps each Task's part of a candidate that will be sealed, so that one part can be reverted alone. Each part starts
 * from the tree before it, as merged. Keeps none if a step may hold a secret that the whole change does not, or if
 * content is not kept. Runs now, because a process that seals elsewhere has only the record.
 */
export async function keepParts(attempt: Attempt, state: PlanState, judged: EvaluatedRun): Promise<void> {
  const { next } = judged.decision;
  if (next !== 'seal' && next !== 'wait-for-approval') return;
  const work = acceptedWork(state);
  const isOfSeveral = new Set(work.map(({ key }) => key)).size > 1;
  if (!isOfSeveral || !attempt.box.keepsContent) return;
  await attempt.services.steps.once('parts', async () => {
    const parts = await makeParts(attempt, work);
    if (parts === undefined) return;
    const content = createRecordCollector(join(attempt.services.directory, 'content'));
    for (const { work: made, patch } of parts)
      await content.put([[partContentPath({ attempt: made.name }), patch.diff]]);
    const record: PartsRecord = {
      schema: 'urn:writ:parts:v1',
      base_tree: attempt.patch.baseTree,
      candidate_tree: attempt.patch.candidateTree,
      parts: parts.map(toRecord),
    };
    await attempt.services.record.put([[partsPath, Buffer.from(`${canonicalize(record)}\n`)]]);
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

/** `undefined` if the parts cannot be computed or must not be kept. */
async function makeParts(
  { services: { scratch }, patch: whole }: Pick<Attempt, 'services' | 'patch'>,
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
