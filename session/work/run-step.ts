/** Executes a plan and repairs it after a refusal. */
import { untrustedText } from '../../agent/model-loop/model-turns.ts';
import { readSteps } from '../../agent/tools/update-plan.ts';
import { confirmIntent, requireConfirmed } from '../../api/intent/lifecycle.ts';
import { cancelRun } from '../../api/run/waiting-run.ts';
import { isWritError } from '../../core/base/errors.ts';
import type { ToolCall } from '../../core/interfaces/model.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { withNetwork } from '../../engine/draft/draft-intent.ts';
import { keepDraft, keepRunCalls, readDraft } from '../../engine/draft/stored-draft.ts';
import { isSealing } from '../../engine/open/requirements.ts';
import type { TaskAdvice } from '../../engine/plan/plan-advice.ts';
import { failedOutput, failedTests, failureText, withOutput } from '../../engine/record/failure-text.ts';
import { resumeRun, runIntent } from '../../engine/run.ts';
import type { WorkWatch } from '../../engine/state/run-request.ts';
import { guardingProfile } from '../../spec/facts.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { journalPath } from '../../store/run-directory.ts';
import { workspaceFingerprint } from '../../workspace/git/dirty-paths.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { setAsideNoticeOf } from '../../workspace/git/set-aside.ts';
import { requireApart } from '../self-test.ts';
import { pursuedGoal } from '../state/goal.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import { stoppedAnswer, stoppedQuestion } from '../state/questions.ts';
import { hasRun, keptWords, planQuestion, unsettledRun } from '../state/restored-state.ts';
import { repairs } from '../state/work.ts';
import { type ConsentGround, consentGround, noNetwork, openedNetwork, personOf } from './consent.ts';
import { type MadePlan, madePlans, makePlan, planStep, promptForPlan, requireDraft } from './plan-step.ts';
import { announcing, localChangesOfDraft, replyPieces } from './reply-pieces.ts';
import {
  contractOf,
  failedWords,
  findRunOf,
  holdRun,
  holdStep,
  isHeldRun,
  isSealedBy,
  reportOutcome,
  reportPatch,
  spentSoFar,
  spentWords,
} from './run-outcome.ts';
import { envelopeChanges } from './to-changes.ts';
import { type StepEnd, settingsOfRun, type TurnScope } from './turn-scope.ts';
import { resumeUndo } from './undo-step.ts';
import { sendReviewed } from './untold.ts';

/** A plan that a person has executed, and with what. */
export interface Execution {
  readonly plan: MadePlan;
  readonly networkAccess: 'allow' | 'deny';
  /** Notes on lines of the plan, by their ids. */
  readonly notes: Readonly<Record<string, readonly string[]>>;
}

/**
 * Executes a plan as an ordinary run (journal, gates, seal). If the change is refused, the plan is revised and run
 * again until the limit of repairs; then the user is prompted. `left`: a run of the plan that goes on first.
 */
export async function runStep(scope: TurnScope, execution: Execution, left?: string): Promise<StepEnd> {
  const { networkAccess } = execution;
  let failedBefore: string | undefined;
  let refused: RunView | undefined;
  let { plan } = execution;
  let advice = withNotes(plan, execution.notes);
  for (let isFirst = true; ; isFirst = false) {
    const before = spentSoFar(scope);
    const runId = isFirst && !hasRun(scope.state(), plan.run.runId) ? plan.run.runId : scope.newId();
    const view =
      isFirst && left !== undefined
        ? await resumePlan(scope, left, plan)
        : await execute(scope, plan, { advice, refused, runId, networkAccess });
    const ended = await settle(scope, plan, view);
    if (isHeldRun(scope, view)) return holdStep(scope, view);
    if (ended !== 'failed') return ended;
    // A rollback is about the repository, the key or the log: no other change would end differently.
    if (view.decision?.type === 'rollback') return { end: 'failed', reason: failureOf(view) };
    const { attempt, limit } = plan.run.repair;
    const failure = failureKey(view);
    const isSame = failure === failedBefore;
    failedBefore = failure;
    refused = view;
    // After the same failure twice, a further repair needs a further answer of the user.
    const repair = { attempt: attempt + 1, limit: isSame ? attempt + 1 : limit };
    const wish = { runId: plan.run.runId, remarks: [remarkOf(scope, view)], repair, networkAccess };
    const made = await makePlan(scope, wish);
    const cost = `this run and its new plan: ${spentWords(before, spentSoFar(scope))}`;
    if (attempt >= limit || isSame) {
      const why = isSame ? 'it failed as the run before it did' : `repair ${attempt} of ${limit} failed, too`;
      const text = [`${why}: no repair runs by itself`, cost, ...failedWords(scope, view)].join('\n');
      await scope.note('Repair', text);
      await promptForPlan(scope, made.plan, made.planned, { ...wish, repair: { attempt, limit } });
      return 'waits';
    }
    const next = `the plan failed and was revised; repair ${attempt + 1} of ${limit} runs by itself`;
    await scope.note('Repair', [next, cost, ...failedWords(scope, view)].join('\n'));
    ({ plan } = made);
    advice = plan.run.advice;
  }
}

/**
 * What a run failed for: its failed tests and checks, else what was found. The same twice in a row is one that another
 * revision of the plan does not mend.
 */
function failureKey({ stages, findings, decision }: RunView): string {
  const failed = [...failedTests(stages)].sort();
  const found = findings.map(({ rule, path, message }) => [rule, path ?? '', message]);
  return JSON.stringify(failed.length > 0 ? failed : [decision?.rationale ?? '', found]);
}

/** Goes on with the run that a killed process left. */
export async function resumeStep(scope: TurnScope, runId: string, plan: MadePlan): Promise<StepEnd> {
  const networkAccess = planQuestion(scope.state(), plan.id)?.metadata.networkAccess ?? 'deny';
  return runStep(scope, { plan, networkAccess, notes: {} }, runId);
}

/** The last run of a thread, whose end the conversation does not know. */
interface LeftRun {
  readonly runId: string;
  /** Absent: it never began. */
  readonly view: RunView | undefined;
  /** Absent: it undoes another run. */
  readonly plan: MadePlan | undefined;
}

async function findLeft(scope: TurnScope): Promise<LeftRun | undefined> {
  const state = scope.state();
  const runId = unsettledRun(state);
  if (runId === undefined) return undefined;
  const view = (await findRunOf(scope, runId))?.view;
  const isUndo = state.undos.some(({ by }) => by === runId);
  const plans = madePlans(state);
  const plan = view === undefined ? plans.at(-1) : plans.findLast(({ run }) => run.hasBegun === true);
  return { runId, view, plan: isUndo ? undefined : plan };
}

/** Records how the last run ended, if it did: in another process. If it was interrupted, the user is prompted. */
export async function catchUpStep(scope: TurnScope): Promise<StepEnd> {
  const left = await findLeft(scope);
  if (left === undefined) return { end: 'done' };
  const { runId, view } = left;
  if (view?.state === 'running') return noteBusy(scope, runId);
  if (view?.state === 'waiting' && scope.state().outcome?.runId === runId) return { end: 'done' };
  if (view?.state === 'waiting' || view?.state === 'decided') return recordEnd(scope, left, view);
  return promptForLeft(scope, left);
}

async function noteBusy({ note }: TurnScope, runId: string): Promise<StepEnd> {
  const text = `another process works on run ${runId}: \`/status\` records its end here`;
  await note('Run', text);
  return { end: 'done' };
}

async function promptForLeft(scope: TurnScope, { runId, view, plan }: LeftRun): Promise<StepEnd> {
  const summary = plan?.title ?? view?.spec.summary;
  if (summary === undefined) return noteUnbegun(scope, runId);
  const repository = await openRepository(scope.setting.repositoryPath, { onlyReads: true });
  const isSealed = view !== undefined && isSealing(await readJournal(journalPath(repository, runId)));
  const at = view === undefined ? 'start' : isSealed ? 'seal' : 'work';
  await scope.emit({ type: 'ask', ...stoppedQuestion(runId, summary, at) });
  return 'waits';
}

async function noteUnbegun({ emit, newId }: TurnScope, runId: string): Promise<StepEnd> {
  const why = 'the run never began; nothing has changed';
  const outcome = { runId, decision: 'none', why } as const;
  await emit({ type: 'noted', id: newId(), title: 'Dropped', text: why, outcome });
  return { end: 'done' };
}

/** Performs the answer to the question about an interrupted run. */
export async function leftAnswered(
  scope: TurnScope,
  { given }: { readonly given: GivenAnswer },
): Promise<StepEnd> {
  const choice = stoppedAnswer(given);
  if (choice === 'go-on') return goOnStep(scope);
  if (choice === 'drop') return dropStep(scope);
  return { end: 'done', reason: keptWords };
}

/** Goes on with the last run, up to its usual end. `limit`: of repairs. */
export async function goOnStep(scope: TurnScope, limit?: number): Promise<StepEnd> {
  const left = await findLeft(scope);
  if (left === undefined) return { end: 'done' };
  const { runId, view, plan: made } = left;
  if (view?.state === 'decided') return recordEnd(scope, left, view);
  if (view?.state === 'running') return noteBusy(scope, runId);
  if (made === undefined) {
    const undone = scope.state().undos.findLast(({ by }) => by === runId);
    if (view === undefined || undone === undefined) return noteUnbegun(scope, runId);
    await scope.emit({ type: 'run-began', runId });
    return resumeUndo(scope, undone);
  }
  const { run } = made;
  const repair = { ...run.repair, limit: Math.min(limit ?? run.repair.limit, repairs.cap) };
  const plan = { ...made, run: { ...run, repair } };
  if (view === undefined) return beginStep(scope, plan);
  await beginAgain(scope, runId);
  await scope.emit({ type: 'planned', plan: { ...plan, status: 'running' } });
  return resumeStep(scope, runId, plan);
}

/** Executes a plan whose run was stopped before it began. The user's yes holds for the files as they were. */
async function beginStep(scope: TurnScope, plan: MadePlan): Promise<StepEnd> {
  const { metadata = {} } = planQuestion(scope.state(), plan.id) ?? {};
  const { workspace, networkAccess = 'deny' } = metadata;
  const now = await workspaceFingerprint(await openRepository(scope.setting.repositoryPath));
  if (workspace === undefined || workspace === now) return runStep(scope, { plan, networkAccess, notes: {} });
  const { runId, repair } = plan.run;
  return planStep(scope, { runId, remarks: [], repair, networkAccess });
}

/** The turn works on this run again. */
async function beginAgain({ emit, state }: TurnScope, runId: string): Promise<void> {
  const { heldRun } = state();
  await emit({ type: 'run-began', runId, ...(heldRun?.runId === runId ? { held: heldRun } : {}) });
}

/** Ends the last run as `writ cancel` does. */
async function dropStep(scope: TurnScope): Promise<StepEnd> {
  const left = await findLeft(scope);
  if (left === undefined) return { end: 'done' };
  const { runId, view } = left;
  if (view === undefined) return noteUnbegun(scope, runId);
  if (view.state === 'decided') return recordEnd(scope, left, view);
  const { setting, signal } = scope;
  const { engine, repositoryPath, env } = setting;
  try {
    const ended = await cancelRun({
      cwd: repositoryPath,
      repoPath: repositoryPath,
      stores: engine.slots.store,
      env,
      signal,
      run: runId,
      reason: 'dropped in `writ code`',
      withEngine: (end) => end(engine),
    });
    const recorded = await recordEnd(scope, left, ended);
    const text = 'The person dropped the run: nothing of it is in the repository.';
    await sendReviewed(scope, { text, ids: [] }, 'talk');
    return recorded;
  } catch (fault) {
    if (!isWritError(fault, 'RUN_NOT_CANCELLABLE')) throw fault;
    await scope.note('Run', 'it cannot be dropped any more: its change is being sealed');
    return catchUpStep(scope);
  }
}

/** Records how the last run ended in another process. Its record may come from a remote, so its commit is verified. */
async function recordEnd(scope: TurnScope, { runId, plan }: LeftRun, view: RunView): Promise<StepEnd> {
  const repository = await openRepository(scope.setting.repositoryPath);
  const { decision } = view;
  if (decision?.type === 'commit' && !(await isSealedBy(repository, view, await contractOf(scope, runId)))) {
    const why = `its record is not that of commit ${decision.commitSha}: \`writ verify ${runId}\``;
    const outcome = { runId, decision: 'none', why } as const;
    await scope.emit({ type: 'noted', id: scope.newId(), title: 'Not verified', text: why, outcome });
    return { end: 'done' };
  }
  await beginAgain(scope, runId);
  const undone = scope.state().undos.findLast(({ by }) => by === runId);
  if (undone !== undefined) return resumeUndo(scope, undone, view);
  if (plan === undefined) throw new TypeError('a run of no plan');
  const ended = await settle(scope, plan, view);
  if (isHeldRun(scope, view)) return holdStep(scope, view);
  return ended === 'failed' ? { end: 'done' } : ended;
}

/** The same run, as far as it comes. */
export async function resumePlan(scope: TurnScope, runId: string, plan: MadePlan): Promise<RunView> {
  const { setting } = scope;
  const repository = await openRepository(setting.repositoryPath);
  const kept = readDraft(repository, plan.run.runId);
  const network = kept === undefined ? noNetwork : openedNetwork(kept.specBytes);
  if (network.networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());
  const { heldRun } = scope.state();
  return resumeRun(setting.engine, {
    ...(await runParts(scope, plan, await consentGround(setting, network, scope.heldBack))),
    runId,
    ...(heldRun?.runId === runId ? { heldFor: heldRun.target.ref } : {}),
    worker: { name: setting.source.worker },
  });
}

/** Revisions of the plan within one run; after that it is a repair. */
const mostReplans = 1;

/** Settings that a new run of a plan and a resumed one share. */
async function runParts(scope: TurnScope, plan: MadePlan, ground: ConsentGround) {
  const goal = pursuedGoal(scope.state());
  return {
    ...settingsOfRun(scope),
    ...(await localChangesOfDraft(scope, plan.run.runId)),
    person: personOf(scope, ground),
    watch: watchWork(scope, plan),
    meter: scope.meter(plan.id),
    maxReplans: mostReplans,
    ...(goal === undefined ? {} : { isForGoal: true as const }),
    ...(goal?.rewritten === undefined ? {} : { rewritten: goal.rewritten }),
  };
}

const unconfined =
  'nothing confines commands in this run: each one is asked about, unless the policy says otherwise';

interface RunOfPlan {
  readonly advice: readonly TaskAdvice[];
  /** The run that this one repairs. */
  readonly refused: RunView | undefined;
  readonly runId: string;
  readonly networkAccess: 'allow' | 'deny';
}

/** One run of a plan, under this id. */
export async function execute(
  scope: TurnScope,
  plan: MadePlan,
  { advice, refused, runId, networkAccess }: RunOfPlan,
): Promise<RunView> {
  const { setting, emit } = scope;
  const { engine, repositoryPath, source } = setting;
  if (networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());
  const repository = await openRepository(repositoryPath);
  const kept = requireDraft(repository, plan.run.runId);
  await requireConfirmed(engine, repositoryPath, kept.specBytes);
  const specBytes = withNetwork(kept.specBytes, networkAccess);
  // It was confirmed with another network policy; the person who executes it confirms this one.
  if (specBytes !== kept.specBytes) {
    await keepDraft(repository, { ...kept, specBytes });
    await confirmIntent(engine, repositoryPath, specBytes);
  }
  const held = await holdRun(scope, { repository, runId, specBytes, plan });
  await emit({ type: 'run-began', runId, ...(held === undefined ? {} : { held }) });
  await emit({ type: 'planned', plan: { ...plan, status: 'running' } });
  for (const task of tasksOf(plan))
    await emit({ type: 'tasked', task: { id: `${runId}/${task}`, title: task, status: 'pending' } });
  const ground = await consentGround(setting, openedNetwork(specBytes), scope.heldBack);
  if (ground.backend === undefined) await scope.note('No sandbox', unconfined);
  return runIntent(engine, {
    ...(await runParts(scope, plan, ground)),
    runId,
    specBytes,
    source,
    ...(held === undefined ? {} : { onto: held.branch, heldFor: held.target.ref }),
    drafting: kept.spent,
    advice,
    ...(refused === undefined || refused.decision?.type === 'commit'
      ? {}
      : { failedBefore: evidenceOf(scope, refused) }),
  });
}

/** Records the result of a run in the session. */
export async function settle(
  scope: TurnScope,
  plan: MadePlan,
  view: RunView,
): Promise<Exclude<StepEnd, 'waits'> | 'failed'> {
  const { emit } = scope;
  const { decision, waiting, runId } = view;
  const isCommit = decision?.type === 'commit';
  await reportPatch(scope, view);
  const isOver = waiting === undefined;
  for (const task of tasksOf(plan))
    if (isOver)
      await emit({
        type: 'tasked',
        task: { id: `${runId}/${task}`, title: task, status: isCommit ? 'completed' : 'failed' },
      });
  if (isCommit) await emit({ type: 'stepped', plan: plan.id, status: 'completed' });
  else if (isOver)
    await keepRunCalls(await openRepository(scope.setting.repositoryPath), plan.run.runId, runId);
  const { steps: _, ...told } = plan;
  if (isOver)
    await emit({
      type: 'planned',
      plan: {
        ...told,
        steps: isCommit ? plan.steps.map((one) => ({ ...one, status: 'completed' })) : plan.steps,
        status: isCommit ? 'completed' : 'failed',
      },
    });
  await noteSetAside(scope, runId);
  await reportOutcome(scope, view);
  if (isCommit) return { end: 'decided' };
  return isOver ? 'failed' : { end: 'done' };
}

/** Notes that the local changes of the user are in a ref, if the run could not merge them back. */
async function noteSetAside({ setting, note }: TurnScope, runId: string): Promise<void> {
  const repository = await openRepository(setting.repositoryPath);
  const text = await setAsideNoticeOf(repository, runId);
  if (text !== undefined) await note('Local changes', text);
}

/** What a run was refused for came out of programs and files: for a model it is data. */
export function remarkOf(scope: TurnScope, view: RunView): string {
  const { promptInjection } = guardingProfile(scope.setting.clock.now()).security;
  const evidence = untrustedText(promptInjection, evidenceOf(scope, view));
  return `The run of the plan before this one was not accepted:\n${evidence}`;
}

function evidenceOf({ setting: { approval } }: TurnScope, view: RunView): string {
  return approval.mask(withOutput(failureOf(view), failedOutput(view.stages)));
}

function failureOf({ decision, findings, stages }: RunView): string {
  const found = failureText(findings, stages);
  return `${decision?.rationale ?? 'no decision'}\n${found}`;
}

function tasksOf({ steps }: MadePlan): readonly string[] {
  return [...new Set(steps.flatMap(({ task }) => (task === undefined ? [] : [task])))];
}

/** Adds the user's notes on lines to the advice of their tasks. */
export function withNotes({ run, steps }: MadePlan, notes: Execution['notes']): readonly TaskAdvice[] {
  return run.advice.map((advice) => {
    const own = steps.filter(({ task }) => task === advice.key);
    const noted = own.flatMap(({ id, step }) =>
      (notes[id] ?? []).map((note) => `on "${step.slice(0, 200)}" the person says: ${note.trim()}`),
    );
    return noted.length === 0 ? advice : { ...advice, steps: [...advice.steps, ...noted] };
  });
}

/** Reports what the workers of a run do: replies, steps, patches, tasks. */
function watchWork({ emit, newId, state }: TurnScope, plan: MadePlan): WorkWatch {
  // These reports are best effort.
  const told = (report: Parameters<typeof emit>[0]): void => void emit(report).catch(() => undefined);
  const called = (call: ToolCall): void => {
    if (call.name === 'update_plan') toldSteps(call);
    if (call.name === 'apply_patch') toldPatch(call);
  };
  const toldSteps = (call: ToolCall): void => {
    const steps = readSteps(argumentOf(call, 'steps'));
    if (!('lines' in steps)) return;
    told({
      type: 'planned',
      plan: {
        id: `${plan.id}/model`,
        title: 'Steps of the model',
        status: 'running',
        steps: steps.lines.map((line, at) => ({ id: `${at + 1}`, ...line })),
      },
    });
  };
  const toldPatch = (call: ToolCall): void => {
    const changes = envelopeChanges(argumentOf(call, 'patch'));
    if (changes.length > 0)
      told({ type: 'patched', patchset: { id: `${plan.id}/${call.id}`, status: 'proposed', changes } });
  };
  const isOfSeveral = new Set(plan.steps.flatMap(({ id, task }) => (id === task ? [] : [task]))).size > 1;
  const attempts = new Set<string>();
  return {
    // Tasks are worked side by side: each attempt speaks for itself.
    listen(task) {
      const of = task === undefined ? {} : { task };
      const reply = replyPieces((piece) => told({ ...piece, ...of }), newId);
      const announced = announcing((call) => told({ ...call, ...of }), newId);
      return (event) => {
        announced(event);
        reply.hear(event);
        if (event.type === 'call') called(event.call);
        else if (event.type === 'end') {
          const text = reply.text();
          if (text !== '') told({ type: 'replied', id: reply.id(), text: text.toWellFormed(), ...of });
          reply.next();
        }
      };
    },
    attempt({ task, attempt, most, why }, went) {
      const of = isOfSeveral ? ` of ${task}` : '';
      const title = `Attempt ${attempt} of ${most}${of}`;
      // The engine also reports an attempt that it only reads back.
      if (why !== undefined && !attempts.has(title + why))
        told({ type: 'noted', id: newId(), title, text: toCause(why) });
      attempts.add(title + why);
      const id = `${state().run ?? plan.run.runId}/${task}`;
      const status = went === 'began' ? 'running' : went === 'taken' ? 'completed' : 'pending';
      const details = `attempt ${attempt}${went === 'refused' ? ' was not accepted' : ''}`;
      told({ type: 'tasked', task: { id, title: task, status, details } });
      const stepStatus = went === 'began' ? 'in_progress' : went === 'taken' ? 'completed' : 'pending';
      for (const step of plan.steps)
        if (step.task === task) told({ type: 'stepped', plan: plan.id, step: step.id, status: stepStatus });
    },
  };
}

/** The first fault. */
function toCause(failure: string): string {
  const [first = ''] = failure.split('\n');
  const cause = first.replace(/^stage \S+: check-outcome: /, '');
  return cause.length > mostOfCause ? `${cause.slice(0, mostOfCause).toWellFormed()}…` : cause;
}

/** Characters of the cause of another attempt. */
const mostOfCause = 200;

/** An argument of a call as the model wrote it; empty where it is none. */
function argumentOf({ arguments: given }: ToolCall, name: string): string {
  try {
    const value = (JSON.parse(given) as Readonly<Record<string, unknown>> | null)?.[name];
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
