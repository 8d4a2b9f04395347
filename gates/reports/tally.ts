import { plainLine } from './plain-text.ts';
import { reportBounds, type TestFailure, type TestReport } from './test-report.ts';

/** Counts of tests while a report is read. */
export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;
  durationMs: number | undefined;
  readonly failures: TestFailure[] = [];
  readonly emptyFiles: string[] = [];

  fail(name: string, message?: string): void {
    this.failed += 1;
    if (this.failures.length >= reportBounds.maxFailures) return;
    const line = message === undefined ? '' : plainLine(message, 300);
    this.failures.push({ name: plainLine(name) || '(no name)', ...(line === '' ? {} : { message: line }) });
  }

  addEmptyFile(name: string): void {
    if (this.emptyFiles.length < reportBounds.maxEmptyFiles) this.emptyFiles.push(plainLine(name));
  }

  addDuration(ms: number | undefined): void {
    if (ms !== undefined) this.durationMs = (this.durationMs ?? 0) + ms;
  }

  /** Takes over what `other` counted. `forgiven`: its failures were announced as to-do. */
  add(other: Tally | TestReport, forgiven = false): void {
    this.passed += other.passed;
    this.skipped += other.skipped + (forgiven ? other.failed : 0);
    this.addDuration(other.durationMs);
    for (const name of other.emptyFiles) this.addEmptyFile(name);
    if (forgiven) return;
    this.failed += other.failed;
    this.failures.push(...other.failures.slice(0, reportBounds.maxFailures - this.failures.length));
  }

  toReport(contradictions: TestReport['contradictions'] = []): TestReport {
    const { passed, failed, skipped, failures, emptyFiles, durationMs } = this;
    const time = durationMs === undefined ? {} : { durationMs };
    return { passed, failed, skipped, failures, ...time, emptyFiles, contradictions };
  }
}
