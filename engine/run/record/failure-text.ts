import type { Finding } from '../../../core/contract/finding.ts';
import { mustPass, type StageRecord } from '../../../core/contract/stage.ts';

/** Characters of one failure that the next attempt is told of. */
const maxLength = 8000;

/**
 * Why an attempt did not count, for whoever tries next: findings first, then failed checks with what they found.
 * Untrusted text.
 */
export function failureText(findings: readonly Finding[], stages: readonly StageRecord[]): string {
  const lines = [
    ...findings.filter(isError).map(toLine),
    ...stages.flatMap((stage) => [
      ...stage.findings.filter(isError).map((finding) => `stage ${stage.stage}: ${toLine(finding)}`),
      ...stage.checks
        .filter(({ status, required, tolerated }) => required && status === 'failed' && !tolerated)
        .flatMap((check) => [
          `check ${check.id} failed${check.timedOut ? ' (timed out)' : ''}`,
          ...check.findings.filter(isError).map((finding) => `  ${toLine(finding)}`),
        ]),
    ]),
  ];
  const text = lines.join('\n');
  return text.length > maxLength ? `${text.slice(0, maxLength)}\n…` : text;
}

/**
 * Names of the tests that failed, in order, each once: as reports name them, else the failed check itself. Of required
 * checks alone: the failure of another one is reported but does not block (document 1, Check.required), and a replan
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

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

function toLine({ rule, message, path, line }: Finding): string {
  const place = path === undefined ? '' : ` (${path}${line === undefined ? '' : `:${line}`})`;
  return `${rule}: ${message}${place}`;
}
