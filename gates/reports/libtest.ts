import { plainLine } from './plain-text.ts';
import { type Fields, nameOf, textOf, timeOf } from './read-report-json.ts';
import { claimedCount, Tally } from './tally.ts';
import { type EventReader, type ReportRefusal, reportBounds, type TestReport } from './test-report.ts';

const types: readonly unknown[] = ['suite', 'test', 'bench', 'report'];

interface OpenSuite {
  readonly announced: number;
  readonly started: Set<string>;
  failed: number;
  listed: number;
}

/** Whether an event is one of Rust's test harness (`--format json`) or of cargo (`--message-format json`). */
export function isLibtestEvent(event: Fields): boolean {
  const isTest = types.includes(event.type) && (typeof event.event === 'string' || event.type === 'report');
  return isTest || (typeof event.reason === 'string' && event.type === undefined);
}

/**
 * Reads the events of Rust's test harness, several suites one after another; those of cargo beside them only say
 * whether the build finished. A suite without an end, or a test without one, is a stream that was cut off; fewer tests
 * than announced are a contradiction.
 */
export class LibtestReader implements EventReader {
  readonly #tally = new Tally();
  #suite: OpenSuite | undefined;
  #suites = 0;

  event(event: Fields): ReportRefusal | undefined {
    if (!isLibtestEvent(event))
      return { reason: 'malformed', message: "an event is none of Rust's test harness" };
    if (event.reason === 'build-finished' && event.success === false)
      this.#tally.fail('build', 'the build failed');
    if (event.type === 'suite') return this.#onSuite(event);
    if (event.type !== 'test' && event.type !== 'bench') return undefined;
    const suite = this.#suite;
    if (!suite) return { reason: 'malformed', message: 'a test stands outside of any suite' };
    return this.#onTest(suite, event);
  }

  end(): ReportRefusal | undefined {
    if (this.#suite) return { reason: 'truncated', message: 'the stream ends inside a suite' };
    const onlyBuilt = this.#suites === 0 && this.#tally.failed === 0;
    return onlyBuilt ? { reason: 'not-a-report', message: 'the events are of a build alone' } : undefined;
  }

  toReport(): TestReport {
    return this.#tally.toReport();
  }

  #onSuite(event: Fields): ReportRefusal | undefined {
    const suite = this.#suite;
    if (event.event === 'started') {
      if (suite) return { reason: 'truncated', message: 'a suite begins before the one before it ended' };
      this.#suites += 1;
      const announced = claimedCount(this.#tally, '`test_count`', event.test_count);
      this.#suite = { announced, started: new Set(), failed: 0, listed: 0 };
      return undefined;
    }
    if (!suite) return { reason: 'malformed', message: 'a suite ends that did not begin' };
    this.#suite = undefined;
    const [open] = suite.started;
    if (open !== undefined)
      return { reason: 'truncated', message: `test \`${plainLine(open)}\` began and did not end` };
    const claimed = claimedCount(this.#tally, '`failed`', event.failed);
    if (claimed > suite.failed)
      this.#tally.contradict('error', `a suite claims ${claimed} failed tests and lists ${suite.failed}`);
    else if (event.event !== 'ok' && suite.failed === 0)
      this.#tally.contradict('error', 'a suite failed and lists no failed test');
    if (suite.announced > suite.listed)
      this.#tally.contradict('error', `a suite announced ${suite.announced} tests and lists ${suite.listed}`);
    return undefined;
  }

  #onTest(suite: OpenSuite, event: Fields): ReportRefusal | undefined {
    const name = nameOf(event.name) ?? '';
    const durationMs = timeOf(event.exec_time, 1000);
    // `timeout` only warns: the end follows.
    if (event.event === 'timeout') return undefined;
    if (event.event === 'started') {
      suite.started.add(name);
      return suite.started.size > reportBounds.maxNames
        ? { reason: 'too-large', message: `expected at most ${reportBounds.maxNames} tests at once` }
        : undefined;
    }
    suite.started.delete(name);
    suite.listed += 1;
    if (event.event === 'ok' || event.type === 'bench') this.#tally.pass(name, durationMs);
    else if (event.event === 'ignored') this.#tally.skip(name, durationMs);
    else {
      suite.failed += 1;
      this.#tally.fail(name, messageOf(event), durationMs);
    }
    return undefined;
  }
}

function messageOf({ message, stdout }: Fields): string | undefined {
  const said = textOf(message);
  if (said !== undefined) return said.split('\n', 1)[0];
  const lines = (textOf(stdout) ?? '').split('\n').map((line) => line.trim());
  const panic = lines.findIndex((line) => line.includes('panicked at'));
  // Since 1.73 the words of a panic stand in the line after its place.
  return lines[panic]?.endsWith(':') ? lines[panic + 1] : lines[panic];
}
