/* Reads JUnit XML and TRX reports. */
import { readXml, type XmlAttributes } from './read-xml.ts';
import { Tally } from './tally.ts';
import {
  beforeStack,
  type Contradiction,
  type ParsedReport,
  plainLine,
  type ReportRefusal,
  type TestReport,
} from './test-report.ts';

const maxMessageLength = 1000;
/** Results that some runners give as an attribute alone (GoogleTest, CTest). */
const skippedStatus = /^(?:notrun|not_run|skipped|suppressed|disabled|ignored|pending)$/i;
/** An outcome by any name that a tool may give it: a test case with a child of that name did not pass. */
const failedOutcome = /^(?:fail|failed|failures?|errors?)$/i;
const failedStatus = /^(?:fail|failed|failure|error|timeout|timedout|aborted)$/i;

interface OpenSuite {
  readonly name: string;
  readonly claimedTests: number;
  readonly claimedBad: number;
  tests: number;
  bad: number;
}

interface OpenCase {
  readonly name: string;
  readonly durationMs: number | undefined;
  readonly emptyFile: boolean;
  bad: boolean;
  message: string | undefined;
  skipped: boolean;
  todo: boolean;
  /** A run of it failed, and it was run again. */
  reran: boolean;
}

/**
 * Reads JUnit XML as runners write it: every `testcase` counts once, wherever suites nest. What a suite's attributes
 * claim beyond its test cases is a contradiction; `flakyFailure` and `flakyError` without a failure are a flaky test.
 * Refusals: see `readXml`.
 */
export async function parseJunit(bytes: Uint8Array): Promise<ParsedReport> {
  const reader = new JunitReader();
  const refusal = await readXml(bytes, reader);
  return refusal ? { refusal } : { report: reader.toReport() };
}

class JunitReader {
  readonly #tally = new Tally();
  readonly #suites: OpenSuite[] = [];
  #case: OpenCase | undefined;
  #collects = false;

  toReport(): TestReport {
    return this.#tally.toReport();
  }

  open(name: string, attributes: XmlAttributes, parent: string | undefined): ReportRefusal | undefined {
    const isSuite = name === 'testsuites' || name === 'testsuite';
    if (parent === undefined && !isSuite) {
      const message = `expected the root element of a test report such as \`testsuites\`, found \`${plainLine(name, 60)}\``;
      return { reason: 'not-a-report', message };
    }
    if (this.#case && (isSuite || name === 'testcase'))
      return { reason: 'malformed', message: `a \`${name}\` is inside a \`testcase\`` };
    if (isSuite) this.#openSuite(attributes);
    else if (name === 'testcase') this.#openCase(attributes);
    else if (this.#case && parent === 'testcase') this.#openOutcome(this.#case, name, attributes);
    else if (failedOutcome.test(name) && (parent === 'testsuite' || parent === 'testsuites')) {
      this.#countBad();
      this.#tally.fail(this.#suites.at(-1)?.name || 'suite', attributes.message);
    }
    return undefined;
  }

  text(text: string): void {
    const test = this.#case;
    if (!this.#collects || !test || (test.message?.length ?? 0) >= maxMessageLength) return;
    test.message = ((test.message ?? '') + text.slice(0, maxMessageLength)).trimStart();
  }

  close(name: string, parent: string | undefined): void {
    if (name === 'testcase') this.#closeCase();
    else if (name === 'testsuite' || name === 'testsuites') this.#closeSuite();
    else if (parent === 'testcase') this.#collects = false;
  }

  #openSuite(attributes: XmlAttributes): void {
    const { name = '', failures, errors } = attributes;
    const claimed = (what: string, value: string | undefined, severity: Contradiction['severity']): number =>
      this.#tally.countUnder(`\`${what}\` of suite \`${plainLine(name)}\``, value, severity);
    const claimedBad = claimed('failures', failures, 'error') + claimed('errors', errors, 'error');
    const claimedTests = claimed('tests', attributes.tests, 'warning');
    this.#suites.push({ name, claimedTests, claimedBad, tests: 0, bad: 0 });
  }

  #openCase({ name = '', classname, file, time, status = '', result = '' }: XmlAttributes): void {
    const isNamed = classname !== undefined && !['', 'test', name].includes(classname);
    this.#case = {
      name: isNamed ? `${classname} > ${name}` : name,
      durationMs: toMilliseconds(time),
      // A runner that found no test in a file lists the file itself.
      emptyFile: name !== '' && (file === name || file?.endsWith(`/${name}`) === true),
      bad: failedStatus.test(status.trim()) || failedStatus.test(result.trim()),
      message: undefined,
      skipped: skippedStatus.test(status) || skippedStatus.test(result),
      todo: false,
      reran: false,
    };
  }

  #openOutcome(test: OpenCase, name: string, attributes: XmlAttributes): void {
    if (name === 'flakyFailure' || name === 'flakyError') test.reran = true;
    // PHPUnit reports a warning in place of a test that could not run.
    else if (name === 'skipped' || name === 'warning' || name === 'incomplete') {
      test.skipped = true;
      test.todo = attributes.type === 'todo';
    } else if (failedOutcome.test(name)) {
      test.bad = true;
      test.message ??= attributes.message?.slice(0, maxMessageLength) || undefined;
      this.#collects = test.message === undefined;
    }
  }

  #closeCase(): void {
    const test = this.#case;
    if (!test) return;
    this.#case = undefined;
    this.#collects = false;
    const suite = this.#suites.at(-1);
    if (suite) suite.tests += 1;
    if (test.bad) this.#countBad();
    const { name, durationMs } = test;
    if (test.bad && !test.todo)
      this.#tally.fail(name, beforeStack(test.message?.split('\n') ?? []), durationMs);
    else if (test.skipped) this.#tally.skip(name, durationMs);
    else if (test.emptyFile) {
      this.#tally.addEmptyFile(name);
      this.#tally.addDuration(durationMs);
    } else this.#tally.pass(name, durationMs, test.reran);
  }

  #countBad(): void {
    const suite = this.#suites.at(-1);
    if (suite) suite.bad += 1;
  }

  /**
   * Attributes count a suite's own tests or those of all suites in it, as the tool likes: more than all is a
   * contradiction.
   */
  #closeSuite(): void {
    const suite = this.#suites.pop();
    if (!suite) return;
    const parent = this.#suites.at(-1);
    if (parent) {
      parent.tests += suite.tests;
      parent.bad += suite.bad;
    }
    const { claimedTests, claimedBad, tests, bad } = suite;
    const claims = `suite \`${plainLine(suite.name)}\` claims`;
    if (claimedBad > bad)
      this.#tally.contradict('error', `${claims} ${claimedBad} failed tests and lists ${bad}`);
    if (claimedTests > tests)
      this.#tally.contradict('error', `${claims} ${claimedTests} tests and lists ${tests}`);
  }
}

/** Seconds as tools print them, some with `,` between thousands. */
function toMilliseconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d[\d,]{0,15}(?:\.\d{1,20})?(?:[eE]-?\d{1,2})?$/.test(text)) return undefined;
  return Number(text.replaceAll(',', '')) * 1000;
}
