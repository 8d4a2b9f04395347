/* Makes the candidate of a run from the work on its plan, and finds the Tasks to blame if it is refused. */
import { join } from 'node:path';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { StageRecord } from '../../core/interfaces/stage.ts';
import { toJson } from '../../store/record/record-paths.ts';
import {
  type PartRecord,
  type PartsRecord,
  partContentPath,
  partShape,
  partsPath,
} from '../../store/record/summaries.ts';
import { toStored } from '../../store/shape.ts';
import { parseObject } from '../../store/stored-object.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { emptyPatch } from '../../workspace/patch/undo.ts';
import { blame, type Part, placedErrors, toBlame } from '../decide/blame.ts';
import { decideRun } from '../decide/decide-run.ts';
import { keepReturned, type SettledAttempt } from '../record/attempt-files.ts';
import type { DecisionInput } from '../record/decision-input.ts';
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
    await attempt.services.record.put([[partsPath, toJson(record)]]);
  });
}

interface MadePart {
  readonly work: SettledAttempt;
  readonly patch: PatchSet;
}

function toRecord({ work, patch }: MadePart): PartRecord {
  return toStored(partShape, {
    ...patch,
    task: work.key,
    attempt: work.name,
    sizeBytes: patch.diff.byteLength,
    files: patch.files.map((file) => recordedFile(file)),
  });
}

/** `undefined` if the parts cannot be computed or must not be kept. */
async function makeParts(
  { services: { scratch }, patch: whole }: Pick<Attempt, 'services' | 'patch'>,
  work: readonly SettledAttempt[],
): Promise<readonly MadePart[] | undefined> {
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

/** What was found about a candidate of Tasks' work. */
interface Refused {
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
}

/**
 * Who wrote the files that a candidate was refused for, out of the recorded patchsets of the attempts it was merged
 * from; `undefined` where it was refused for no file.
 */
export async function blameCandidate(
  { services: { record }, identity: { contract } }: Pick<Attempt, 'services' | 'identity'>,
  refused: Refused,
  merged: readonly Pick<SettledAttempt, 'name' | 'key' | 'attempt' | 'revision'>[],
  revision: number,
): Promise<DecisionInput['blame']> {
  const errors = placedErrors(refused);
  if (errors.length === 0) return undefined;
  const parts = await readParts(record, merged);
  const { maxRetries } = contract.effective.execution.retry;
  return toBlame(errors, parts, (key) => {
    const last = merged.findLast((one) => one.key === key);
    // A new revision of the plan resets the count.
    return { attempt: last?.revision === revision ? last.attempt : 1, maxRetries };
  });
}

/** Returns the same errors in full, by the key of the Task that receives them. */
export async function blamedErrors(
  { services: { record } }: Pick<Attempt, 'services'>,
  refused: Refused,
  merged: readonly { readonly name: string; readonly key: string }[],
): Promise<ReadonlyMap<string, readonly Finding[]>> {
  const { tasks } = blame(placedErrors(refused), await readParts(record, merged));
  return new Map(tasks.map(({ key, found }) => [key, found]));
}

async function readParts(
  record: Attempt['services']['record'],
  merged: readonly { readonly name: string; readonly key: string }[],
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const { name, key } of merged)
    parts.push({
      name,
      key,
      files: parseObject('patchset', await record.read(`${name}/patchset.json`)).files,
    });
  return parts;
}
