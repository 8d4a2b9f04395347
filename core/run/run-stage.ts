import type { Finding } from '../contract/finding.ts';
import type { CheckRecord, StageName, StageRecord } from '../contract/stage.ts';
import { askRules } from './ask-rules.ts';
import type { Attempt, Workspace } from './attempt.ts';
import { impliedArtifacts } from './collect-artifacts.ts';
import { inParallel } from './in-parallel.ts';
import { parallelLimit } from './parallel-limit.ts';
import { produceArtifacts } from './produce-artifacts.ts';
import { ruleQuestion } from './rule-question.ts';
import { runCheck } from './run-check.ts';

/**
 * Runs one stage: commands and suites side by side, then policy checks (they judge what the others left), then everyone
 * who judges the stage. Records stand in the contract's order.
 */
export async function runStage(
  attempt: Attempt,
  workspace: Workspace,
  stage: StageName,
  before: readonly StageRecord[],
): Promise<StageRecord> {
  const { engine, contract, journal, runId, patch } = attempt;
  const spec = contract.effective;
  const listed = spec.acceptance.verificationPlan[`${stage}Checks`].map((check, index) => ({ check, index }));
  const implied = impliedArtifacts(spec, stage);
  await journal.append('stage-started', { stage, expected: listed.length });
  const settled: (CheckRecord | undefined)[] = listed.map(() => undefined);
  const runAll = async (tasks: typeof listed): Promise<StageRecord> => {
    const earlier = settled.filter((record) => record !== undefined);
    await inParallel(tasks, parallelLimit(spec, attempt.ground.config.checks.maxParallel), async (task) => {
      attempt.request.signal.throwIfAborted();
      if (attempt.wallClockExceeded()) return;
      const record = await runCheck(attempt, workspace, { stage, earlier, implied, ...task });
      settled[task.index] = record;
      await journal.append('check-settled', { ...record });
    });
    const ran = settled.filter((record) => record !== undefined);
    const record: StageRecord = {
      stage,
      status: 'passed',
      expected: listed.length,
      ran: ran.length,
      checks: ran,
      findings: [],
    };
    await produceArtifacts(attempt, record, before);
    return record;
  };
  await runAll(listed.filter(({ check }) => check.kind !== 'policy'));
  const unjudged = await runAll(listed.filter(({ check }) => check.kind === 'policy'));
  const findings = await judgeStage(attempt, unjudged);
  const judged: StageRecord = { ...unjudged, findings };
  const added = await engine.hooks.stage.judge.call({ runId, spec, patch, stage: judged });
  const record = settle({ ...judged, findings: [...findings, ...added] });
  await journal.append('stage-settled', { stage, status: record.status, findings: record.findings });
  await engine.hooks.stage.settled.call({ runId, stage: record });
  return record;
}

async function judgeStage(attempt: Attempt, stage: StageRecord): Promise<readonly Finding[]> {
  const { engine, contract, patch, scope, box } = attempt;
  const spec = contract.effective;
  const question = ruleQuestion(attempt, {
    spec,
    patch,
    scope,
    stage: { name: stage.stage, checks: stage.checks },
    artifacts: box.list(),
  });
  return askRules(question, engine.rules.at(stage.stage, spec));
}

/** `skipped` only where the contract lists nothing and nobody objects; a stage that listed checks and ran none has failed. */
function settle(stage: StageRecord): StageRecord {
  const required = stage.checks.filter((check) => check.required);
  const failed =
    stage.findings.some((finding) => finding.severity === 'error') ||
    stage.ran !== stage.expected ||
    required.some((check) => check.status === 'failed');
  if (failed) return { ...stage, status: 'failed' };
  if (required.some((check) => check.status === 'waiting')) return { ...stage, status: 'waiting' };
  return { ...stage, status: stage.expected === 0 ? 'skipped' : 'passed' };
}
