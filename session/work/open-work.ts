import { WritError } from '../../core/base/errors.ts';
import type { ChannelParts, World } from '../channel/open-channel.ts';
import type { Want } from '../state/command.ts';
import { awaitsNote } from '../state/interaction.ts';
import { stoppedWords } from '../state/stopped-run.ts';
import { continueStep } from './continue-step.ts';
import { converseStep } from './converse-step.ts';
import { draftStep } from './draft-step.ts';
import { failedReason } from './failed-reason.ts';
import { goalStep } from './goal/goal-step.ts';
import { supervise } from './goal/supervise.ts';
import { reviewStep } from './review/review-step.ts';
import { keepCopy } from './shell/keep-copy.ts';
import { shellStep } from './shell/shell-step.ts';
import { openSpending } from './spending.ts';
import { openScope, openWaiters, type StepEnd, type TurnScope } from './turn-scope.ts';
import { undoStep } from './undo/undo-step.ts';
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
