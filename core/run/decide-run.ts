import { canonicalDigest } from '../base/canonical.ts';
import type { DigestedThing } from '../contract/attestor.ts';
import type { Finding } from '../contract/finding.ts';
import { type StageRecord, stageNames } from '../contract/stage.ts';
import type { EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import type { Attempt } from './attempt.ts';
import { decide } from './decide.ts';
import type { DecidedFinding, DecidedStage, DecisionInput } from './decision-input.ts';
import { finalReport } from './gate-report.ts';
import type { JudgedRun } from './judged-run.ts';

/** Asks the decision guards, boils everything down to the decision's input, and decides. */
export async function decideRun(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
  dependencies: readonly DigestedThing[],
): Promise<JudgedRun> {
  const { input, decision, refusals } = await attempt.steps.once('decided', () =>
    findDecision(attempt, findings, stages),
  );
  return { findings, stages, refusals, dependencies, input, decision };
}

async function findDecision(
  attempt: Attempt,
  findings: readonly Finding[],
  stages: readonly StageRecord[],
): Promise<Pick<JudgedRun, 'input' | 'decision' | 'refusals'>> {
  const { engine, contract, runId, patch } = attempt;
  const spec = contract.effective;
  const refusal = await engine.hooks.decision.guard.call({ runId, spec, patch, findings, stages });
  const refusals = [...unsealable(spec), ...(refusal ? [refusal] : [])];
  const input: DecisionInput = {
    schema: 'urn:writ:decision-input:v1',
    runId,
    specId: spec.metadata.id,
    specDigest: contract.digest,
    baseCommit: patch.baseCommit ?? null,
    patchDigest: patch.digest,
    candidateTree: patch.candidateTree,
    gateReportDigest: canonicalDigest(finalReport(attempt, findings, stages)),
    patchFindings: findings.map(toDecided),
    stages: stageNames.map((name) => toDecidedStage(spec, name, stages)),
    wallClock: {
      limitSeconds: spec.constraints.resources.maxWallClockSeconds,
      exceeded: attempt.wallClockExceeded(),
    },
    refusals: refusals.map(toDecided),
  };
  return { input, decision: decide(input), refusals };
}

/** Artifacts that sealing would have to make but the contract's own provenance policy rules out. */
function unsealable(spec: EffectiveIntentSpec): readonly Finding[] {
  if (spec.provenance.transparencyLog.mode !== 'none') return [];
  const wanted = spec.artifacts.required.some(
    ({ name, required }) => required && name === 'transparency-proof',
  );
  if (!wanted) return [];
  return [
    {
      rule: 'artifact-present',
      severity: 'error',
      message: '`transparency-proof` is required, but `provenance.transparencyLog.mode` is `none`',
    },
  ];
}

function toDecidedStage(
  spec: EffectiveIntentSpec,
  name: DecidedStage['stage'],
  stages: readonly StageRecord[],
): DecidedStage {
  const record = stages.find((stage) => stage.stage === name);
  if (!record) {
    const expected = spec.acceptance.verificationPlan[`${name}Checks`].length;
    return { stage: name, status: 'not-started', expected, ran: 0, checks: [], findings: [] };
  }
  const { status, expected, ran } = record;
  const checks = record.checks.map(({ id, status: outcome, required }) => ({
    id,
    status: outcome,
    required,
  }));
  return { stage: name, status, expected, ran, checks, findings: record.findings.map(toDecided) };
}

function toDecided({ rule, severity, path, line }: Finding): DecidedFinding {
  return { rule, severity, ...(path === undefined ? {} : { path }), ...(line === undefined ? {} : { line }) };
}
