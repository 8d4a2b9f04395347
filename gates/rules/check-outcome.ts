/* The rule `check-outcome`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import { type CheckRecord, mustPass } from '../../core/interfaces/stage.ts';

const phrases: Readonly<Record<string, string>> = {
  CHECK_MEMORY: 'out of memory',
  CHECK_PROCESSES: 'too many processes',
};

/** In two words, which of the machine's limits ended a check; `undefined` where none did. */
export function limitExceeded({ findings }: Pick<CheckRecord, 'findings'>): string | undefined {
  for (const { rule, detail } of findings) {
    const phrase = typeof detail?.code === 'string' ? phrases[detail.code] : undefined;
    if (rule === 'check-outcome' && phrase !== undefined) return phrase;
  }
  return undefined;
}

const rule = 'check-outcome';

/**
 * Fails the stage if a required check timed out, ended unexpectedly or failed. A failure of another check, or an old
 * failure that the spec tolerates, is only reported. The rule evaluates the recorded facts, not only the status from
 * the check kind.
 */
export const judge: RuleFunction = ({ stage }) =>
  (stage?.checks ?? []).flatMap((check) => {
    const found = reasonOf(check);
    return found === undefined ? [] : [toFinding(check, found)];
  });

function reasonOf(check: CheckRecord): string | undefined {
  const { status, timedOut, signal, exitCode, expectedExitCode, tests } = check;
  if (timedOut) return 'ran out of its time';
  const limit = limitExceeded(check);
  if (limit !== undefined) return `was ended by the machine's limits: ${limit}`;
  if (signal !== undefined) return `was ended by signal ${signal}`;
  if (exitCode !== undefined && exitCode !== expectedExitCode)
    return `ended with exit code ${exitCode}, expected ${expectedExitCode}`;
  if (tests && tests.failed > 0)
    return `had ${tests.failed} failed test${tests.failed === 1 ? '' : 's'}, expected none`;
  if (status !== 'failed') return undefined;
  const errors = check.findings.filter((finding) => finding.severity === 'error');
  const [first] = errors;
  if (first === undefined) return 'failed';
  return errors.length === 1
    ? `failed: ${first.message}`
    : `failed with ${errors.length} findings, the first: ${first.message}`;
}

function toFinding(check: CheckRecord, found: string): Finding {
  const blocks = mustPass(check) && !check.tolerated;
  const why = check.tolerated
    ? '; it fails at the base too and is tolerated'
    : '; it is not required and blocks nothing';
  const { id, kind, required, timedOut, exitCode, expectedExitCode, signal, tests } = check;
  return {
    rule,
    severity: blocks ? 'error' : 'warning',
    message: `check \`${id}\` ${found}${blocks ? '' : why}`,
    detail: {
      check: id,
      kind,
      required,
      ...(check.tolerated ? { tolerated: true } : {}),
      timedOut,
      ...(exitCode === undefined ? {} : { exitCode, expectedExitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(tests ? { tests: { passed: tests.passed, failed: tests.failed, skipped: tests.skipped } } : {}),
    },
  };
}
