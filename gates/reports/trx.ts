import { plainLine } from './plain-text.ts';
import type { XmlAttributes, XmlReader } from './read-xml.ts';
import { claimedCount, Tally } from './tally.ts';
import type { ReportRefusal, TestReport } from './test-report.ts';

const maxLength = 1000;
const passed = /^(?:Passed|Completed|Warning)$/i;
const skipped = /^(?:NotExecuted|NotRunnable|Pending|Inconclusive)$/i;

interface OpenResult {
  readonly name: string;
  readonly outcome: string;
  readonly durationMs: number | undefined;
  hasInner: boolean;
  message: string;
}

/** A reader for the TRX of .NET test runners (root `TestRun`); any outcome but passed and not executed is a failure. */
export function trxReader(root: string): XmlReader | undefined {
  return root === 'TestRun' ? new TrxReader() : undefined;
}

class TrxReader implements XmlReader {
  readonly #tally = new Tally();
  readonly #open: OpenResult[] = [];
  #collects = false;
  #claimed: XmlAttributes = {};
  #results = 0;
  #bad = 0;
  #summary = '';

  open(name: string, attributes: XmlAttributes, parent: string | undefined): ReportRefusal | undefined {
    if (name === 'UnitTestResult') {
      const outer = this.#open.at(-1);
      if (outer) outer.hasInner = true;
      const { testName = '', outcome = '', duration } = attributes;
      this.#open.push({
        name: testName,
        outcome,
        durationMs: toMilliseconds(duration),
        hasInner: false,
        message: '',
      });
    } else if (name === 'Message' && parent === 'ErrorInfo') this.#collects = true;
    else if (name === 'Counters') {
      this.#claimed = attributes;
    } else if (name === 'ResultSummary') this.#summary = attributes.outcome ?? '';
    return undefined;
  }

  text(text: string): void {
    const result = this.#open.at(-1);
    if (this.#collects && result && result.message.length < maxLength)
      result.message = (result.message + text.slice(0, maxLength)).trimStart();
  }

  close(name: string): void {
    if (name === 'Message') this.#collects = false;
    if (name !== 'UnitTestResult') return;
    const result = this.#open.pop();
    if (!result) return;
    const isBad = !passed.test(result.outcome) && !skipped.test(result.outcome);
    this.#results += 1;
    if (isBad) this.#bad += 1;
    // Rows of one data-driven test count; the test around them counts where it failed by itself, else as they did.
    if (result.hasInner && (!isBad || this.#tally.failed > 0)) return;
    const { durationMs } = result;
    if (isBad) this.#tally.fail(result.name, result.message.split('\n', 1)[0], durationMs);
    else if (passed.test(result.outcome)) this.#tally.pass(result.name, durationMs);
    else this.#tally.skip(result.name, durationMs);
  }

  toReport(): TestReport {
    const { failed } = this.#tally;
    const claimed = (key: string): number =>
      claimedCount(this.#tally, `counter \`${key}\``, this.#claimed[key]);
    // Some runners count the test around data-driven rows too, some do not: more than all there are is a contradiction.
    const bad = ['failed', 'error', 'timeout', 'aborted'].reduce((sum, key) => sum + claimed(key), 0);
    const total = claimed('total');
    if (bad > this.#bad)
      this.#tally.contradict('error', `the counters claim ${bad} failed tests and ${this.#bad} are listed`);
    else if (total > this.#results)
      this.#tally.contradict('error', `the counters claim ${total} tests and ${this.#results} are listed`);
    else if (failed === 0 && /^(?:Failed|Error|Timeout|Aborted)$/i.test(this.#summary))
      this.#tally.contradict(
        'error',
        `the summary says \`${plainLine(this.#summary, 40)}\` and no failed test is listed`,
      );
    return this.#tally.toReport();
  }
}

/** `hh:mm:ss.fffffff`. */
function toMilliseconds(text: string | undefined): number | undefined {
  const [, hours, minutes, seconds] = /^(\d{1,4}):(\d\d):(\d\d(?:\.\d{1,9})?)$/.exec(text ?? '') ?? [];
  if (hours === undefined) return undefined;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
