/* Counts tests while a report is read. */
import {
  boundedName,
  type Contradiction,
  plainLine,
  plainName,
  reportBounds,
  type TestFailure,
  type TestReport,
  type TestTime,
} from './test-report.ts';

const maxNameLength = 400;
/** A whole number as tools write it, in an attribute or as a text: blanks around it, a sign, decimals of zero. */
const numeral = /^\s*\+?(\d{1,15})(?:\.0{1,15})?\s*$/;

/** Counts of tests while a report is read. Times are milliseconds. */
export class Tally {
  passed = 0;
  failed = 0;
  skipped = 0;
  flaky = 0;
  durationMs: number | undefined;
  readonly failures: TestFailure[] = [];
  readonly skippedTests: string[] = [];
  readonly flakyTests: string[] = [];
  readonly emptyFiles: string[] = [];
  readonly names = new Set<string>();
  readonly contradictions: Contradiction[] = [];
  #slowest: TestTime[] = [];

  /** Tests that count, whatever came of them. */
  get listed(): number {
    return this.passed + this.failed + this.skipped;
  }

  get slowest(): readonly TestTime[] {
    return this.#slowest;
  }

  /** A test that passed; `flaky`: it had failed before, in the same report. */
  pass(name: string, durationMs?: number, flaky = false): void {
    this.passed += 1;
    const shown = this.#meet(name, durationMs);
    if (!flaky) return;
    this.flaky += 1;
    if (this.flakyTests.length < reportBounds.maxNamed) this.flakyTests.push(shown());
  }

  fail(name: string, message?: string, durationMs?: number): void {
    this.failed += 1;
    const shown = this.#meet(name, durationMs);
    if (this.failures.length >= reportBounds.maxFailures) return;
    const line = message === undefined ? '' : plainLine(message, 300);
    this.failures.push({
      name: shown(),
      ...(line === '' ? {} : { message: line }),
      ...(durationMs === undefined ? {} : { durationMs }),
    });
  }

  skip(name: string, durationMs?: number): void {
    this.skipped += 1;
    const shown = this.#meet(name, durationMs);
    if (this.skippedTests.length < reportBounds.maxNamed) this.skippedTests.push(shown());
  }

  addEmptyFile(name: string): void {
    if (this.emptyFiles.length < reportBounds.maxEmptyFiles) this.emptyFiles.push(plainLine(name));
  }

  addDuration(ms: number | undefined): void {
    if (ms !== undefined) this.durationMs = (this.durationMs ?? 0) + ms;
  }

  contradict(severity: Contradiction['severity'], message: string): void {
    if (this.contradictions.length < reportBounds.maxContradictions)
      this.contradictions.push({ severity, message });
  }

  /**
   * The count that a report states under `label`; 0 if absent or empty. Any other value contradicts the report, since
   * it may hide a failure.
   */
  countUnder(label: string, value: unknown, severity: Contradiction['severity'] = 'error'): number {
    if (value === undefined || value === null || value === '') return 0;
    const text = typeof value === 'number' ? String(value) : value;
    const count = Number((typeof text === 'string' && numeral.exec(text)?.[1]) || Number.NaN);
    if (!Number.isNaN(count)) return count;
    const found = typeof text === 'string' ? `\`${plainLine(text, 40)}\`` : `a ${typeof value}`;
    this.contradict(severity, `${label}: expected a count, found ${found}`);
    return 0;
  }

  /** Contradicts a report that states more under a label than it lists. */
  claim(label: string, value: unknown, listed: number): void {
    const claimed = this.countUnder(label, value);
    if (claimed > listed) this.contradict('error', `${label} is ${claimed} and ${listed} are listed`);
  }

  /**
   * Adds the counts of `other`, with its tests as parts of `parent`. `forgiven`: its failures were announced as
   * to-do.
   */
  add(other: Tally | TestReport, { forgiven = false, parent = '' } = {}): void {
    const inside = (name: string): string =>
      parent === '' ? name : boundedName(`${parent} > ${name}`, maxNameLength);
    this.passed += other.passed;
    this.flaky += other.flaky;
    this.skipped += other.skipped + (forgiven ? other.failed : 0);
    this.addDuration(other.durationMs);
    for (const name of other.emptyFiles) this.addEmptyFile(name);
    for (const { severity, message } of other.contradictions) this.contradict(severity, message);
    for (const name of other.names) {
      if (this.names.size >= reportBounds.maxNames) break;
      this.names.add(inside(name));
    }
    for (const { name, durationMs } of other.slowest) this.#time(inside(name), durationMs);
    const room = (list: readonly unknown[]): number => Math.max(0, reportBounds.maxNamed - list.length);
    const skipped = forgiven
      ? [...other.skippedTests, ...other.failures.map(({ name }) => name)]
      : other.skippedTests;
    this.skippedTests.push(...skipped.slice(0, room(this.skippedTests)).map(inside));
    this.flakyTests.push(...other.flakyTests.slice(0, room(this.flakyTests)).map(inside));
    if (forgiven) return;
    this.failed += other.failed;
    this.failures.push(
      ...other.failures
        .slice(0, Math.max(0, reportBounds.maxFailures - this.failures.length))
        .map((failure) => ({ ...failure, name: inside(failure.name) })),
    );
  }

  toReport(): TestReport {
    const { passed, failed, skipped, flaky, failures, skippedTests, flakyTests, slowest, names } = this;
    const { emptyFiles, contradictions, durationMs } = this;
    const counts = { passed, failed, skipped, flaky };
    const time = durationMs === undefined ? {} : { durationMs };
    const listed = { failures, skippedTests, flakyTests, slowest, names };
    return { ...counts, ...listed, ...time, emptyFiles, contradictions };
  }

  /** Cleaning a name costs more than counting: it is done for what is kept, once. */
  #meet(name: string, durationMs: number | undefined): () => string {
    let plain: string | undefined;
    const shown = (): string => {
      plain ??= plainName(name) || '(no name)';
      return plain;
    };
    if (this.names.size < reportBounds.maxNames) this.names.add(shown());
    if (durationMs !== undefined) {
      this.addDuration(durationMs);
      if (this.#isSlow(durationMs)) this.#time(shown(), durationMs);
    }
    return shown;
  }

  #isSlow(durationMs: number): boolean {
    const last = this.#slowest.at(-1);
    return this.#slowest.length < reportBounds.maxSlowest || durationMs > (last?.durationMs ?? 0);
  }

  #time(name: string, durationMs: number): void {
    if (!this.#isSlow(durationMs)) return;
    const behind = this.#slowest.findIndex((one) => one.durationMs < durationMs);
    this.#slowest.splice(behind === -1 ? this.#slowest.length : behind, 0, { name, durationMs });
    this.#slowest.length = Math.min(this.#slowest.length, reportBounds.maxSlowest);
  }
}
