/** Reports tool calls and gates of the engine to a session. */
import { sha256Hex } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ToolRequest, ToolSettled } from '../../core/interfaces/hook-payload.ts';
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import type { SessionHooks } from '../hooks.ts';
import type { TurnReport } from '../state/command.ts';
import { gateWords } from '../state/work.ts';
import { failedNames } from './run-outcome.ts';
import type { TurnScope } from './turn-scope.ts';

/** Observes the engine of a session and reports to the current turn. */
export interface RunWatcher {
  readonly plugin: LoadedPlugin;
  /** What the sandbox kept a command of this text from, since the watcher was made. */
  heldBack(command: string): string | undefined;
  /** Output of a running use so far. */
  printed(request: ToolRequest, text: string): void;
  /** The id under which a use is reported. */
  readonly idOf: (request: ToolRequest) => string;
  /** The user makes this call: no hook is called for it. */
  readonly exempt: (request: ToolRequest) => void;
  /** Calls these hooks for each tool call of a model, after the rules of writ allowed it. */
  guard(hooks: Pick<SessionHooks, 'tool'> | undefined): void;
  /** Selects the turn that gets the reports. */
  watch(scope: Watched): void;
}

type Watched = Pick<TurnScope, 'emit' | 'mention' | 'signal'> & {
  readonly setting: { readonly approval: Pick<TurnScope['setting']['approval'], 'mask'> };
};

type ToolFact = Extract<TurnReport, { readonly type: 'tool' }>;

const ended = { done: 'completed', denied: 'failed', failed: 'failed' } as const;
const maxSummary = 500;
/** Characters of a refusal of a guard. */
const maxRefusal = 4000;
/** Longer than the hooks of a user and of the policy commit may take together. */
const hookDeadlineMs = 60_000;

/** A watcher for an engine that is not open yet. */
export function watchRuns(clock: Clock): RunWatcher {
  let told: Watched | undefined;
  /** Uses are identified by their request object, which is the same at start and end. */
  const ids = new WeakMap<ToolRequest, string>();
  /** By digest of the command. */
  const held = new Map<string, string>();
  const printed = new WeakMap<ToolRequest, string>();
  const idOf = (request: ToolRequest): string => {
    const known = ids.get(request);
    if (known !== undefined) return known;
    const id = uuidV7(clock.now());
    ids.set(request, id);
    return id;
  };
  /** On disk before the tool acts; calls that only read are mentioned. */
  const tellUse = (request: ToolRequest, use: Omit<ToolFact, 'type'>): Promise<void> | undefined => {
    if (!isLooking(request)) return told?.emit({ type: 'tool', ...use });
    told?.mention({ type: 'tool', ...use });
    return undefined;
  };
  let hooks: Pick<SessionHooks, 'tool'> | undefined;
  const exempted = new WeakSet<ToolRequest>();
  const plugin = definePlugin({
    name: 'session',
    api: 1,
    setup({ hooks: points }) {
      points.tool.guard.tap(
        async (request) => {
          // A check is of writ, not of a model.
          if (hooks === undefined || request.checkId !== undefined || exempted.has(request)) return undefined;
          const fault = await hooks.tool(request);
          return (
            fault && { message: `${fault.code}: ${fault.message}`.slice(0, maxRefusal), detail: fault.detail }
          );
        },
        { timeoutMs: hookDeadlineMs },
      );
      points.tool.started.tap((request) =>
        tellUse(request, { id: idOf(request), ...describe(request), status: 'running' }),
      );
      points.tool.settled.tap((settled) => {
        const { request, outcome, refusal, exitCode, heldBack, durationMs } = settled;
        const { summary, ...described } = describe(request);
        if (request.command !== undefined && heldBack !== undefined)
          remember(held, sha256Hex(request.command), heldBack);
        const code = exitCode === undefined || exitCode === 0 ? '' : `, exit code ${exitCode}`;
        const why = refusal?.message ?? (request.purpose === 'base' ? onOldCode(code !== '') : '');
        const output = printed.get(request);
        return tellUse(request, {
          id: idOf(request),
          ...described,
          // A stopped tool is unknown, because it may have had effects.
          status: outcome === 'failed' && told?.signal.aborted ? 'unknown' : ended[outcome],
          summary: `${summary} (${outcome}${code}, ${durationMs} ms)${why === '' ? '' : `: ${why.slice(0, maxSummary)}`}`,
          details: toolDetails(settled),
          ...(output === undefined ? {} : { output }),
        });
      });
      points.stage.settled.tap(async ({ stage: settled }) => {
        const { stage, status, expected, ran } = settled;
        const failed = told === undefined ? [] : failedNames(told, settled);
        await told?.emit({
          type: 'noted',
          id: uuidV7(clock.now()),
          title: `Gate ${stage}`,
          text: [`${status}: ${gateWords(settled)}`, ...failed].join('\n'),
          gate: { stage, status, ran, expected, ...(failed.length === 0 ? {} : { failed }) },
        });
      });
      return undefined;
    },
  });
  return {
    plugin,
    heldBack: (command) => held.get(sha256Hex(command)),
    printed(request, text) {
      printed.set(request, text);
      told?.mention({ type: 'printing', id: idOf(request), text });
    },
    idOf,
    exempt: (request) => void exempted.add(request),
    guard(given) {
      hooks = given;
    },
    watch(scope) {
      told = scope;
    },
  };
}

const mostHeld = 1000;

function remember(all: Map<string, string>, one: string, what: string): void {
  all.set(one, what);
  const [oldest] = all.keys();
  if (all.size > mostHeld && oldest !== undefined) all.delete(oldest);
}

/** A new test must fail without its fix. */
function onOldCode(hasFailed: boolean): string {
  return hasFailed ? 'expected on the old code' : 'on the old code';
}

const looking = new Set([
  'workspace.fs read',
  'workspace.search search',
  'workspace.command list',
  'workspace.command output',
]);

/** Whether a call is read-only, locally and remotely. */
function isLooking({ tool, action }: ToolRequest): boolean {
  return looking.has(`${tool} ${action}`);
}

function describe({ tool, action, command, paths = [], query, task }: ToolRequest) {
  const what = command ?? query ?? paths.join(', ');
  const summary = `${action} ${what}`.trim().slice(0, maxSummary);
  return { toolName: tool, summary, ...(task === undefined ? {} : { task }) };
}

/** Characters of all of it, and of what is repeated out of the request. */
const most = { all: 8000, asked: 6000, paths: 100 } as const;

/** What a tool did and its result, one fact a line, the command last. The caller masks it. */
function toolDetails({ request, outcome, refusal, exitCode, heldBack, durationMs }: ToolSettled): string {
  const { tool, action, checkId, command, paths = [], query } = request;
  const asked = command ?? query ?? '';
  const told = asked.slice(0, most.asked).toWellFormed();
  const shownPaths = paths.slice(0, most.paths);
  const lines = [
    `${tool} ${action}: ${outcome}${exitCode === undefined ? '' : `, exit code ${exitCode}`}, ${durationMs} ms`,
    ...(checkId === undefined ? [] : [`check: ${checkId}`]),
    ...(refusal === undefined ? [] : [`refused by ${refusal.rule}: ${refusal.message}`]),
    ...(heldBack === undefined ? [] : [`the sandbox kept it from this: ${heldBack}`]),
    ...(shownPaths.length === 0 ? [] : [`paths: ${shownPaths.join(', ')}`]),
    ...(paths.length > shownPaths.length ? [`and ${paths.length - shownPaths.length} more paths`] : []),
    ...(told === '' ? [] : [`asked: ${told}${told.length < asked.length ? '…' : ''}`]),
  ];
  return lines.join('\n').slice(0, most.all).toWellFormed();
}
