/** The environment of one step of a turn, with metering and working time. */
import type { MeteredQuestion, MeteredReply, ModelMeter } from '../../agent/model-loop/open-model.ts';
import { compact } from '../../api/envelope.ts';
import type { VerifyContext } from '../../api/verify/verify-targets.ts';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { DraftPlace } from '../../engine/draft/draft-request.ts';
import type { ChangeSource, RunSettings } from '../../engine/state/run-request.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import type { GrantLedger } from '../approvals/grants.ts';
import type { Mask } from '../approvals/judge-approval.ts';
import type { EffectContext } from '../open-channel.ts';
import type { SelfTester } from '../self-test.ts';
import { limitOf } from '../state/change-settings.ts';
import type { Report, TurnReport } from '../state/command.ts';
import type { Speaker, TurnEnd } from '../state/fact.ts';
import type { GivenAnswer, NewQuestion } from '../state/interaction.ts';
import type { ApprovalPolicy, SessionSettings } from '../state/settings.ts';
import type { SessionState } from '../state/state.ts';
import { budgetUnpriced, type UsedOnce } from '../state/usage.ts';

/** How one step of a turn ended: the turn with it, or it waits for an answer. */
export type StepEnd = { readonly end: TurnEnd; readonly reason?: string } | 'waits';

/** One step of a turn, and what it is done with. */
export interface TurnScope {
  readonly setting: WorkSetting;
  readonly signal: AbortSignal;
  readonly state: () => SessionState;
  /** Sends a report; on disk when it resolves. */
  readonly emit: (report: TurnReport) => Promise<void>;
  /** Sends a report that no caller waits for. */
  readonly mention: (report: TurnReport) => void;
  /** Prompts and waits for the answer; rejects with the reason of the signal. */
  readonly ask: (question: NewQuestion) => Promise<Answered>;
  /** Adds a note to the transcript. */
  readonly note: (title: string, text: string) => Promise<void>;
  /** The same for a note that the transcript need not repeat. */
  readonly noteOnce: (title: string, text: string) => void;
  readonly newId: () => string;
  /** What the sandbox kept a command of this text from, in this session. */
  readonly heldBack: (command: string) => string | undefined;
  /** Meters model calls, for one plan or for none. */
  readonly meter: (plan?: string) => ModelMeter;
  /** Calls of models that the session has begun, over all turns of this process. */
  readonly calls: () => number;
  /** How long it has worked. */
  readonly worked: WorkTime;
  /** The same with something more that stops it. */
  readonly within: (signal: AbortSignal) => TurnScope;
  /** Ends the turn as cancelled. */
  readonly stop: () => void;
}

/** What every run of a turn is opened with. */
export function settingsOfRun({ setting, signal }: Pick<TurnScope, 'setting' | 'signal'>) {
  const { run, clock, repositoryPath, sandbox } = setting;
  return { ...run, clock, signal, repositoryPath, sandbox };
}

/** Pending answers, by the subject of the question. */
interface Waiters {
  /** False if this process has no waiter for the subject. */
  answer(subject: string, answered: Answered): boolean;
  readonly wait: (subject: string, signal: AbortSignal) => Promise<Answered>;
}

export function openWaiters(): Waiters {
  const waiting = new Map<string, (answered: Answered) => void>();
  return {
    answer(subject, answered) {
      const resolve = waiting.get(subject);
      waiting.delete(subject);
      resolve?.(answered);
      return resolve !== undefined;
    },
    wait: (subject, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const stop = (): void => {
          waiting.delete(subject);
          reject(signal.reason);
        };
        signal.addEventListener('abort', stop, { once: true });
        waiting.set(subject, (answered) => {
          signal.removeEventListener('abort', stop);
          resolve(answered);
        });
      }),
  };
}

/** What a turn has of the process that it runs in. */
interface ScopeParts extends Pick<TurnScope, 'signal' | 'stop' | 'heldBack' | 'worked' | 'within'> {
  readonly spending: Spending;
}

/** The scope of one turn. */
export function openScope(
  turn: string,
  setting: WorkSetting,
  { state, send, mention }: EffectContext,
  waiters: Waiters,
  { spending, ...parts }: ScopeParts,
): TurnScope {
  const { signal, worked } = parts;
  const newId = (): string => uuidV7(setting.clock.now());
  const emit: TurnScope['emit'] = async (report) => void (await send({ ...report, turn } as Report));
  const noteOnce = (title: string, text: string): void => {
    const isNoted = state().transcript.some((one) => one.title === title && one.content === text);
    if (!isNoted) mention({ type: 'noted', id: newId(), title, text, turn } as Report);
  };
  return {
    ...parts,
    setting: { ...setting, run: { ...setting.run, ...mcpNotes(setting.run.mcp, noteOnce) } },
    state,
    emit,
    mention: (report) => mention({ ...report, turn } as Report),
    async ask(question) {
      // Registered first: an answer can arrive before `emit` resolves.
      const answered = waiters.wait(question.subject, signal);
      answered.catch(() => undefined);
      await emit({ type: 'ask', ...question });
      return worked.waiting(answered);
    },
    meter: (plan) => spending.meter({ state, emit }, plan),
    calls: spending.calls,
    note: (title, text) => emit({ type: 'noted', id: newId(), title, text }),
    noteOnce,
    newId,
  };
}

/** Adds a note for each MCP server that did not start, with the reason and the next step. */
function mcpNotes(
  mcp: WorkSetting['run']['mcp'],
  noteOnce: TurnScope['noteOnce'],
): Pick<WorkSetting['run'], 'mcp'> {
  if (mcp === undefined) return {};
  return {
    mcp: {
      ...mcp,
      told(one) {
        mcp.told?.(one);
        const { server, state, why = '' } = one;
        // A refusal by the person needs no note.
        if (state === 'started' || why.startsWith('denied: ')) return;
        const [, code, words] = /^failed: ([A-Z_]+): (.*)$/s.exec(why) ?? [];
        const reason = words === undefined ? `\`${server}\` offers no tools: ${why}` : `${words} (${code})`;
        noteOnce('MCP', `${reason}. \`/mcp\` lists the servers.`);
      },
    },
  };
}

/** What was answered to a question that a step waits for. */
export interface Answered {
  readonly option: string;
  readonly given: GivenAnswer;
  readonly by: Speaker;
}

/** What the turns of a session work with. */
export interface WorkSetting extends ChosenModel, Pick<SessionSettings, 'networkAccess'> {
  /** Opened with the plugin of `watchRuns`. */
  readonly engine: WritEngine;
  readonly repositoryPath: string;
  /** Author and target of a run; evaluated late, because the branch can be switched. */
  readonly target: () => Promise<DraftPlace['target']>;
  /** Back end by name, or `auto`. */
  readonly sandbox: string;
  /** The model of a dispatched agent; AGENT_UNKNOWN. Absent: there are no other agents. */
  readonly agentOf?: (name: string) => ChosenModel;
  /** Where the user's own trust anchors are found. */
  readonly env: VerifyContext['env'];
  readonly clock: Clock;
  /** Settings of every run of the session. */
  readonly run: Omit<RunSettings, 'clock' | 'signal' | 'person' | 'watch' | 'meter' | 'model' | 'approvers'>;
  readonly approval: ApprovalSetting;
  /** Confirmed specs are executed without a question about the plan (`--plan-mode=false`). */
  readonly executesUnasked?: boolean;
  /** Adds a value to the mask of the session. */
  readonly hide?: (value: string) => void;
  /** Must pass before a run gets a network. */
  readonly selfTest: Pick<SelfTester, 'result'>;
}

/** The model and its system instructions. */
export interface ChosenModel {
  readonly source: Extract<ChangeSource, { readonly kind: 'worker' }>;
  /** Instructions for conversations, what stays the same first. */
  readonly instructions: readonly string[];
}

/** What is settled when a session opens; the rest of it goes by the settings of the session, as they are then. */
export interface OpenWorkSetting extends Omit<WorkSetting, keyof ChosenModel | 'networkAccess'> {
  readonly modelFor: (settings: SessionSettings) => ChosenModel;
  /** Gets the id of each model call, for the log. */
  readonly named?: ModelMeter['named'];
}

/** What a step works with that begins now. */
export function workSettingFor(
  { modelFor, named: _, ...setting }: OpenWorkSetting,
  settings: SessionSettings,
): WorkSetting {
  return { ...setting, ...modelFor(settings), networkAccess: settings.networkAccess };
}

/** How a session approves tool calls that passed all rules. */
export interface ApprovalSetting {
  readonly policy: ApprovalPolicy;
  /** How long an answer "for a while" counts; 0: that one call. */
  readonly ttlSeconds: number;
  readonly grants: GrantLedger;
  /** Masks secrets in text that is shown. */
  readonly mask: Mask;
}

/** How long a step has worked: while it waits for an answer it does not. */
interface WorkTime {
  /** Milliseconds of work since the last call. */
  take(): number;
  /** Waits for the answer. The wait does not count as work. */
  waiting<T>(answer: Promise<T>): Promise<T>;
  /** Whether it waits now. */
  isWaiting(): boolean;
}

export function openWorkTime({ monotonic }: Pick<Clock, 'monotonic'>): WorkTime {
  let since = monotonic();
  let worked = 0;
  let waits = 0;
  const pass = (): void => {
    const now = monotonic();
    if (waits === 0) worked += now - since;
    since = now;
  };
  return {
    take() {
      pass();
      const taken = Math.floor(worked);
      worked -= taken;
      return taken;
    },
    async waiting(answer) {
      pass();
      waits += 1;
      try {
        return await answer;
      } finally {
        pass();
        waits -= 1;
      }
    },
    isWaiting: () => waits > 0,
  };
}

/** What a session spends, over all turns of this process. */
interface Spending {
  /**
   * Meters the model calls of a turn, for one plan or for none. SESSION_BUDGET_SPENT if the next call could exceed
   * the limit; SESSION_BUDGET_UNPRICED if its price is unknown.
   */
  meter(turn: Pick<TurnScope, 'state' | 'emit'>, plan?: string): ModelMeter;
  /** Calls of models that were begun so far, also those that failed. */
  calls(): number;
}

const unitsPerUsd = 1000;

/** `named` gets the id of each call. */
export function openSpending(named?: ModelMeter['named']): Spending {
  /** USD that the state does not know of yet: of questions under way, and of replies on their way to the disk. */
  let untold = 0;
  let calls = 0;
  return {
    calls: () => calls,
    meter: ({ state, emit }, plan) => ({
      ...(named === undefined ? {} : { named }),
      begin(question) {
        requireWithin(state(), question, untold);
        calls += 1;
        const expected = (question.costUnits ?? 0) / unitsPerUsd;
        untold += expected;
        return (reply) => {
          untold -= expected;
          if (reply === undefined) return;
          const used = toUsed(reply);
          const { costUsd = 0 } = used;
          untold += costUsd;
          emit({ type: 'used', ...used, ...compact({ plan, task: question.task }) }).then(
            () => {
              untold -= costUsd;
            },
            // A cost that could not be written was still paid.
            () => undefined,
          );
        };
      },
    }),
  };
}

function requireWithin(state: SessionState, { model, costUnits }: MeteredQuestion, untold: number): void {
  const limitUsd = limitOf(state);
  if (limitUsd === undefined) return;
  if (costUnits === undefined) throw budgetUnpriced(model, limitUsd);
  const spentUsd = (state.usage.costUsd ?? 0) + untold;
  const nextUsd = costUnits / unitsPerUsd;
  if (spentUsd + nextUsd <= limitUsd) return;
  const [spent, next] = [spentUsd, nextUsd].map((usd) => usd.toFixed(4));
  throw new WritError('SESSION_BUDGET_SPENT', {
    message: `the session has cost ${spent} of ${limitUsd} USD, and the next question alone would cost ${next}`,
    detail: { spent_usd: spentUsd, limit_usd: limitUsd, next_usd: nextUsd, model },
  });
}

function toUsed({ usage, costUnits, contextTokens }: MeteredReply): UsedOnce {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    ...(costUnits === undefined ? {} : { costUsd: costUnits / unitsPerUsd }),
    ...(contextTokens === undefined ? {} : { contextWindow: contextTokens }),
  };
}
