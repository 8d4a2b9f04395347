import { confirmIntent } from '../../api/intent/lifecycle.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import {
  draftEdits,
  draftPath,
  editSentence,
  type KeptDraft,
  readDraft,
  requireStricter,
} from '../../engine/draft/kept-draft.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { ChannelParts, World } from '../channel/open-channel.ts';
import type { Want } from '../state/command.ts';
import { heldSubject } from '../state/held/held-question.ts';
import { awaitsNote, type GivenAnswer } from '../state/interaction.ts';
import { localChangesAnswer, localChangesSubject } from '../state/local-changes-question.ts';
import { pursuedGoal } from '../state/pursued-goal.ts';
import type { SessionState } from '../state/state.ts';
import { stoppedWords } from '../state/stopped-run.ts';
import { undoSubject } from '../state/undo-question.ts';
import { repairs } from '../state/work.ts';
import { converseStep } from './converse-step.ts';
import { draftStep, reviewSubject } from './draft-step.ts';
import { goalStep } from './goal/goal-step.ts';
import { pursueStep, resumePursued } from './goal/pursue-step.ts';
import { requireVerifiable } from './goal/require-verifiable.ts';
import { supervise } from './goal/supervise.ts';
import { keepLocalChanges } from './local-changes.ts';
import { choiceSubject, type MadePlan, makePlan, planStep, requireDraft, unrepaired } from './plan-step.ts';
import { heldStep } from './review/held-step.ts';
import { reviewStep } from './review/review-step.ts';
import { type Execution, resumeStep, runStep } from './run-step.ts';
import { keepCopy } from './shell/keep-copy.ts';
import { shellStep } from './shell/shell-step.ts';
import { openSpending } from './spending.ts';
import { openScope, openWaiters, type StepEnd, type TurnScope } from './turn-scope.ts';
import { undoAnswered, undoStep } from './undo/undo-step.ts';
import type { RunWatcher } from './watch-runs.ts';
import { type OpenWorkSetting, workSettingFor } from './work-setting.ts';
import { openWorkTime } from './work-time.ts';

/** The effects of a session: what its turns do with models and runs. */
export interface SessionWork extends AsyncDisposable {
  readonly perform: ChannelParts['perform'];
}

const tellAgainMs = 1000;
const closeWithinMs = 2000;

const stopped = new WritError('RUN_INTERRUPTED', { message: 'the turn was cancelled' });

/**
 * One turn at a time, which the channel sees to; a turn goes on where an answer says how. `place` is a directory of
 * this session alone, for commands of a person.
 */
export function openWork(setting: OpenWorkSetting, watcher: RunWatcher, place: string): SessionWork {
  const copy = keepCopy(place);
  const waiters = openWaiters();
  const spending = openSpending(setting.named);
  let controller = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const untilTold = async (tell: () => Promise<void>): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        return await tell();
      } catch {
        await setting.clock.sleep(tellAgainMs, closed.signal).catch(() => undefined);
      }
    }
  };
  /** One step of the turn; what it throws ends the turn. */
  const step = (turn: string, world: World, act: (scope: TurnScope) => Promise<StepEnd>): void => {
    controller = new AbortController();
    const { signal } = controller;
    const own = controller;
    const settled = workSettingFor(setting, world.state().settings);
    const worked = openWorkTime(setting.clock);
    const scoped = (until: AbortSignal): TurnScope => {
      const scope = openScope(turn, settled, world, waiters, {
        signal: until,
        stop: () => own.abort(stopped),
        heldBack: watcher.heldBack,
        worked,
        spending,
        within: (sooner) => scoped(AbortSignal.any([until, sooner])),
      });
      watcher.watch(scope);
      return scope;
    };
    const scope = scoped(signal);
    last = supervise(scope, act)
      .catch((fault: unknown): StepEnd => {
        if (signal.aborted) return { end: 'cancelled', ...toldOf(stoppedWords(world.state())) };
        return { end: 'failed', reason: failedReason(fault, world.state()) };
      })
      .then(async (ended) => {
        if (ended !== 'waits') await untilTold(() => endTurn(scope, ended));
      });
  };
  const turnOf = ({ state }: World): string => {
    const { turn } = state();
    if (turn === undefined) throw new TypeError('an answer without a turn');
    return turn;
  };
  const answered = (want: Extract<Want, { readonly type: 'answer' | 'note' }>, world: World): void => {
    const option = want.type === 'note' ? 'modify' : want.option;
    // Its next message is the note.
    if (want.type === 'answer' && (option === 'cancel' || awaitsNote({ ...want.given, option }))) return;
    const given = want.type === 'note' ? { note: want.note } : want.given;
    if (waiters.answer(want.subject, { option, given, by: want.by })) return;
    const { subject } = want;
    const metadata = want.type === 'note' ? {} : want.metadata;
    step(turnOf(world), world, (scope) => continueStep(scope, { subject, option, given, metadata }));
  };
  return {
    async perform(want, world) {
      switch (want.type) {
        case 'turn': {
          const { spoken, turn, agent } = want;
          if (spoken.kind === 'goal') return step(turn, world, goalStep);
          if (spoken.kind === 'undo') return step(turn, world, (scope) => undoStep(scope, spoken.text));
          if (spoken.kind === 'review') return step(turn, world, reviewStep);
          if (spoken.kind === 'shell') {
            const parts = { copy, printed: watcher.printed, idOf: watcher.idOf };
            return step(turn, world, (scope) => shellStep(scope, spoken.command, want.by, parts));
          }
          if (spoken.kind === 'verify')
            return step(turn, world, async (scope) => {
              // A verifier is much to load for those who never ask.
              const { verifyStep } = await import('./verify/verify-step.ts');
              return verifyStep(scope, spoken.target);
            });
          const isPlanned = world.state().settings.context === 'dev' && spoken.kind === 'plain';
          return step(turn, world, (scope) =>
            isPlanned ? draftStep(scope, [spoken.text]) : converseStep(answering(scope, agent), spoken.text),
          );
        }
        case 'answer':
        case 'note':
          return answered(want, world);
        case 'abort': {
          controller.abort(stopped);
          await last;
          // Nobody works on a turn that only waited for an answer.
          if (world.state().turn === want.turn)
            await world.send({ type: 'end', turn: want.turn, end: 'cancelled' });
        }
      }
    },
    async [Symbol.asyncDispose]() {
      controller.abort(stopped);
      // Long enough for the end to be written where it can be.
      const late = setting.clock.sleep(closeWithinMs, closed.signal).then(
        () => closed.abort(),
        () => undefined,
      );
      await last;
      closed.abort();
      await late;
      await copy[Symbol.asyncDispose]();
    },
  };
}

function toldOf(reason: string): { readonly reason?: string } {
  return reason === '' ? {} : { reason };
}

/** A turn ends, whatever the disk says: what cannot be written now is written when it can be. */
async function endTurn(scope: TurnScope, ended: Exclude<StepEnd, 'waits'>): Promise<void> {
  await scope.tell({ type: 'tools-stopped' });
  await scope.tell({ type: 'end', ...ended });
}

/** The scope in which another agent answers. */
function answering(scope: TurnScope, agent: string | undefined): TurnScope {
  if (agent === undefined) return scope;
  const { agentOf } = scope.setting;
  if (agentOf === undefined) throw new WritError('AGENT_UNKNOWN', { detail: { agent } });
  return { ...scope, setting: { ...scope.setting, ...agentOf(agent) } };
}

/** An answer that a turn goes on with. */
interface Continuation {
  readonly subject: string;
  readonly option: string;
  readonly given: GivenAnswer;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * What an answer makes of a turn that waited for it. Everything it needs is in the session's facts and on disk: it may
 * be another process that asked.
 */
async function continueStep(scope: TurnScope, answer: Continuation): Promise<StepEnd> {
  const { subject, option, given } = answer;
  const { state, setting } = scope;
  if (subject.startsWith(reviewSubject)) {
    const { draft } = state();
    if (draft === undefined) throw new TypeError('an answer to a draft that there is not');
    if (option === 'modify') return draftStep(scope, [...draft.said, given.note ?? '']);
    const { networkAccess, engine, repositoryPath } = setting;
    const repository = await openRepository(repositoryPath, { onlyReads: true });
    const kept = requireDraft(readDraft(repository, draft.runId), draft.runId);
    await holdEdits(scope, repository, kept);
    const stopped = await requireVerifiable(scope, kept.specBytes);
    if (stopped !== undefined) return stopped;
    await confirmIntent(engine, repositoryPath, kept.specBytes);
    const wish = { runId: draft.runId, remarks: [], repair: unrepaired, networkAccess };
    // What a goal may use up is granted with its plan.
    if (!setting.executesUnasked || pursuedGoal(state()) !== undefined) return planStep(scope, wish);
    const { plan } = await makePlan(scope, wish);
    return runStep(scope, { plan, networkAccess, notes: {} });
  }
  if (subject.startsWith(undoSubject)) return undoAnswered(scope, { subject, given });
  if (subject.startsWith(heldSubject)) return heldStep(scope, { given });
  if (subject.startsWith(localChangesSubject)) return localChangesAnswered(scope, answer);
  // Others may have been made since it was asked about.
  const asked = subject.startsWith(choiceSubject) ? subject.slice(choiceSubject.length) : undefined;
  const plan = state().plans.findLast(
    (one): one is MadePlan & typeof one => one.run !== undefined && (asked === undefined || one.id === asked),
  );
  if (plan === undefined) throw new TypeError('an answer to a plan that there is not');
  if (asked !== undefined) return choose(scope, plan, answer);
  // Who asked about a tool call is gone: its run goes on, and asks again.
  const { run } = state();
  if (run === undefined) return { end: 'failed', reason: 'no one waits for this answer any more' };
  return pursuedGoal(state()) === undefined ? resumeStep(scope, run, plan) : resumePursued(scope, run, plan);
}

/**
 * The process that asked about local changes is gone: the run goes on with the answer, or its draft is planned with it.
 */
async function localChangesAnswered(scope: TurnScope, { subject, given }: Continuation): Promise<StepEnd> {
  const runId = subject.slice(localChangesSubject.length);
  const choice = await keepLocalChanges(scope, runId, localChangesAnswer(given));
  if (choice === 'stop')
    return { end: 'failed', reason: 'local changes are in the way: commit or stash them' };
  const { run, plans } = scope.state();
  const plan = plans.findLast((one): one is MadePlan & typeof one => one.run?.runId === runId);
  if (run !== undefined && plan !== undefined)
    return pursuedGoal(scope.state()) === undefined
      ? resumeStep(scope, run, plan)
      : resumePursued(scope, run, plan);
  const { networkAccess } = scope.setting;
  return planStep(scope, { runId, remarks: [], repair: unrepaired, networkAccess });
}

function choose(
  scope: TurnScope,
  plan: MadePlan,
  { option, given, metadata }: Continuation,
): Promise<StepEnd> {
  const networkAccess = metadata.networkAccess === 'allow' ? 'allow' : 'deny';
  const notes = given.answers ?? {};
  const limit = Number(metadata.repairLimit ?? plan.run.repair.limit);
  if (option === 'execute') {
    const repair = { attempt: plan.run.repair.attempt, limit: Math.min(limit, repairs.cap) };
    const execution: Execution = { plan: { ...plan, run: { ...plan.run, repair } }, networkAccess, notes };
    return pursuedGoal(scope.state()) === undefined
      ? runStep(scope, execution)
      : pursueStep(scope, execution);
  }
  const remarks = [
    `The plan before this one:\n${plan.steps.map(({ step }) => `- ${step}`).join('\n')}`,
    ...Object.entries(notes).flatMap(([id, texts]) =>
      texts.map(
        (text) => `The person says on "${plan.steps.find((one) => one.id === id)?.step ?? id}":\n${text}`,
      ),
    ),
    ...(given.note === undefined ? [] : [`The person says of it:\n${given.note}`]),
  ];
  return planStep(scope, { runId: plan.run.runId, remarks, repair: plan.run.repair, networkAccess });
}

/** What a disk that takes no more is called. */
const full: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']);

/**
 * Why a turn has failed, in words: what was thrown, what to do about it, and how the run that it worked on is gone on
 * with. A goal goes on with its run by itself. Pure.
 */
export function failedReason(
  fault: unknown,
  state: Pick<SessionState, 'run' | 'outcome' | 'goal' | 'turn'>,
): string {
  const kept = pursuedGoal(state) === undefined ? stoppedWords(state) : '';
  return [sentenceOf(fault), ...hintsOf(fault), kept].filter((one) => one !== '').join('\n- ');
}

function sentenceOf(fault: unknown): string {
  if (isWritError(fault)) return `${fault.code}: ${fault.message}`;
  return isFull(fault) ? `EVIDENCE_WRITE_FAILED: ${messageOf(fault)}` : messageOf(fault);
}

function hintsOf(fault: unknown): readonly string[] {
  if (isWritError(fault)) return fault.hints;
  return isFull(fault) ? ['make room on the disk, then say it again: nothing that was said is lost'] : [];
}

function isFull(fault: unknown): boolean {
  return full.has(Object(fault).code);
}

/**
 * Holds a draft whose file was edited by hand to what was drafted, and tells what differs: whoever confirms it was
 * shown the other one (docs/lifecycle.md, Edited by hand). DRAFT_LOOSENED; OBJECT_CORRUPT where what was drafted is not
 * what the thread says.
 */
async function holdEdits(
  { setting: { engine }, state, tell, newId }: TurnScope,
  repository: Pick<Repository, 'commonDir'>,
  kept: KeptDraft,
): Promise<void> {
  const { runId } = kept;
  const { effective } = await readContract(engine, kept.specBytes);
  if ((await readContract(engine, kept.drafted)).digest !== state().draft?.digest)
    throw new WritError('OBJECT_CORRUPT', {
      message: `the draft \`${runId}\` does not hold what was drafted`,
      detail: { run_id: runId },
    });
  const edits = draftEdits(kept, effective);
  requireStricter({ runId, path: draftPath(repository, runId) }, edits);
  if (edits.length === 0) return;
  const text = edits.map((edit) => `- ${editSentence(edit)}`).join('\n');
  await tell({ type: 'noted', id: newId(), title: 'Edited by hand since it was drafted', text });
}
