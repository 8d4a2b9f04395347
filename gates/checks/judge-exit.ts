/* Evaluates how the command of a check ended. */
import type { CheckContext } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { ExceededLimit, SandboxResult } from '../../core/interfaces/sandbox.ts';
import { dependenciesMissingHint } from '../../readers/reports/missing-dependencies.ts';
import { plainLine, type ReportRefusal } from '../reports/test-report.ts';

export type CommandRun = Awaited<ReturnType<CheckContext['runCommand']>>;
type Expected = Pick<CheckContext['check'], 'timeoutSeconds' | 'expectedExitCode'>;

/**
 * Findings about the command of a check: refused, timed out, interrupted, ended by a signal, or an unexpected exit
 * code. Empty only if the command ran and ended as expected.
 */
export function evaluateExit(check: Expected, { denied, result, skipped }: CommandRun): readonly Finding[] {
  if (!result) {
    return [denied ?? failure('CHECK_NOT_RUN', 'the command did not run and nothing says why')];
  }
  const ended = judgeResult(check, result);
  if (!ended) return denied ? [denied] : [];
  const hint =
    ended.detail?.code === 'CHECK_EXIT_CODE'
      ? dependenciesMissingHint(result.combined.bytes, skipped)
      : undefined;
  const missing = hint?.detail ? { ...ended, detail: { ...ended.detail, ...hint.detail } } : ended;
  return [...(denied ? [denied] : []), missing, ...(hint ? [hint] : [])];
}

/** An `error` of the check that names its code. */
export function failure(
  code: string,
  message: string,
  detail: Readonly<Record<string, unknown>> = {},
): Finding {
  return { rule: 'check-outcome', severity: 'error', message, detail: { code, ...detail } };
}

/** The machine's limit ended the command. This proves no fault of the change, and a retry would end the same way. */
function overLimit(expected: string, { what, limit, found }: ExceededLimit): Finding {
  const mebibytes = (bytes: number): number => Math.ceil(bytes / 1_048_576);
  if (what === 'processes') {
    return failure(
      'CHECK_PROCESSES',
      `${expected} with at most ${limit} processes and threads, found ${found}: it was ended`,
      { limit, found },
    );
  }
  const [limitMb, foundMb] = [mebibytes(limit), mebibytes(found)];
  return failure(
    'CHECK_MEMORY',
    `${expected} with at most ${limitMb} MiB of memory (\`[checks] max_memory_mb\`), found ${foundMb}: it was ended`,
    { limitMb, foundMb },
  );
}

function judgeResult(
  { timeoutSeconds, expectedExitCode }: Expected,
  result: SandboxResult,
): Finding | undefined {
  const { exitCode, signal, timedOut, aborted, exceeded } = result;
  const expected = `expected exit code ${expectedExitCode}`;
  if (timedOut) {
    return failure(
      'CHECK_TIMED_OUT',
      `${expected} within ${timeoutSeconds} s, found it still running: it was ended`,
      {
        timeoutSeconds,
      },
    );
  }
  if (exceeded) return overLimit(expected, exceeded);
  if (aborted)
    return failure('CHECK_INTERRUPTED', `${expected}, found the run interrupted: the command was ended`);
  if (exitCode === undefined) {
    return failure('CHECK_SIGNAL', `${expected}, found the command ended by signal ${signal ?? 'unknown'}`, {
      expected: expectedExitCode,
      ...(signal === undefined ? {} : { signal }),
    });
  }
  if (exitCode === expectedExitCode) return undefined;
  return failure('CHECK_EXIT_CODE', `${expected}, found ${exitCode}`, {
    expected: expectedExitCode,
    found: exitCode,
  });
}

/** A `note` of a check that names its code. */
export function note(code: string, message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule: 'check-outcome', severity: 'note', message, detail: { code, ...detail } };
}

/** The error for a report that writ ignores because it cannot read it. */
export function unreadable(name: string, { reason, message }: ReportRefusal): Finding {
  const shown = plainLine(name);
  return failure('REPORT_UNREADABLE', `\`${shown}\` cannot be read as a test report: ${message}`, {
    report: shown,
    reason,
  });
}
