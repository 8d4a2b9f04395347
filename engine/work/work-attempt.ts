/* Runs a worker for one attempt and imports its patch. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openAgentHost } from '../../agent/agent-program/open-agent.ts';
import type { openExternalAgent } from '../../agent/external/run-agent.ts';
import { type KeptCode, openCode } from '../../agent/language-servers/code-queries.ts';
import type { KeptMcp } from '../../agent/mcp/mcp-tools.ts';
import {
  type OpenTurns,
  openTurns,
  type TurnsUsed,
  untrustedText,
} from '../../agent/model-loop/model-turns.ts';
import type { AttemptTools, ToolPlace, UsedTool } from '../../agent/tool-calls/tool-entry.ts';
import { openHistory } from '../../agent/version-control/answer-vcs.ts';
import { type WriteWatch, watchWrites } from '../../agent/workspace-tools/authorize-use.ts';
import { openWorkspaceTools, writeStubs } from '../../agent/workspace-tools/workspace-tools.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { CheckNetwork } from '../../core/interfaces/scanner.ts';
import type { ArtifactRecord } from '../../core/interfaces/stage.ts';
import type {
  PersonQuestion,
  TaskOrder,
  Worker,
  WorkResult,
  WorkUsage,
} from '../../core/interfaces/worker.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';
import type { Base } from '../../workspace/git/resolve-commit.ts';
import {
  exportTree,
  rememberWorkspace,
  removeWorkspace,
  type TreeOfWorkspace,
} from '../../workspace/git/workspace.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import { patchFromBytes } from '../../workspace/patch/read-patch.ts';
import { emptyPatch } from '../../workspace/patch/undo.ts';
import { type InstructionFiles, withSkills } from '../context/instruction-files.ts';
import { givenDirectories } from '../evaluate/find-dependencies.ts';
import { quotesTests } from '../plan/revise-plan.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import { type AttemptCalls, lostUse, reportLostCall, workedStep } from '../state/calls.ts';
import { instructionsOf } from '../state/context-snapshot.ts';
import { type ArtifactCollector, createArtifactCollector } from '../state/evidence.ts';
import { type Attempt, type OpenRun, policyOf, withSteps } from '../state/open-run.ts';
import { recordOutcome } from '../state/outcome.ts';
import type { Steps } from '../state/record-collector.ts';
import type { WorkWatch } from '../state/run-request.ts';
import { addSpent, type Spent } from '../state/spent.ts';
import {
  type KeptSources,
  keepSources,
  openAttemptMcp,
  openAttemptSkills,
  openSources,
} from './open-sources.ts';

/** What a worker's answer came to, as a step records it. */
export type WorkedRecord = {
  readonly usage: WorkUsage;
  readonly metrics?: Readonly<Record<string, number>>;
  /** A decision cites sources that contradict each other. */
  readonly sourcesContradict?: true;
  /** Every use of a tool. */
  readonly tools?: readonly UsedTool[];
  readonly model?: Pick<TurnsUsed, 'turns' | 'notices' | 'requests'>;
  /** Code queries that were available. */
  readonly code?: KeptCode;
  /** MCP servers that were started, or should have been. */
  readonly mcp?: KeptMcp;
  /** Session logs of an external agent. */
  readonly artifacts?: readonly ArtifactRecord[];
} & KeptSources &
  (
    | { readonly kind: 'patch'; readonly tree: string; readonly digest: string }
    | { readonly kind: 'nothing' | 'unusable'; readonly reason: string }
  );

/** A worker's attempt: its patchset (empty if there was no usable change) and its record. */
interface WorkedAttempt {
  readonly patch: PatchSet;
  readonly record: WorkedRecord;
}

/** What an attempt is at. */
interface WorkedTask {
  /** Key of the Task. */
  readonly task: string;
  /** Whether the plan has other Tasks: what the attempt does is then reported with its Task. */
  readonly isOfSeveral: boolean;
  /** Addresses that its context holds. */
  readonly context?: readonly string[] | undefined;
  /** Cost units that the run may still use; absent: no limit. */
  readonly unitsLeft?: number | undefined;
}

/**
 * Error codes that pass through unchanged: the model call has no retries left or is not allowed, or recording or
 * playback failed.
 */
const settled: ReadonlySet<string> = new Set([
  'PROVIDER_FAILED',
  'PROVIDER_OPTION',
  'AGENT_PORT_UNUSABLE',
  'AGENT_UNAVAILABLE',
  'AGENT_RULE_MISSING',
  'AGENT_DEADLINE',
  'AGENT_FAILED',
  'AGENT_NOTHING_CAPTURED',
  'AGENT_LOG_UNUSABLE',
  'SESSION_BUDGET_SPENT',
  'SESSION_BUDGET_UNPRICED',
  'OUTPUT_FAILED',
  'RECORDING_DIFFERS',
  'RECORDING_ENDED',
  'RECORDING_MALFORMED',
]);

/**
 * Runs a worker for one attempt on `base`, in a separate workspace, and imports its patch into the scratch
 * repository. Returns a record even if the result is not a patch of this repository. Throws WORKER_FAILED if the
 * worker fails.
 */
export async function workAttempt(
  run: OpenRun,
  steps: Steps,
  base: Base,
  order: Omit<
    TaskOrder,
    'workspace' | 'hands' | 'code' | 'web' | 'mcp' | 'citations' | 'turns' | 'person' | 'signal'
  >,
  { task, isOfSeveral, context = [], unitsLeft }: WorkedTask,
): Promise<WorkedAttempt> {
  const {
    services: {
      scratch,
      worker,
      settings: { person },
      signal,
    },
  } = run;
  let made: PatchSet | undefined;
  const work = async (): Promise<WorkedRecord> => {
    if (!worker) throw new WritError('NO_WORKER');
    const calls = run.services.calls.of(attemptName(order.revision, order.taskNumber, order.attempt));
    const place = join(
      run.services.privateRoot,
      `work-${order.taskNumber}-${order.revision}-${order.attempt}`,
    );
    const [workspace, reports] = [join(place, 'workspace'), join(place, 'reports')];
    await removeWorkspace(place);
    await mkdir(reports, { recursive: true, mode: 0o700 });
    await exportTree(scratch, base.tree, workspace, base.commit);
    try {
      const kept = await rememberWorkspace(scratch, workspace, base.tree, join(place, 'index'));
      const watch = watchWrites(run, base.tree, kept);
      const at = { workspace, reports, stubs: writeStubs(place) };
      const tools = openAttemptTools(run, task, calls, isOfSeveral);
      const history = openHistory(run, base, { place, kept });
      await using code = await openCode(run, at, () => givenDirectories(run, workspace, base.tree));
      await using hands = openWorkspaceTools(run, at, { watch, history, code }, tools);
      const sources = await openSources(run, {
        place: at,
        tools,
        hands,
        tree: base.tree,
        steps: order.steps.length,
        context,
      });
      await using mcp = await openAttemptMcp(run, at, tools, base.tree);
      const files = worker.usesModel ? await instructionsOf(run) : { files: [] };
      // It grows by the skills that the model reads.
      const instructions = [...files.files];
      const skills = await openAttemptSkills(
        run,
        { place: at, tools, hands, strategy: sources.strategy },
        ({ path, sha256 }) => void instructions.push({ path, sha256 }),
      );
      const guides = withSkills(files, skills?.text);
      const name = attemptName(order.revision, order.taskNumber, order.attempt);
      const artifacts: ArtifactRecord[] = [];
      const keepLog = async (bytes: Uint8Array, number: number): Promise<string> => {
        const record = await collectorOf(run, name).add({
          name: number === 1 ? 'agent-session-log' : `agent-session-log-${number}`,
          stage: 'fast',
          bytes,
          contentType: 'text/plain',
          extension: 'log',
        });
        artifacts.push(record);
        return record.sha256;
      };
      await using asked = await openAsked(run, at, tools, {
        instructions,
        watch,
        unitsLeft,
        keepLog,
      });
      const given = {
        ...forModel(run, worker, order),
        ...(guides.text === undefined ? {} : { instructionFiles: guides.text }),
        workspace,
        hands: skills?.hands ?? hands,
        ...(code.door === undefined ? {} : { code: code.door }),
        ...sources,
        ...(mcp.door === undefined ? {} : { mcp: mcp.door }),
        ...asked.ways,
        ...(person === undefined
          ? {}
          : { person: { answer: (question: PersonQuestion) => person.answer(question, signal) } }),
        signal,
      };
      const earlier = calls.lost().map(lostUse);
      const result = await ask(run, { ...worker, ...asked.worker }, given, tools);
      // Nothing may write while the change is captured.
      await hands[Symbol.asyncDispose]();
      await asked[Symbol.asyncDispose]();
      const codeKept = await code.kept();
      await code[Symbol.asyncDispose]();
      await mcp[Symbol.asyncDispose]();
      const mcpKept = mcp.kept();
      const worked = withCost(result, asked.taken(), calls.lostSpent);
      const taken = brokenRecord(tools, worked) ?? (await take(run, base, worked, kept, watch));
      made = taken.patch;
      const told = toldOf([...earlier, ...tools.used], asked.taken());
      return {
        ...taken.record,
        ...told,
        ...(codeKept === undefined ? {} : { code: codeKept }),
        ...(mcpKept === undefined ? {} : { mcp: mcpKept }),
        ...(artifacts.length === 0 ? {} : { artifacts }),
        ...(await keepSources(
          sources,
          [hands.network(), asked.network?.(), mcp.network()],
          result.citations,
        )),
      };
    } finally {
      await removeWorkspace(place);
    }
  };
  const record = await recordOutcome(withSteps(run, steps), workedStep, work);
  if (record.kind !== 'patch') return { patch: emptyPatch(base), record };
  return { patch: made ?? (await normalisePatch(scratch, base, record.tree)), record };
}

interface RunTools extends AttemptTools {
  readonly calls: AttemptCalls;
}

/** Opens what the tools of one attempt share. */
function openAttemptTools(run: OpenRun, task: string, calls: AttemptCalls, isOfSeveral: boolean): RunTools {
  const { engine, settings, signal } = run.services;
  const { person } = settings;
  const policy = policyOf(run);
  const used: UsedTool[] = [];
  let broken: WritError | undefined;
  return {
    engine,
    nowMs: () => settings.clock.now(),
    mask: (text) => redactTexts(text, policy),
    policy,
    signal,
    task,
    ...(isOfSeveral ? { label: task } : {}),
    calls,
    ...(person === undefined
      ? {}
      : { consent: (request, change) => person.consent(request, signal, change) }),
    used,
    keep: (use) => void used.push(use),
    broke: (fault) => {
      broken ??= fault;
    },
    broken: () => broken,
  };
}

/** A worker that fails with its files half done is not called again here: its run stops and can be resumed. */
async function ask(
  run: OpenRun,
  worker: Worker,
  order: TaskOrder,
  { broken, calls }: Pick<RunTools, 'broken' | 'calls'>,
): Promise<WorkResult> {
  try {
    const result = await worker.work({ ...order, ...lostOf(run, calls) });
    // An answer after the run was stopped is not an answer to the Task.
    run.services.signal.throwIfAborted();
    return result;
  } catch (cause) {
    run.services.signal.throwIfAborted();
    // A retry would need the tool that failed.
    if (broken() !== undefined) return { kind: 'nothing', reason: '', usage: { costUnits: 0 } };
    const kept = `the run is kept: \`writ resume ${run.identity.runId}\``;
    if (isWritError(cause) && settled.has(cause.code)) {
      const { code, message, detail } = cause;
      throw new WritError(code, { message, detail, hints: [...cause.hints, kept], cause });
    }
    throw new WritError('WORKER_FAILED', {
      message: `the worker \`${worker.name}\` failed at task ${order.taskNumber}, attempt ${order.attempt}: ${messageOf(cause)}`,
      detail: { task: order.taskNumber, attempt: order.attempt },
      hints: [kept],
      cause,
    });
  }
}

async function take(
  { services: { scratch }, environment }: Pick<OpenRun, 'services' | 'environment'>,
  base: Base,
  result: WorkResult,
  kept: TreeOfWorkspace,
  watch: WriteWatch,
): Promise<{ readonly record: WorkedRecord; readonly patch?: PatchSet }> {
  const { usage, metrics } = result;
  const used = {
    usage: checkUsage(usage),
    ...(metrics === undefined ? {} : { metrics }),
    ...(result.citations?.some(({ contradict }) => contradict) ? { sourcesContradict: true as const } : {}),
  };
  if (result.kind === 'nothing') return { record: { kind: 'nothing', reason: result.reason, ...used } };
  try {
    const patch =
      result.kind === 'workspace'
        ? await normalisePatch(scratch, base, await kept.take())
        : await patchFromBytes(scratch, base, result.patch);
    const [strayed] = await watch.strayedIn(patch.candidateTree);
    if (strayed !== undefined) {
      const reason = `a command wrote ${quoted(strayed)} outside the \`writeRoots\` of the rule that allowed it`;
      return { record: { kind: 'unusable', reason, ...used } };
    }
    await requireOldSigners(scratch, environment.policy, patch);
    return { record: { kind: 'patch', tree: patch.candidateTree, digest: patch.digest, ...used }, patch };
  } catch (fault) {
    if (!isWritError(fault) || !(fault.code.startsWith('PATCH_') || fault.code === 'INPUT_TOO_LARGE'))
      throw fault;
    if (fault.code === 'PATCH_EMPTY' && result.kind === 'workspace')
      return { record: { kind: 'nothing', reason: 'the workspace is as it was', ...used } };
    return { record: { kind: 'unusable', reason: `${fault.code}: ${fault.message}`, ...used } };
  }
}

/** A failed tool fails the attempt, because it is unknown what it left undone. */
function brokenRecord(
  { broken }: Pick<AttemptTools, 'broken'>,
  { usage }: Pick<WorkResult, 'usage'>,
): { readonly record: WorkedRecord; readonly patch?: undefined } | undefined {
  const fault = broken();
  if (fault === undefined) return undefined;
  const reason = `${fault.code}: ${fault.message}`;
  return { record: { kind: 'unusable', reason, usage: checkUsage(usage) } };
}

/** The order as a model sees it: why an attempt failed, and names of tests, are output of programs. */
function forModel<Order extends Pick<TaskOrder, 'constraints' | 'previousFailure'>>(
  { identity: { contract } }: Pick<OpenRun, 'identity'>,
  { usesModel }: Worker,
  order: Order,
): Order {
  if (!usesModel) return order;
  const { promptInjection } = contract.effective.security;
  const fenced = (text: string): string => untrustedText(promptInjection, text);
  const { constraints, previousFailure } = order;
  return {
    ...order,
    constraints: constraints.map((one) => (quotesTests(one) ? fenced(one) : one)),
    ...(previousFailure === undefined ? {} : { previousFailure: fenced(previousFailure) }),
  };
}

/** External calls before the interruption, as reported to the next worker. */
function lostOf(
  { identity: { contract } }: Pick<OpenRun, 'identity'>,
  calls: AttemptCalls,
): Pick<TaskOrder, 'lostCalls'> {
  const lost = calls.lost();
  if (lost.length === 0) return {};
  const { promptInjection } = contract.effective.security;
  const shown = lost
    .slice(0, maxLostShown)
    .map(
      (call) =>
        `${reportLostCall(call)}; ${calls.held(call) ? 'the very same call is refused' : 'a person lets you make it again'}`,
    );
  const more = lost.length > shown.length ? [`and ${lost.length - shown.length} more`] : [];
  return { lostCalls: [...shown, ...more].map((line) => untrustedText(promptInjection, line)) };
}

const maxLostShown = 20;

/** The engine counts the cost of the turns it makes, lost ones included, regardless of the worker's report. */
function withCost(result: WorkResult, taken: TurnsUsed | undefined, lost: Spent): WorkResult {
  if (taken === undefined) return result;
  const { costUnits, tokensUsed } = addSpent(lost, taken);
  return { ...result, usage: { costUnits: result.usage.costUnits + costUnits, tokensUsed } };
}

/** What the worker used on its way, for the record of the attempt. */
function toldOf(
  used: readonly UsedTool[],
  taken: TurnsUsed | undefined,
): Pick<WorkedRecord, 'tools' | 'model'> {
  return {
    ...(used.length === 0 ? {} : { tools: used }),
    ...(taken === undefined
      ? {}
      : { model: { turns: taken.turns, notices: taken.notices, requests: taken.requests } }),
  };
}

/** A worker cannot lower what was spent. */
function checkUsage(usage: WorkUsage): WorkUsage {
  const { costUnits } = usage;
  if (Number.isFinite(costUnits) && costUnits >= 0) return usage;
  throw new WritError('WORKER_FAILED', {
    message: `expected \`costUnits\` from 0, found \`${costUnits}\``,
    detail: { costUnits: String(costUnits) },
  });
}

/** The way of an attempt to the model that its worker names, or to the program that has one. */
interface OpenAsked extends AsyncDisposable {
  readonly ways: Pick<TaskOrder, 'turns' | 'agent'>;
  taken(): TurnsUsed | undefined;
  /** An external agent does the work in place of the worker. */
  readonly worker?: Pick<Worker, 'work'>;
  network?(): CheckNetwork;
}

interface AskedSetting extends Omit<Parameters<typeof openExternalAgent>[3], 'place' | 'tools'> {
  readonly instructions: InstructionFiles['files'];
}

async function openAsked(
  run: OpenRun,
  place: ToolPlace,
  tools: AttemptTools,
  setting: AskedSetting,
): Promise<OpenAsked> {
  const { instructions } = setting;
  const { model, worker } = run.services;
  if (model === undefined) return { ways: {}, taken: () => undefined, [Symbol.asyncDispose]: async () => {} };
  const { agent, external } = model;
  const { called } = run.services.calls;
  if (external !== undefined && worker?.external !== undefined) {
    const { spend } = tools.calls;
    const about = { ...setting, place, tools, spend, task: tools.task, called };
    const { openExternalAgent: open } = await import('../../agent/external/run-agent.ts');
    const opened = await open(run, worker.external, { ...model, external }, about);
    const { taken, network } = opened;
    return { ways: {}, worker: opened, taken, network, [Symbol.asyncDispose]: closeOnce(opened) };
  }
  if (agent === undefined) {
    const turns = heardTurns(
      openTurns(run, model, { spend: tools.calls.spend, task: tools.task, called, instructions }),
      run.services.settings.watch,
      tools.label,
    );
    return { ways: { turns }, taken: turns.taken, [Symbol.asyncDispose]: async () => {} };
  }
  const host = await openAgentHost(run, place, { ...model, agent }, tools, { called, instructions });
  return { ways: { agent: host }, taken: host.taken, [Symbol.asyncDispose]: closeOnce(host) };
}

function closeOnce(opened: { close(): Promise<void> }): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return async () => {
    closed ??= opened.close();
    await closed;
  };
}

/** The same turns, with their events reported to the run's watcher. */
function heardTurns(turns: OpenTurns, watch: WorkWatch | undefined, label: string | undefined): OpenTurns {
  if (watch === undefined) return turns;
  const heard = watch.listen(label);
  return {
    ...turns,
    take: (question, told) =>
      turns.take(question, (event) => {
        told?.(event);
        heard(event);
      }),
  };
}

/** Starts an attempt named `name` over a patchset; adopts records that an earlier process wrote under that name. */
export function beginAttempt(run: OpenRun, name: string, patch: PatchSet): Attempt {
  const box = collectorOf(run, name);
  return { ...withSteps(run, run.services.steps.under(name)), name, patch, box, approvals: [] };
}

function collectorOf(run: OpenRun, name: string): ArtifactCollector {
  return createArtifactCollector({
    directory: join(run.services.directory, 'content', name),
    spec: run.identity.contract.effective,
    hooks: run.services.engine.hooks,
    policy: policyOf(run),
    nowMs: () => run.services.settings.clock.now(),
  });
}

/** The name of an attempt in its run. */
export function attemptName(revision: number, number: number, attempt: number): string {
  return `task-${number}/revision-${revision}/attempt-${attempt}`;
}
