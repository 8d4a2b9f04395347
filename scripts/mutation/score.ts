/** What is read of Stryker's JSON report (mutation-testing-report-schema 2). */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly ReportedMutant[] }>>;
}

export interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
  readonly status: MutantStatus;
}

/** `RuntimeError`: the test process ended without a failed test. `Ignored`: left alone by a rule. */
export type MutantStatus =
  | 'Killed'
  | 'Timeout'
  | 'Survived'
  | 'NoCoverage'
  | 'RuntimeError'
  | 'CompileError'
  | 'Ignored'
  | 'Pending';

export interface Score {
  /** Detected mutants (killed, or without an end) in percent of those that could be judged; 100 if there are none. */
  readonly percent: number;
  readonly counts: Readonly<Record<MutantStatus, number>>;
}

/** The score of some files of a report. */
export function scoreOf(report: MutationReport, files: Iterable<string> = Object.keys(report.files)): Score {
  const counts: Record<MutantStatus, number> = {
    Killed: 0,
    Timeout: 0,
    Survived: 0,
    NoCoverage: 0,
    RuntimeError: 0,
    CompileError: 0,
    Ignored: 0,
    Pending: 0,
  };
  for (const file of files) for (const { status } of report.files[file]?.mutants ?? []) counts[status] += 1;
  const detected = counts.Killed + counts.Timeout;
  const valid = detected + counts.Survived + counts.NoCoverage;
  return { percent: valid === 0 ? 100 : (100 * detected) / valid, counts };
}

/** One line of figures. */
export function formatScore({ percent, counts }: Score): string {
  const { Killed, Timeout, Survived, NoCoverage, RuntimeError, CompileError, Ignored } = counts;
  return (
    `${percent.toFixed(1)} %: ${Killed} killed, ${Timeout} timeouts, ${Survived} survived, ` +
    `${NoCoverage} without coverage (${RuntimeError + CompileError} errors and ${Ignored} ignored do not count)`
  );
}

/** Undetected mutants, one a line: `path:line:column  mutator → replacement  (no coverage)`. */
export function listUndetected(report: MutationReport, files: Iterable<string>): readonly string[] {
  return [...files].flatMap((file) =>
    (report.files[file]?.mutants ?? [])
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ mutatorName, replacement = '', location: { start }, status }) => {
        const text = replacement.replaceAll(/\s+/g, ' ').slice(0, 80);
        const suffix = status === 'NoCoverage' ? '  (no coverage)' : '';
        return `${file}:${start.line}:${start.column}  ${mutatorName} → ${text}${suffix}`;
      }),
  );
}
