import { canonicalDigest } from '../base/canonical.ts';
import { stageNames } from '../contract/stage.ts';
import type { DecidedFinding, DecidedStage, DecisionInput, DecisionRecord } from './decision-input.ts';

/**
 * Records → Decision. Pure: same input, same bytes, on any machine and in any year. Commits only when nothing speaks
 * against it *and* something was checked; whatever it does not understand speaks against it.
 */
export function decide(input: DecisionInput): DecisionRecord {
  const found = [
    ...wallClockReasons(input),
    ...findingReasons('patch', input.patchFindings),
    ...stageNames.flatMap((name) => stageReasons(name, input.stages)),
    ...findingReasons('guard', input.refusals),
  ];
  // That something did not happen is a reason where nothing says why; else it only repeats the cause.
  const reasons =
    found.length > 0 ? found : [...notStartedReasons(input.stages), ...nothingRanReasons(input.stages)];
  return {
    schema: 'urn:writ:decision:v1',
    runId: input.runId,
    type: reasons.length === 0 ? 'commit' : 'abandon',
    rationale: reasons.length === 0 ? passedRationale(input.stages) : reasons.join('; '),
    reasons,
    inputDigest: canonicalDigest(input),
  };
}

function wallClockReasons({ wallClock }: DecisionInput): string[] {
  return wallClock.exceeded ? [`wall clock of ${wallClock.limitSeconds} s exceeded`] : [];
}

function findingReasons(where: string, findings: readonly DecidedFinding[]): string[] {
  const rules = new Set(
    findings.filter((finding) => finding.severity === 'error').map((finding) => finding.rule),
  );
  return [...rules].map((rule) => `${where} refused by \`${rule}\``);
}

function stageReasons(name: string, stages: readonly DecidedStage[]): string[] {
  const found = stages.filter((stage) => stage.stage === name);
  const stage = found[0];
  if (!stage || found.length > 1) return [`stage \`${name}\` has ${found.length} records, expected 1`];
  if (stage.status === 'not-started') return [];
  const reasons = findingReasons(`stage \`${name}\``, stage.findings);
  for (const check of stage.checks) {
    if (check.required && check.status !== 'passed') reasons.push(`check \`${check.id}\` ${check.status}`);
  }
  if (stage.ran !== stage.expected || stage.checks.length !== stage.ran) {
    reasons.push(`stage \`${name}\` ran ${stage.ran} of ${stage.expected} checks`);
  }
  const settled = stage.expected === 0 ? ['skipped', 'passed'] : ['passed'];
  if (reasons.length === 0 && !settled.includes(stage.status))
    reasons.push(`stage \`${name}\` ${stage.status}`);
  return reasons;
}

function notStartedReasons(stages: readonly DecidedStage[]): string[] {
  return stages
    .filter((stage) => stage.status === 'not-started')
    .map(({ stage }) => `stage \`${stage}\` did not start`);
}

function nothingRanReasons(stages: readonly DecidedStage[]): string[] {
  return stages.some((stage) => stage.ran > 0) ? [] : ['no check ran'];
}

function passedRationale(stages: readonly DecidedStage[]): string {
  const ran = stages.reduce((sum, stage) => sum + stage.ran, 0);
  const passed = stages.flatMap((stage) => stage.checks).filter((check) => check.status === 'passed').length;
  return `${passed} of ${ran} checks passed and no rule objects`;
}
