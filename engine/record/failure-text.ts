/* Describes why an attempt failed, for the next attempt and for people. */
import { stripVTControlCharacters } from 'node:util';
import { withoutTerminalStrings } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PrivacyPolicy } from '../../core/interfaces/privacy.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import {
  type CheckRecord,
  failureOutput,
  mustPass,
  type OutputTail,
  type StageRecord,
} from '../../core/interfaces/stage.ts';
import { redactTexts } from '../../readers/sensitive/redact.ts';

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

/** What is kept of the output of a failed check, and for how many failed checks of a stage. */
export const tailLimits = { lines: 200, bytes: 16 * 1024, checks: 64 } as const;

/** Characters of a long line that are kept, at its start and end. */
const keptOfLine = { start: 1000, end: 500 } as const;

/** Octets before the tail that are searched for secrets as well: a secret that begins there is found whole. */
const searchedBytes = 256 * 1024;

/**
 * Returns the last lines that a command printed (stdout and stderr in arrival order), or `undefined` if it printed
 * none. Terminal control sequences and invalid UTF-8 are removed and the text is redacted; secrets are removed
 * whatever `policy` allows.
 */
export function outputTail(
  result: Pick<SandboxResult, 'combined'> | undefined,
  policy: Pick<PrivacyPolicy, 'remove' | 'words'>,
): OutputTail | undefined {
  if (result === undefined) return undefined;
  const { bytes, truncated } = result.combined;
  const searched = bytes.subarray(-searchedBytes);
  // What a terminal does not show is removed before the search: a colour within a secret would hide it.
  const decoded = withoutTerminalStrings(searched.toString('utf8').replaceAll('\ufffd', ''));
  const plain = stripVTControlCharacters(decoded)
    .split(/\r*\n/)
    .map(afterReturn)
    .join('\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '');
  const remove = [...new Set([...policy.remove, 'secrets' as const])];
  const whole = redactTexts(plain, { ...policy, remove }).trimEnd();
  if (whole === '') return undefined;
  const text = lastOf(whole);
  return {
    text,
    ...(truncated || searched.length < bytes.length || text !== whole ? { truncated: true as const } : {}),
  };
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

/** A line as a terminal leaves it: a carriage return begins the line again, as progress bars do. */
function afterReturn(line: string): string {
  const shown = line.replace(/\r+$/, '');
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

function lastOf(text: string): string {
  const lines = text.split('\n').slice(-tailLimits.lines).map(cutLine);
  let size = 0;
  const from = lines.findLastIndex((line) => {
    size += Buffer.byteLength(line) + 1;
    return size > tailLimits.bytes + 1;
  });
  return lines.slice(from + 1).join('\n');
}

/** Shortens a long line: minified source or a dump on one line would push out the lines around it. */
function cutLine(line: string): string {
  const { start, end } = keptOfLine;
  const left = line.length - start - end;
  if (left <= 0) return line;
  return `${line.slice(0, start)} … [${left} characters] … ${line.slice(-end)}`.toWellFormed();
}
