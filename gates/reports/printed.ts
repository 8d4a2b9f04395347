/* Reads the tests in what runners print for people. */
import { Tally } from './tally.ts';
import { reportBounds, type TestReport, textRefusal, withoutEscapes } from './test-report.ts';

type Outcome = 'pass' | 'fail' | 'skip';

// In strings, which the build writes in ASCII: a program with one other character takes twice the memory.
const [info, ticks, crosses, circles] = ['ℹ', '✔✓√', '✖✗✘×', '﹣○↓⚠'];

/**
 * Lines that name a test and its outcome. The last one is used by other programs, too: it counts where a summary
 * of tests follows.
 */
const named: readonly (readonly [form: RegExp, isSure: boolean])[] = [
  // pytest -v
  [/^(?<name>\S+::\S.*?) (?<outcome>PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b/, true],
  // python -m unittest -v
  [/^(?<name>\w+ \([\w.]+\)) \.\.\. (?<outcome>ok|FAIL|ERROR|skipped)\b/, true],
  // cargo test
  [/^test (?<name>\S+)(?: - should panic)? \.\.\. (?<outcome>ok|FAILED|ignored)\b/, true],
  // go test -v, and go test
  [/^\s*--- (?<outcome>PASS|FAIL|SKIP): (?<name>\S+)/, true],
  [/^(?<outcome>ok|FAIL)\s+(?<name>[\w./~-]+)\s+(?:[\d.]+s|\(cached\))/, true],
  // ctest
  [/^\s*\d+\/\d+ Test +#\d+: (?<name>\S+) \.*\s*(?<outcome>Passed|\*\*\*)/, true],
  // node --test, mocha, jest, vitest, ava, bats, phpunit --testdox
  [new RegExp(String.raw`^\s*(?<outcome>[${ticks}${crosses}${circles}])\s+(?<name>.+)$`, 'u'), false],
];
const passes = new RegExp(`^(?:passed|ok|pass|xpass|[${ticks}])$`, 'iu');
const fails = new RegExp(String.raw`^(?:failed|fail|error|\*\*\*|[${crosses}])$`, 'iu');
/** What follows a name: its time, and why it was skipped. */
const time = /\s+\(?\d{1,9}(?:\.\d{1,9})?\s?m?s\)?(?:\s+#.{0,500})?$/;

/** A file with the number of its tests: vitest then names only the tests that failed or were slow. */
const fileOfTests = /^(?<file>\S.*) \(\d{1,9} tests?(?: \| .*)?\)$/;

const summary = new RegExp(
  [
    String.raw`^${info} (?:tests|pass|fail|cancelled|skipped|todo) \d+$`, // node --test
    String.raw`^\s+\d+ (?:passing|failing|pending)\b`, // mocha
    String.raw`^\s*Tests:?\s+\d`, // jest, vitest, phpunit
    String.raw`^=* ?\d+ (?:passed|failed|skipped|xfailed|error|deselected)\b.* in [\d.]+s`, // pytest
    String.raw`^Ran \d+ tests? in |^(?:OK|FAILED) \([^()]*\)$`, // unittest, phpunit
    '^test result: ', // cargo
    String.raw`^\d+ (?:examples?|runs|tests?), \d+ `, // rspec, minitest, bats, mix
    String.raw`^(?:Passed|Failed)!\s+- `, // dotnet
    String.raw`^(?:\[\w+\] )?Tests run: \d+, Failures: \d+(?!.*Time elapsed)`, // mvn
    String.raw`tests passed, \d+ tests? failed out of `, // ctest
    String.raw`^\s*Executed \d+ tests?, with `, // swift
    String.raw`^(?:ok|FAILED) \| \d+ passed`, // deno
    String.raw`^\s*\d+ (?:pass|fail|skip)$`, // bun
    String.raw`^\s*\d+ tests? (?:passed|failed|skipped)\b`, // ava
  ].join('|'),
  'u',
);
/** `5 passed`, `5 tests passed`, `Failures: 1`, `skipped=1`, `ℹ pass 5`, `out of 5`. */
const counted =
  /(?<number>\d{1,9})\s+(?:tests?\s+(?=pass|fail|skip))?(?<word>[a-z]+)|(?<label>[a-z]+)[:=]\s*(?<of>\d{1,9})(?=[,.)\s]*$|[,.)])|^\u2139 (?<node>\w+) (?<nodes>\d{1,9})$|(?<all>out of) (?<total>\d{1,9})/giu;
const meanings: readonly (readonly [Outcome | 'total', RegExp])[] = [
  ['pass', /^pass(?:ed|ing)?$/i],
  ['fail', /^(?:fail(?:ed|ing|ures?)?|errors?|cancelled)$/i],
  ['skip', /^(?:skip(?:ped|s)?|pending|ignored|todo|disabled|omissions|xfailed)$/i],
  ['total', /^(?:tests?|examples?|runs?|total|out of)$/i],
];
const maxLineLength = 2_000;

/**
 * Returns the tests that output for people names or counts; `undefined` if it is none of a known runner. Names may be
 * missing: many runners print only how many passed. A program under test can print such lines itself, so this is
 * compared with the base and gives no verdict.
 */
export function readPrinted(bytes: Uint8Array): TestReport | undefined {
  if (textRefusal(bytes)) return undefined;
  const tests = new Map<string, Outcome>();
  const files = new Set<string>();
  const counts = { pass: 0, fail: 0, skip: 0, total: 0 };
  let isSure = false;
  let isSummed = false;
  for (const raw of withoutEscapes(Buffer.from(bytes).toString('utf8')).split('\n')) {
    const line = raw.trimEnd();
    if (line === '' || line.length > maxLineLength) continue;
    if (summary.test(line)) {
      isSummed = true;
      addCounts(counts, line);
      continue;
    }
    const found = namedIn(line);
    if (found === undefined) continue;
    const { file } = fileOfTests.exec(found.name)?.groups ?? {};
    if (file !== undefined) files.add(file);
    const name = file ?? found.name;
    isSure ||= found.isSure;
    if (tests.size < reportBounds.maxNames && tests.get(name) !== 'fail') tests.set(name, found.outcome);
  }
  if (!isSummed && !isSure) return undefined;
  const tally = new Tally();
  for (const [name, outcome] of tests)
    if (files.size === 0 || files.has(name) || outcome === 'fail') tally[outcome](name);
  const report = tally.toReport();
  if (!isSummed) return report;
  const { pass, fail: failed, skip: skipped, total } = counts;
  return { ...report, passed: pass > 0 ? pass : Math.max(0, total - failed - skipped), failed, skipped };
}

function namedIn(
  line: string,
): { readonly name: string; readonly outcome: Outcome; readonly isSure: boolean } | undefined {
  for (const [form, isSure] of named) {
    const { name, outcome = '' } = form.exec(line)?.groups ?? {};
    // The headline above the failures of `node --test`.
    if (name === undefined || name === 'failing tests:') continue;
    return {
      name: name.replace(time, ''),
      outcome: passes.test(outcome) ? 'pass' : fails.test(outcome) ? 'fail' : 'skip',
      isSure,
    };
  }
  return undefined;
}

function addCounts(counts: Record<Outcome | 'total', number>, line: string): void {
  // What unittest prints of tests that are expected to fail.
  const plain = line.replace('expected failures=', 'skipped=').replace('unexpected successes=', 'failures=');
  for (const { groups = {} } of plain.matchAll(counted)) {
    const word = groups.word ?? groups.label ?? groups.node ?? groups.all ?? '';
    const kind = meanings.find(([, form]) => form.test(word))?.[0];
    if (kind !== undefined)
      counts[kind] += Number(groups.number ?? groups.of ?? groups.nodes ?? groups.total);
  }
}
