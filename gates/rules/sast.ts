/* The rule `sast`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { isObject } from '../formats/documents.ts';
import { evaluateDocuments } from '../formats/matches-format.ts';
import { sarifFault, sarifResults } from '../formats/sarif.ts';
import { unfinishedReason } from '../formats/sarif-level.ts';
import { plainLine } from '../reports/test-report.ts';
import { evaluateChange } from '../sast/judge-change.ts';

const rule = 'sast';
const artifact = 'sast-report';
const expected = 'SARIF 2.1.0 in which a tool ran and reports no result of level `error`';
const maxFindings = 100;

/**
 * Gates at which the spec can require a report, in order. From the security gate on, the rule expects one, unless the
 * spec requires it later.
 */
const gates: readonly string[] = ['per-task', 'integration', 'security', 'release'];

/**
 * Static analysis: findings of the built-in rows on added lines (gates/sast/rows.ts), and every `sast-report`. A
 * report must be SARIF of a tool that ran, without a result of level `error`. Suppressed results count, because the
 * change itself may contain the suppression. Without a stage only the rows run.
 */
export const judge: RuleFunction = async (input) => {
  const own = await evaluateChange(input);
  const { stage } = input;
  if (!stage) return own;
  const hasReport = input.artifacts.some(({ name }) => name === artifact);
  const place = stage.name === 'fast' ? 0 : gates.indexOf(stage.name);
  const isLater = input.spec.artifacts.required.some(
    ({ name, stage: at }) => name === artifact && gates.indexOf(at) > place,
  );
  if (!hasReport && (isLater || place < gates.indexOf('security'))) return own;
  // The engine's own report repeats the row findings. Its completeness and format are still checked.
  return [...own, ...evaluateDocuments({ rule, artifact, expected, judge: judgeReport }, input)];
};

function judgeReport(value: unknown, path: string, isOurs: boolean): readonly Finding[] {
  const fail = (found: string): Finding => ({
    rule,
    severity: 'error',
    message: `expected \`${artifact}\` to be ${expected}, found ${found}`,
    path,
    detail: { artifact, expected, found },
  });
  const fault = sarifFault(value);
  if (fault !== undefined) return [fail(fault)];
  const runs = isObject(value) && Array.isArray(value.runs) ? value.runs.filter(isObject) : [];
  if (runs.length === 0) return [fail('no run of a tool')];
  const findings = runs.flatMap((run) => {
    const unfinished = unfinishedReason(run);
    return unfinished === undefined ? [] : [fail(unfinished)];
  });
  if (isOurs) return findings;
  let errors = 0;
  for (const result of runs.flatMap((run) => [...sarifResults(run)])) {
    if (result.level !== 'error') continue;
    errors += 1;
    if (errors > maxFindings) continue;
    findings.push({
      rule,
      severity: 'error',
      message: `${plainLine(result.ruleId, 100)}: ${plainLine(result.message, 300)}`,
      path: result.path === undefined ? path : plainLine(result.path, 500),
      ...(result.line === undefined ? {} : { line: result.line }),
      detail: { artifact, level: 'error' },
    });
  }
  if (errors > maxFindings)
    findings.push(fail(`${errors} results of level \`error\`, of which ${maxFindings} are listed`));
  return findings;
}
