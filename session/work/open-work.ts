/** The effects of a session: runs the steps of its turns. */
import type { CommandBoard } from '../../agent/agent-run.ts';
import { openCommandBoard } from '../../agent/workspace-tools/workspace-tools.ts';
import { confirmIntent } from '../../api/intent/lifecycle.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import {
  draftEdits,
  draftPath,
  editSentence,
  type KeptDraft,
  requireStricter,
} from '../../engine/draft/stored-draft.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import type { SessionHooks } from '../hooks.ts';
import type { ChannelParts, EffectContext } from '../open-channel.ts';
import type { Want } from '../state/command.ts';
import { commandsTitle } from '../state/converse.ts';
import { pursuedGoal } from '../state/goal.ts';
import { awaitsNote, type GivenAnswer } from '../state/interaction.ts';
import {
  heldSubject,
  localChangesAnswer,
  localChangesSubject,
  stoppedSubject,
  undoSubject,
} from '../state/questions.ts';
import { keptWords, stoppedWords } from '../state/restored-state.ts';
import type { CommandsAsk } from '../state/slash.ts';
import type { SessionState } from '../state/state.ts';
import { repairs } from '../state/work.ts';
import { forkStep } from '../thread/fork-thread.ts';
import { converseStep, draftStep, reviewSubject } from './converse-step.ts';
import { requireVerifiable, supervise } from './goal-turn.ts';
import { heldStep, reviewStep } from './held-step.ts';
import {
  choiceSubject,
  type MadePlan,
  madePlans,
  makePlan,
  planStep,
  requireDraft,
  unrepaired,
} from './plan-step.ts';
import { goalStep, pursueStep, resumePursued } from './pursue-step.ts';
import { keepLocalChanges } from './reply-pieces.ts';
import { catchUpStep, type Execution, goOnStep, leftAnswered, resumeStep, runStep } from './run-step.ts';
import { keepCopy, shellStep } from './shell-step.ts';
import {
  type OpenWorkSetting,
  openScope,
  openSpending,
  openWaiters,
  openWorkTime,
  type StepEnd,
  type TurnScope,
  workSettingFor,
} from './turn-scope.ts';
import { undoAnswered, undoStep } from './undo-step.ts';
import { verifyStep } from './verify-step.ts';
import type { RunWatcher } from './watch-runs.ts';

/** The effects of a session: what its turns do with models and runs. */
export interface SessionWork extends AsyncDisposable {
  readonly perform: ChannelParts['perform'];
}

const tellAgainMs = 1000;
/** Characters of a command in a list. */
const maxCommandShown = 200;
const closeWithinMs = 2000;

const stopped = new WritError('RUN_INTERRUPTED', { message: 'the turn was cancelled' });

/**
 * Runs one turn at a time, which the channel enforces. An answer can continue a turn. `place` is a directory of this
 * session only, for a person's commands.
 */
export function openWork(
  given: OpenWorkSetting,
  watcher: RunWatcher,
  place: string,
  hooks?: Pick<SessionHooks, 'end'>,
): SessionWork {
  const copy = keepCopy(place);
  const commands = openCommandBoard();
  const setting = { ...given, run: { ...given.run, commands } };
  const waiters = openWaiters();
  const spending = openSpending(setting.named);
  let controller = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const closed = new AbortController();

  const untilTold = async (emit: () => Promise<void>): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        return await emit();
      } catch {
        await setting.clock.sleep(tellAgainMs, closed.signal).catch(() => undefined);
      }
    }
  };
  /** One step of the turn; what it throws ends the turn. */
  const step = (turn: string, session: EffectContext, act: (scope: TurnScope) => Promise<StepEnd>): void => {
    controller = new AbortController();
    const { signal } = controller;
    const own = controller;
    const settled = workSettingFor(setting, session.state().settings);
    const worked = openWorkTime(setting.clock);
    const scoped = (until: AbortSignal): TurnScope => {
      const scope = openScope(turn, settled, session, waiters, {
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
        if (signal.aborted) return { end: 'cancelled', ...toldOf(stoppedWords(session.state())) };
        return { end: 'failed', reason: failedReason(fault, session.state()) };
      })
      .then(async (ended) => {
        if (ended === 'waits') return;
        const fault = await hooks?.end(ended.end);
        if (fault !== undefined) await untilTold(() => scope.note('Hook', sentenceOf(fault)));
        await untilTold(() => endTurn(scope, ended));
      });
  };
  const turnOf = ({ state }: EffectContext): string => {
    const { turn } = state();
    if (turn === undefined) throw new TypeError('an answer without a turn');
    return turn;
  };
  const answered = (
    want: Extract<Want, { readonly type: 'answer' | 'note' }>,
    session: EffectContext,
  ): void => {
    const option = want.type === 'note' ? 'modify' : want.option;
    // Its next message is the note.
    if (want.type === 'answer' && (option === 'cancel' || awaitsNote({ ...want.given, option }))) return;
    const given = want.type === 'note' ? { note: want.note } : want.given;
    if (waiters.answer(want.subject, { option, given, by: want.by })) return;
    const { subject } = want;
    const plan = want.type === 'note' ? {} : want;
    step(turnOf(session), session, (scope) => continueStep(scope, { ...plan, subject, option, given }));
  };
  return {
    async perform(want, session) {
      switch (want.type) {
        case 'turn': {
          const { spoken, turn, agent } = want;
          if (spoken.kind === 'goal') return step(turn, session, goalStep);
          if (spoken.kind === 'undo') return step(turn, session, (scope) => undoStep(scope, spoken.text));
          if (spoken.kind === 'review') return step(turn, session, reviewStep);
          if (spoken.kind === 'catch-up') return step(turn, session, catchUpStep);
          if (spoken.kind === 'go-on') return step(turn, session, (scope) => goOnStep(scope, spoken.limit));
          if (spoken.kind === 'shell') {
            const { printed, idOf, exempt } = watcher;
            const parts = { copy, printed, idOf, exempt };
            return step(turn, session, (scope) => shellStep(scope, spoken.command, want.by, parts));
          }
          if (spoken.kind === 'fork') return step(turn, session, (scope) => forkStep(scope, spoken.before));
          if (spoken.kind === 'verify')
            return step(turn, session, (scope) => verifyStep(scope, spoken.target));
          const isDraft = spoken.kind === 'draft';
          const mayDraft = session.state().settings.context === 'dev' && spoken.kind !== 'ask';
          return step(turn, session, (scope) =>
            mayDraft
              ? draftStep(scope, [spoken.text], isDraft)
              : converseStep(answering(scope, agent), spoken.text),
          );
        }
        case 'answer':
        case 'note':
          return answered(want, session);
        case 'commands': {
          const text = await commandsText(commands, want);
          const id = uuidV7(setting.clock.now());
          return void (await session.send({
            type: 'noted',
            turn: want.turn,
            id,
            title: commandsTitle,
            text,
          }));
        }
        case 'abort': {
          controller.abort(stopped);
          await last;
          // A turn that only waited has no running step.
          const now = session.state();
          if (now.turn !== want.turn) return;
          const isKept = now.interactions.at(-1)?.subject.startsWith(stoppedSubject) === true;
          await session.send({
            type: 'end',
            turn: want.turn,
            end: 'cancelled',
            ...(isKept ? { reason: keptWords } : {}),
          });
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

/** The commands in the background as a person reads them: all, or one with what it printed. */
async function commandsText(board: CommandBoard, { id, stops }: CommandsAsk): Promise<string> {
  const all = board.list();
  const lineOf = ({ id, command, how }: (typeof all)[number]): string =>
    `${id}  ${how() ?? 'running'}  ${command.split('\n', 1)[0]?.slice(0, maxCommandShown)}`;
  if (id === undefined)
    return all.length === 0 ? 'no command ran in the background yet' : all.map(lineOf).join('\n');
  const one = all.find((other) => other.id === id);
  if (one === undefined) return `there is no command ${id} in the background; \`/ps\` lists them`;
  if (stops) await one.stop();
  return [lineOf(one), one.printed()].filter((line) => line !== '').join('\n');
}

function toldOf(reason: string): { readonly reason?: string } {
  return reason === '' ? {} : { reason };
}

/** Ends a turn. The caller retries until the end is written to disk. */
async function endTurn(scope: TurnScope, ended: Exclude<StepEnd, 'waits'>): Promise<void> {
  await scope.emit({ type: 'tools-stopped' });
  await scope.emit({ type: 'end', ...ended });
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
  readonly networkAccess?: 'allow' | 'deny';
  readonly repairLimit?: number;
}

/**
 * Continues a turn with an answer. Another process may have shown the question, so everything comes from facts and
 * disk.
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
    const kept = requireDraft(repository, draft.runId);
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
  if (subject.startsWith(stoppedSubject)) return leftAnswered(scope, { given });
  if (subject.startsWith(localChangesSubject)) return localChangesAnswered(scope, answer);
  // There may be newer plans than that of the question.
  const asked = subject.startsWith(choiceSubject) ? subject.slice(choiceSubject.length) : undefined;
  const plan = madePlans(state()).findLast(({ id }) => asked === undefined || id === asked);
  if (plan === undefined) throw new TypeError('an answer to a plan that there is not');
  if (asked !== undefined) return choose(scope, plan, answer);
  // The effect that showed the question is gone: its run is resumed and prompts again.
  const { run } = state();
  if (run === undefined) return { end: 'failed', reason: 'no one waits for this answer any more' };
  return resume(scope, run, plan);
}

function resume(scope: TurnScope, runId: string, plan: MadePlan): Promise<StepEnd> {
  return pursuedGoal(scope.state()) === undefined
    ? resumeStep(scope, runId, plan)
    : resumePursued(scope, runId, plan);
}

/** The effect that showed the question is gone: the run is resumed with the answer, or its draft is planned with it. */
async function localChangesAnswered(scope: TurnScope, { subject, given }: Continuation): Promise<StepEnd> {
  const runId = subject.slice(localChangesSubject.length);
  const choice = await keepLocalChanges(scope, runId, localChangesAnswer(given));
  if (choice === 'stop')
    return { end: 'failed', reason: 'local changes are in the way: commit or stash them' };
  const { run } = scope.state();
  const plan = madePlans(scope.state()).findLast((one) => one.run.runId === runId);
  if (run !== undefined && plan !== undefined) return resume(scope, run, plan);
  const { networkAccess } = scope.setting;
  return planStep(scope, { runId, remarks: [], repair: unrepaired, networkAccess });
}

function choose(
  scope: TurnScope,
  plan: MadePlan,
  { option, given, networkAccess = 'deny', repairLimit = plan.run.repair.limit }: Continuation,
): Promise<StepEnd> {
  const notes = given.answers ?? {};
  if (option === 'execute') {
    const repair = { attempt: plan.run.repair.attempt, limit: Math.min(repairLimit, repairs.cap) };
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

/** Error codes of a full or read-only disk. */
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
 * Checks a manually edited draft against the stored one and notes the differences (docs/reference/lifecycle.md,
 * Drafts of a model). DRAFT_LOOSENED; OBJECT_CORRUPT if the stored draft differs from the thread.
 */
async function holdEdits(
  { setting: { engine }, state, note }: TurnScope,
  repository: Pick<Repository, 'commonDir'>,
  kept: KeptDraft,
): Promise<void> {
  const { runId } = kept;
  const { effective } = await readContract(engine, kept.specBytes);
  if ((await readContract(engine, kept.drafted)).digest !== state().draft?.digest)
    throw new WritError('OBJECT_CORRUPT', {
      message: `the stored draft \`${runId}\` is not the one that was drafted`,
      detail: { run_id: runId },
    });
  const edits = draftEdits(kept, effective);
  requireStricter({ runId, path: draftPath(repository, runId) }, edits);
  if (edits.length === 0) return;
  const text = edits.map((edit) => `- ${editSentence(edit)}`).join('\n');
  await note('Edited by hand since it was drafted', text);
}
