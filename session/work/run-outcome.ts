/** Finds runs, and reports what they came to. */
import { canonicalDigest } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { failedTests } from '../../engine/record/failure-text.ts';
import { readRun } from '../../engine/record/read-run.ts';
import { unheldTarget } from '../../engine/seal/move-target.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { findRun } from '../../store/record/list-records.ts';
import type { RunStore } from '../../store/stores.ts';
import { sealedWords } from '../../workspace/git/commit-log.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { outcomeTitles, tokenWords, usdWords } from '../screen/words.ts';
import { heldQuestion } from '../state/questions.ts';
import type { Used } from '../state/usage.ts';
import type { HeldReview, HeldRun, RunOutcome } from '../state/work.ts';
import type { MadePlan } from './plan-step.ts';
import { patchOfRun, toChanges } from './to-changes.ts';
import type { OpenWorkSetting, StepEnd, TurnScope } from './turn-scope.ts';

/** A run and its store; `undefined` if it has no record. */
export async function findRunOf(
  { setting }: { readonly setting: Pick<OpenWorkSetting, 'repositoryPath' | 'engine' | 'clock'> },
  wanted: string,
): Promise<{ readonly view: RunView; readonly store: RunStore } | undefined> {
  const repository = await openRepository(setting.repositoryPath);
  try {
    const { store, runId } = await findRun(setting.engine.slots.store, repository, setting.clock, wanted);
    return { view: await readRun(repository, store, runId), store };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND')) return undefined;
    throw fault;
  }
}

/** The spec of a run, from its record. RUN_NOT_FOUND. */
export async function contractOf(scope: Pick<TurnScope, 'setting'>, runId: string): Promise<Buffer> {
  const found = await findRunOf(scope, runId);
  const bytes = await found?.store.objects.read(found.store.refs.run(runId), 'spec.json');
  if (bytes === undefined) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
  return bytes;
}

/**
 * Whether a commit was sealed by this run, under this spec, on this base. A record may come from a remote, and undo
 * trusts its files and checks. INTENTSPEC_MALFORMED.
 */
export async function isSealedBy(
  repository: Repository,
  { runId, baseCommit, decision }: Pick<RunView, 'runId' | 'baseCommit' | 'decision'>,
  specBytes: Uint8Array,
): Promise<boolean> {
  const { value } = parseStrictJson(specBytes, { code: 'INTENTSPEC_MALFORMED' });
  const sealed = await sealedWords(repository, decision?.commitSha ?? '');
  return (
    sealed.runId === runId &&
    sealed.specDigest === canonicalDigest(value) &&
    sealed.parents.join() === (baseCommit ?? '')
  );
}

/** A run that is to begin. */
interface Beginning {
  readonly repository: Repository;
  readonly runId: string;
  readonly specBytes: Uint8Array;
  readonly plan: Pick<MadePlan, 'id'>;
}

/** Where the change of a run is held for review; `undefined` if reviews are off. */
export async function holdRun(
  { state }: Pick<TurnScope, 'state'>,
  { repository, runId, specBytes, plan }: Beginning,
): Promise<HeldRun | undefined> {
  const read = state().settings.review === 'on' ? readIntentSpec(specBytes) : undefined;
  // No run begins with an unreadable spec.
  if (read?.ok !== true) return undefined;
  const target = await unheldTarget(repository, read.effective.metadata.target.baseRef, runId);
  return { runId, branch: `refs/heads/writ/review-${runId}`, target, plan: plan.id };
}

/** Whether the change of this run is made, and waits for a person. */
export function isHeldRun({ state }: Pick<TurnScope, 'state'>, { runId, decision }: RunView): boolean {
  return decision?.type === 'commit' && state().heldRun?.runId === runId;
}

/** Holds a finished change and prompts for its review. */
export async function holdStep(scope: TurnScope, view: RunView): Promise<StepEnd> {
  const { heldRun: run } = scope.state();
  const { decision, patch, baseCommit, spec } = view;
  if (run === undefined || decision?.commitSha === undefined || patch === undefined)
    throw new TypeError('a change is held that there is not');
  const { ref, expected } = run.target;
  const review: HeldReview = {
    ...run,
    // A branch that there was is moved from what the change was made on.
    target: { ref, expected: expected === undefined ? undefined : baseCommit },
    commit: decision.commitSha,
    patchset: patch.digest,
    summary: spec.summary,
  };
  await scope.emit({ type: 'review-began', review });
  return promptForHeld(scope, review);
}

export async function promptForHeld({ emit }: Pick<TurnScope, 'emit'>, held: HeldReview): Promise<'waits'> {
  await emit({ type: 'ask', ...heldQuestion(held) });
  return 'waits';
}

/** Reports the outcome of a run as a note with data. */
export async function reportOutcome(
  { emit, newId, state }: Pick<TurnScope, 'emit' | 'newId' | 'state'>,
  view: RunView,
): Promise<void> {
  const outcome = outcomeOf({ state }, view);
  const title = outcomeTitles[outcome.decision];
  await emit({ type: 'noted', id: newId(), title, text: sentenceOf(outcome), outcome });
}

function outcomeOf({ state }: Pick<TurnScope, 'state'>, view: RunView): RunOutcome {
  const { runId, decision, waiting } = view;
  const why = decision?.rationale ?? 'nothing was decided';
  const isHeld = waiting === undefined && isHeldRun({ state }, view);
  const { commitSha } = decision ?? {};
  const review = state().heldRun?.runId === runId ? ', then `/review`' : '';
  return {
    runId,
    decision: isHeld ? 'held' : waiting === undefined ? (decision?.type ?? 'none') : 'waiting',
    why:
      waiting?.for === 'approval'
        ? `waits for ${waiting.needed} to approve: \`writ approve ${runId}\`, then \`writ resume ${runId}\`${review}`
        : waiting === undefined
          ? isHeld
            ? `${why}; held until you have reviewed it`
            : why
          : `waits: ${why}`,
    ...(commitSha === undefined ? {} : { commit: commitSha }),
  };
}

function sentenceOf({ runId, decision, why, commit }: RunOutcome): string {
  if (decision === 'waiting') return `run ${runId} ${why}`;
  const verify = decision === 'commit' ? ` \`writ verify ${runId}\`,` : '';
  return `run ${runId}:${commit === undefined ? '' : ` ${commit}`} ${why};${verify} \`writ show ${runId}\``;
}

/** Reports the patch of a run, if it changes anything. A commit that is held is still proposed. */
export async function reportPatch(scope: TurnScope, view: RunView): Promise<void> {
  const { patch, decision, waiting, runId } = view;
  if (patch === undefined || patch.files.length === 0) return;
  const isOpen = waiting !== undefined || isHeldRun(scope, view);
  await scope.emit({
    type: 'patched',
    patchset: {
      id: patch.digest,
      status: isOpen ? 'proposed' : decision?.type === 'commit' ? 'accepted' : 'rejected',
      changes: toChanges(patch.files, await patchOfRun(scope.setting.engine, scope.setting, runId)),
    },
    isWhole: true,
  });
}

/** Reports the patch and the outcome of a run over an existing patch; returns the run. */
export async function reportPatchRun(scope: TurnScope, view: RunView): Promise<RunView> {
  await reportPatch(scope, view);
  await reportOutcome(scope, view);
  return view;
}

/** Tests that are named, and characters of a name. */
const [most, mostCharacters] = [5, 200];

interface Masking {
  readonly setting: { readonly approval: Pick<TurnScope['setting']['approval'], 'mask'> };
}

/** The names of what failed in a run, one a line. */
export function failedWords(scope: Masking, { stages }: Pick<RunView, 'stages'>): readonly string[] {
  return namesOf(scope, stages, 'failed: ');
}

/** What a session has spent at one moment. */
export interface SpentSoFar {
  readonly calls: number;
  readonly usage: Used;
}

export function spentSoFar({ state, calls }: Pick<TurnScope, 'state' | 'calls'>): SpentSoFar {
  return { calls: calls(), usage: state().usage };
}

/** What was spent between two moments: `9 model calls, 12.4k tokens, $0.03`; without dollars if no price is known. */
export function spentWords(from: SpentSoFar, to: SpentSoFar): string {
  const [before, after] = [from.usage, to.usage];
  const calls = to.calls - from.calls;
  const tokens = after.inputTokens + after.outputTokens - before.inputTokens - before.outputTokens;
  const costUsd = after.costUsd === undefined ? undefined : after.costUsd - (before.costUsd ?? 0);
  return `${calls} model ${calls === 1 ? 'call' : 'calls'}, ${tokenWords(tokens)} tokens${costUsd === undefined ? '' : `, ${usdWords(costUsd)}`}`;
}

/** The names of what failed in a stage. */
export function failedNames(scope: Masking, stage: RunView['stages'][number]): readonly string[] {
  return namesOf(scope, [stage], '');
}

function namesOf({ setting }: Masking, stages: RunView['stages'], before: string): readonly string[] {
  const failed = failedTests(stages);
  const shown = failed.slice(0, most).map((name) => `${before}${oneLine(setting.approval.mask(name))}`);
  const left = failed.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function oneLine(name: string): string {
  const line = name.replace(/\s+/g, ' ');
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters).toWellFormed()}…` : line;
}
