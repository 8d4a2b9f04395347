import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toRfc3339 } from '../base/clock.ts';
import { isWritError, messageOf } from '../base/errors.ts';
import type { CheckContext, CheckOutcome } from '../contract/check-runner.ts';
import type { Finding } from '../contract/finding.ts';
import type { ToolRequest, ToolSettled } from '../contract/hook-payload.ts';
import type { RuleInput } from '../contract/rule.ts';
import type { CheckRecord, StageName, ToolUse } from '../contract/stage.ts';
import type { EffectiveCheck } from '../spec/intentspec.gen.ts';
import { guardCommand } from '../tool/acl.ts';
import { checkEnvironment } from '../tool/check-environment.ts';
import { askRule } from './ask-rules.ts';
import type { Attempt, Workspace } from './attempt.ts';
import { collectArtifacts } from './collect-artifacts.ts';
import { type OpeningWorkspace, WorkspaceLost } from './open-workspace.ts';
import { readReports } from './read-reports.ts';
import { ruleQuestion } from './rule-question.ts';

/** Bytes kept of each output stream where no tool rule sets `maxOutputBytes`. */
const defaultMaxOutputBytes = 1024 * 1024;

/** Faults that no check may swallow: the run cannot go on without its evidence. */
const fatal = new Set(['EVIDENCE_WRITE_FAILED', 'RUN_INTERRUPTED']);

/** One check of a stage, and what is known when it starts. */
export interface CheckTask {
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  /** Its place in the contract's list. */
  readonly index: number;
  /** What the checks before it did: for a policy check, all commands and suites of its stage. */
  readonly earlier: readonly CheckRecord[];
  /** Artifacts that its output counts as although it claims none. */
  readonly implied: readonly string[];
}

/** Runs one check to its record. A broken check kind has failed its check; only the run's own faults are thrown. */
export async function runCheck(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  task: CheckTask,
): Promise<CheckRecord> {
  const { stage, check } = task;
  const { box } = attempt;
  const { clock, signal } = attempt.settings;
  const startedAt = toRfc3339(clock.now());
  const started = clock.monotonic();
  const tools: ToolUse[] = [];
  const outcome = await judgeCheck(attempt, checkContext(attempt, workspace, task, tools), check);
  signal.throwIfAborted();
  const artifacts = await collectArtifacts(box, stage, check, outcome, task.implied);
  const { result } = outcome;
  const failed = outcome.findings.some((finding) => finding.severity === 'error');
  return {
    id: check.id,
    kind: check.kind,
    stage,
    status: failed ? 'failed' : outcome.waiting ? 'waiting' : 'passed',
    required: check.required,
    command: check.command ?? '',
    expectedExitCode: check.expectedExitCode,
    ...(result?.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result?.signal === undefined ? {} : { signal: result.signal }),
    timedOut: result?.timedOut ?? false,
    durationMs: Math.round(result?.durationMs ?? clock.monotonic() - started),
    startedAt,
    ...(outcome.tests ? { tests: outcome.tests } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    artifacts,
    findings: outcome.findings,
  };
}

async function judgeCheck(
  attempt: Attempt,
  context: CheckContext,
  check: EffectiveCheck,
): Promise<CheckOutcome> {
  try {
    const runner = await attempt.engine.slots.check.pick(check.kind);
    return await runner.run(context);
  } catch (fault) {
    if (fault instanceof WorkspaceLost) throw fault;
    if (attempt.settings.signal.aborted) throw attempt.settings.signal.reason;
    if (isWritError(fault) && fatal.has(fault.code)) throw fault;
    const code = isWritError(fault) ? fault.code : 'INTERNAL';
    const finding: Finding = {
      rule: 'check-outcome',
      severity: 'error',
      message: `the check could not be run: ${messageOf(fault)}`,
      detail: { code },
    };
    return { findings: [finding], reports: [] };
  }
}

function checkContext(
  attempt: Attempt,
  workspace: OpeningWorkspace,
  { stage, check, earlier, index }: CheckTask,
  tools: ToolUse[],
): CheckContext {
  const { engine, contract, patch, scope, box } = attempt;
  const ruleInput: Omit<RuleInput, 'args' | 'files' | 'options'> = {
    spec: contract.effective,
    patch,
    scope,
    stage: { name: stage, checks: earlier },
    artifacts: box.list(),
  };
  return {
    check,
    ruleInput,
    async runCommand() {
      const opened = await workspace.open();
      const reports = join(opened.reportsRoot, `${stage}-${index}`);
      await mkdir(reports, { mode: 0o777 });
      try {
        return await runCommand(attempt, opened, check, reports, tools);
      } finally {
        await rm(reports, { recursive: true, force: true });
      }
    },
    async askRule(id, args) {
      const rule = engine.rules.get(id);
      return rule && askRule(ruleQuestion(attempt, ruleInput), rule, args);
    },
  };
}

async function runCommand(
  attempt: Attempt,
  workspace: Workspace,
  check: EffectiveCheck,
  reports: string,
  tools: ToolUse[],
): ReturnType<CheckContext['runCommand']> {
  const { contract, runId, signal } = attempt;
  const { clock } = attempt.settings;
  const command = check.command ?? '';
  const inside = workspace.sandbox.pathsInside({ workspace: workspace.directory, reports });
  const env = checkEnvironment({
    intentSpecId: contract.effective.metadata.id,
    intentSpecDigest: contract.digest,
    runId,
    workspace: inside.workspace,
    baseSha: attempt.patch.baseCommit ?? '',
    patchSetDigest: attempt.patch.digest,
    reportsDir: inside.reports,
  });
  const tool: ToolRequest = {
    runId,
    tool: 'workspace.command',
    action: 'execute',
    checkId: check.id,
    command,
  };
  const startedAt = toRfc3339(clock.now());
  const started = clock.monotonic();
  const settle = async (settled: Omit<ToolSettled, 'request' | 'durationMs'>): Promise<void> => {
    const durationMs = Math.round(clock.monotonic() - started);
    const { outcome, refusal, exitCode } = settled;
    tools.push({
      tool: tool.tool,
      action: tool.action,
      command,
      outcome,
      ...(refusal === undefined ? {} : { refusal: refusal.rule }),
      ...(exitCode === undefined ? {} : { exitCode }),
      durationMs,
      startedAt,
    });
    await attempt.engine.hooks.tool.settled.call({ request: tool, ...settled, durationMs });
  };
  const acl = guardCommand(contract.effective.security.toolAcl, command, { variables: Object.keys(env) });
  const denied = acl.refusal ?? (await attempt.engine.hooks.tool.guard.call(tool));
  if (denied) {
    await settle({ outcome: 'denied', refusal: denied });
    return { denied, reports: [] };
  }
  const result = await workspace.sandbox.run({
    argv: ['sh', '-c', command],
    workspace: workspace.directory,
    reports,
    binds: workspace.binds,
    env,
    network: workspace.sandbox.name === 'none' ? 'host' : 'none',
    timeoutMs: check.timeoutSeconds * 1000,
    maxOutputBytes: acl.maxOutputBytes ?? defaultMaxOutputBytes,
    signal,
  });
  const read = await readReports(reports);
  const failed = result.timedOut || result.aborted || read.findings.length > 0;
  await settle({
    outcome: failed ? 'failed' : 'done',
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
  });
  const [tooMuch] = read.findings;
  return { ...(tooMuch ? { denied: tooMuch } : {}), result, reports: read.files };
}
