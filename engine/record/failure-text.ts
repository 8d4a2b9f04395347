/* Describes why an attempt failed, for the next attempt and for people. */
import type { Finding } from '../../core/interfaces/finding.ts';
import { type CheckRecord, failureOutput, mustPass, type StageRecord } from '../../core/interfaces/stage.ts';
import { tailLimits } from '../state/outcome.ts';

/** Characters of one failure that the next attempt gets, apart from output. */
const maxLength = 8000;
/** Characters of output of all failed checks together; each gets an equal share. */
const maxOutputLength = 16_000;
/** Maximum number of failed checks with quoted output. */
const maxQuoted = 8;

/**
 * Why an attempt was rejected, for the next attempt: findings first, then failed checks with their findings.
 * Untrusted text.
 */
export function failureText(findings: readonly Finding[], stages: readonly StageRecord[]): string {
  const lines = [
    ...findings.filter(isError).map(toLine),
    ...stages.flatMap((stage) => [
      ...stage.findings.filter(isError).map((finding) => `stage ${stage.stage}: ${toLine(finding)}`),
      ...stage.checks
        .filter(isBlocking)
        .flatMap((check) => [
          `check ${check.id} failed${check.timedOut ? ' (timed out)' : ''}`,
          ...check.findings.filter(isError).map((finding) => `  ${toLine(finding)}`),
        ]),
    ]),
  ];
  const text = lines.join('\n');
  return text.length > maxLength ? `${text.slice(0, maxLength)}\n…` : text;
}

/** The end of what each failed check printed, with assertions and stack traces; "" if there is none. Untrusted text. */
export function failedOutput(stages: readonly StageRecord[]): string {
  const printed = stages
    .flatMap(({ checks }) => checks.filter(isBlocking))
    .flatMap((check) => {
      const tail = failureOutput(check);
      return tail === undefined ? [] : [{ id: check.id, tail }];
    })
    .slice(0, maxQuoted);
  const share = Math.floor(maxOutputLength / Math.max(1, printed.length));
  return printed
    .map(({ id, tail: { text, truncated } }) => {
      const isCut = text.length > share;
      const shown = isCut ? text.slice(-share).toWellFormed() : text;
      return `output of check ${id}${isCut || truncated ? ' (its end)' : ''}:\n${shown}`;
    })
    .join('\n');
}

/** What a model gets of a failure. Untrusted text. */
export function withOutput(failure: string, output: string | undefined): string {
  return output ? `${failure}\n${output}` : failure;
}

/**
 * Returns the distinct names of failed tests, in order: as the reports name them, otherwise the id of the failed
 * check. Covers required checks only: the failure of an optional check is reported but does not block, and a replan
 * would.
 */
export function failedTests(stages: readonly StageRecord[]): readonly string[] {
  const failed = stages
    .flatMap(({ checks }) => checks)
    .filter((check) => mustPass(check) && check.status === 'failed');
  const names = failed.flatMap((check) => {
    const named = check.findings.flatMap(({ detail }) =>
      typeof detail?.test === 'string' ? [`${check.id}: ${detail.test}`] : [],
    );
    return named.length > 0 ? named : [check.id];
  });
  return [...new Set(names)];
}

function isBlocking({ status, required, tolerated }: CheckRecord): boolean {
  return required && status === 'failed' && !tolerated;
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

function toLine({ rule, message, path, line }: Finding): string {
  const place = path === undefined ? '' : ` (${path}${line === undefined ? '' : `:${line}`})`;
  return `${rule}: ${message}${place}`;
}

/** Without the output of failed checks beyond `tailLimits.checks`; a report with many failures stays readable. */
export function limitTails(checks: readonly CheckRecord[]): readonly CheckRecord[] {
  let kept = 0;
  return checks.map((check) => {
    const { outputTail: tail, ...others } = check;
    if (tail === undefined || ++kept <= tailLimits.checks) return check;
    return others;
  });
}
