import { WritError } from '../../core/base/errors.ts';
import {
  flag,
  gitObject,
  listOf,
  mapOf,
  oneOf,
  orNull,
  type Shape,
  sha256Text,
  text,
  wholeNumber,
} from '../shape.ts';
import type { GateReport } from './gate-report.ts';
import { parseNamedJson } from './parse-named-json.ts';

const maxBytes = 64 * 1024 * 1024;

/** These members are there and are what they must be; whatever else stands beside them is left alone. */
function having(members: Readonly<Record<string, Shape<unknown>>>): Shape<unknown> {
  return {
    check: (value, path, problems) => {
      mapOf({ check: () => {} }).check(value, path, problems);
      const found = new Map(Object.entries(Object(value)));
      for (const [name, member] of Object.entries(members))
        member.check(found.get(name), `${path}/${name}`, problems);
    },
  };
}

const orAbsent = (inner: Shape<unknown>): Shape<unknown> => ({
  check: (value, path, problems) => value === undefined || inner.check(value, path, problems),
});

const finding = having({
  rule: text,
  severity: oneOf('error', 'warning', 'note'),
  message: text,
  path: orAbsent(text),
  line: orAbsent(wholeNumber),
  detail: orAbsent(having({})),
});
const tests = having({
  passed: wholeNumber,
  failed: wholeNumber,
  skipped: wholeNumber,
  failedTests: orAbsent(listOf(having({ name: text }))),
});
const artifact = having({ name: text, stage: text, path: text, sha256: sha256Text, sizeBytes: wholeNumber });
const outputTail = orAbsent(having({ text, truncated: orAbsent(flag) }));
const laidRun = orAbsent(having({ outputTail }));
const check = having({
  id: text,
  kind: text,
  command: text,
  status: oneOf('passed', 'failed', 'waiting'),
  required: flag,
  timedOut: flag,
  tolerated: orAbsent(flag),
  exitCode: orAbsent(wholeNumber),
  signal: orAbsent(text),
  tests: orAbsent(tests),
  outputTail,
  atPolicy: laidRun,
  withBaseTests: laidRun,
  onBaseProduct: laidRun,
  observed: orAbsent(
    having({
      by: oneOf('trace', 'filling', 'none'),
      footprint: orAbsent(sha256Text),
      prepare: orAbsent(listOf(sha256Text)),
      reason: orAbsent(text),
    }),
  ),
  scan: orAbsent(
    having({
      name: text,
      tool: orAbsent(text),
      version: orAbsent(text),
      inputs: listOf(having({ path: text, sha256: sha256Text })),
      reports: having({ base: orAbsent(sha256Text), candidate: orAbsent(sha256Text) }),
      results: having({
        new: wholeNumber,
        unchanged: wholeNumber,
        absent: wholeNumber,
        ignored: wholeNumber,
      }),
    }),
  ),
  startedAt: text,
  artifacts: listOf(artifact),
  findings: listOf(finding),
  wroteOutside: orAbsent(
    having({ count: wholeNumber, atLeast: orAbsent(flag), paths: listOf(having({ path: text, was: text })) }),
  ),
});
const stage = having({
  stage: oneOf('fast', 'integration', 'security', 'release'),
  status: oneOf('passed', 'failed', 'skipped', 'waiting'),
  expected: wholeNumber,
  ran: wholeNumber,
  checks: listOf(check),
  findings: listOf(finding),
  asked: orAbsent(listOf(having({ name: text, plugin: text, status: oneOf('passed', 'failed') }))),
});
const shape = having({
  schema: oneOf('urn:writ:gate-report:v1'),
  runId: text,
  threadId: text,
  startedAt: text,
  spec: having({ id: text, digest: sha256Text, summary: text, objectives: listOf(text) }),
  baseCommit: orAbsent(text),
  policyCommit: orAbsent(text),
  policyRef: orAbsent(text),
  defaultRef: orAbsent(orNull(text)),
  targetRef: text,
  sandbox: text,
  authorship: having({
    authors: listOf(text),
    committers: listOf(text),
    broughtBy: orAbsent(text),
    tip: orAbsent(gitObject),
  }),
  patch: orAbsent(having({ digest: sha256Text, candidateTree: text, files: listOf(having({ path: text })) })),
  stages: listOf(stage),
  notices: orAbsent(listOf(text)),
  findings: listOf(finding),
  artifacts: listOf(artifact),
});

/** What keeps a value from being shown as a gate report; none where nothing does. */
export function gateReportProblems(value: unknown): readonly string[] {
  const problems: string[] = [];
  shape.check(value, '', problems);
  return problems;
}

/** Reads a stored `gate-report.json`. OBJECT_CORRUPT. */
export function readGateReport(bytes: Uint8Array): GateReport {
  const value = parseNamedJson('gate-report.json', bytes, { maxBytes });
  const problems = gateReportProblems(value);
  if (problems.length === 0) return value as GateReport;
  throw new WritError('OBJECT_CORRUPT', {
    message: `\`gate-report.json\` is not what it must be: ${problems[0]}`,
    detail: { path: 'gate-report.json', problems },
  });
}
