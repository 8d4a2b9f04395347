import { setImmediate } from 'node:timers/promises';
import type { SaxesAttributePlain, SaxesTagPlain } from 'saxes';
import { plainLine } from './plain-text.ts';
import { textPieces, textRefusal } from './report-text.ts';
import { Tally } from './tally.ts';
import {
  type Contradiction,
  type ParsedReport,
  type ReportRefusal,
  refuse,
  reportBounds,
} from './test-report.ts';

const maxAttributes = 256;
const maxMessageLength = 1000;
/** Node's own reporter leaves this mark of a CDATA section unescaped in text, where it is wrong and harmless. */
const unescapedEnd = 'the string "]]>" is disallowed in char data';
const readable = /^(?:utf-?8|us-ascii|ascii)$/i;

interface OpenSuite {
  readonly name: string;
  readonly claimedTests: number;
  readonly claimedBad: number;
  tests: number;
  bad: number;
}

interface OpenCase {
  readonly name: string;
  readonly emptyFile: boolean;
  bad: boolean;
  message: string | undefined;
  skipped: boolean;
  todo: boolean;
}

/**
 * Reads JUnit XML as runners write it: every `testcase` counts once, wherever suites nest. What a suite's attributes claim
 * beyond its test cases is a contradiction. Refused: document types (and so entities), other encodings than UTF-8, XML that is
 * not well-formed, more than 64 MiB or 64 levels.
 */
export async function parseJunit(bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser<{ xmlns: false; position: boolean }>({ xmlns: false, position: false });
  const reader = new JunitReader();
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !readable.test(encoding))
      reader.refuse('encoding', `expected UTF-8, found \`${plainLine(encoding, 40)}\``);
  });
  parser.on('doctype', () => reader.refuse('document-type', 'a document type is not read'));
  parser.on('attribute', (attribute) => reader.attribute(attribute));
  parser.on('opentag', (tag) => reader.open(tag));
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', () => reader.close());
  parser.on('error', ({ message }) => {
    if (!message.includes(unescapedEnd))
      reader.refuse('malformed', `not well-formed XML: ${plainLine(message)}`);
  });
  for (const piece of textPieces(bytes)) {
    parser.write(piece);
    if (reader.refusal) return { refusal: reader.refusal };
    // Others get their turn after each piece of 64 KiB.
    await setImmediate();
  }
  const open = reader.depth;
  parser.close();
  if (open > 0) return refuse('truncated', `the XML ends inside ${open} open elements`);
  if (reader.refusal) return { refusal: reader.refusal };
  return { report: reader.tally.toReport(reader.contradictions) };
}

/** Takes the events of one document; says nothing more once it has refused. */
class JunitReader {
  readonly tally = new Tally();
  readonly contradictions: Contradiction[] = [];
  refusal: ReportRefusal | undefined;
  readonly #elements: string[] = [];
  readonly #suites: OpenSuite[] = [];
  #case: OpenCase | undefined;
  #collects = false;
  #attributes = 0;

  get depth(): number {
    return this.#elements.length;
  }

  refuse(reason: ReportRefusal['reason'], message: string): void {
    this.refusal ??= { reason, message };
  }

  attribute(_: SaxesAttributePlain): void {
    this.#attributes += 1;
    if (this.#attributes > maxAttributes)
      this.refuse('malformed', `an element has more than ${maxAttributes} attributes`);
  }

  open({ name, attributes }: SaxesTagPlain): void {
    this.#attributes = 0;
    if (this.refusal) return;
    const parent = this.#elements.at(-1);
    this.#elements.push(name);
    if (this.#elements.length > reportBounds.depth) {
      this.refuse('too-deep', `expected at most ${reportBounds.depth} levels of elements`);
    } else if (parent === undefined && name !== 'testsuites' && name !== 'testsuite') {
      this.refuse(
        'not-a-report',
        `expected a root element \`testsuites\` or \`testsuite\`, found \`${plainLine(name, 60)}\``,
      );
    } else if (name === 'testsuites' || name === 'testsuite') {
      this.#openSuite(attributes);
    } else if (name === 'testcase') {
      this.#openCase(attributes);
    } else if (this.#case && parent === 'testcase') {
      this.#openOutcome(this.#case, name, attributes);
    } else if (
      (name === 'failure' || name === 'error') &&
      (parent === 'testsuite' || parent === 'testsuites')
    ) {
      this.#countBad();
      this.tally.fail(this.#suites.at(-1)?.name || 'suite', attributes.message);
    }
  }

  text(text: string): void {
    const test = this.#case;
    if (!this.#collects || !test || (test.message?.length ?? 0) >= maxMessageLength) return;
    test.message = ((test.message ?? '') + text.slice(0, maxMessageLength)).trimStart();
  }

  close(): void {
    if (this.refusal) return;
    const name = this.#elements.pop();
    if (name === 'testcase') this.#closeCase();
    else if (name === 'testsuite' || name === 'testsuites') this.#closeSuite();
    else if (this.#elements.at(-1) === 'testcase') this.#collects = false;
  }

  #openSuite(attributes: SaxesTagPlain['attributes']): void {
    if (this.#case) {
      this.refuse('malformed', 'a `testsuite` stands inside a `testcase`');
      return;
    }
    const claimedBad = toCount(attributes.failures) + toCount(attributes.errors);
    const name = attributes.name?.slice(0, maxMessageLength) ?? '';
    this.#suites.push({ name, claimedTests: toCount(attributes.tests), claimedBad, tests: 0, bad: 0 });
  }

  #openCase(attributes: SaxesTagPlain['attributes']): void {
    if (this.#case) {
      this.refuse('malformed', 'a `testcase` stands inside a `testcase`');
      return;
    }
    const { name = '', classname, file, time } = attributes;
    this.tally.addDuration(toMilliseconds(time));
    const test = name.slice(0, maxMessageLength);
    const isNamed = classname !== undefined && !['', 'test', name].includes(classname);
    this.#case = {
      name: isNamed ? `${classname.slice(0, maxMessageLength)} > ${test}` : test,
      // A runner that found no test in a file lists the file itself.
      emptyFile: name !== '' && (file === name || file?.endsWith(`/${name}`) === true),
      bad: false,
      message: undefined,
      skipped: false,
      todo: false,
    };
  }

  #openOutcome(test: OpenCase, name: string, attributes: SaxesTagPlain['attributes']): void {
    if (name === 'skipped') {
      test.skipped = true;
      test.todo = attributes.type === 'todo';
    }
    if (name !== 'failure' && name !== 'error') return;
    test.bad = true;
    test.message ??= attributes.message?.slice(0, maxMessageLength) || undefined;
    this.#collects = test.message === undefined;
  }

  #closeCase(): void {
    const test = this.#case;
    if (!test) return;
    this.#case = undefined;
    this.#collects = false;
    const suite = this.#suites.at(-1);
    if (suite) suite.tests += 1;
    if (test.bad) this.#countBad();
    if (test.bad && !test.todo) this.tally.fail(test.name, test.message?.split('\n', 1)[0]);
    else if (test.skipped) this.tally.skipped += 1;
    else if (test.emptyFile) this.tally.addEmptyFile(test.name);
    else this.tally.passed += 1;
  }

  #countBad(): void {
    const suite = this.#suites.at(-1);
    if (suite) suite.bad += 1;
  }

  /** Attributes count a suite's own tests or those of all suites in it, as the tool likes: more than all is a contradiction. */
  #closeSuite(): void {
    const suite = this.#suites.pop();
    if (!suite) return;
    const parent = this.#suites.at(-1);
    if (parent) {
      parent.tests += suite.tests;
      parent.bad += suite.bad;
    }
    const { claimedTests, claimedBad, tests, bad } = suite;
    if (claimedBad > bad) this.#contradict('error', suite, `${claimedBad} failed tests`, bad);
    if (claimedTests > tests) this.#contradict('warning', suite, `${claimedTests} tests`, tests);
  }

  #contradict(severity: Contradiction['severity'], suite: OpenSuite, claimed: string, listed: number): void {
    if (this.contradictions.length >= reportBounds.maxContradictions) return;
    const message = `suite \`${plainLine(suite.name)}\` claims ${claimed} and lists ${listed}`;
    this.contradictions.push({ severity, message });
  }
}

function toCount(text: string | undefined): number {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Seconds as tools print them, some with `,` between thousands. */
function toMilliseconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d[\d,]{0,15}(?:\.\d{1,20})?$/.test(text)) return undefined;
  return Number(text.replaceAll(',', '')) * 1000;
}
