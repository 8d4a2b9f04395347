/* The gate report of a run, and how a stored one is validated. */
import type { RunView } from '../../core/interfaces/run-view.ts';
import {
  fields,
  flag,
  gitObject,
  listOf,
  mapOf,
  oneOf,
  orNull,
  type Shape,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../shape.ts';
import { parseShaped } from './record-paths.ts';

/** The results of all gates before the decision; stored as `gate-report.json`. */
export interface GateReport
  extends Omit<RunView, 'state' | 'finishedAt' | 'decision' | 'provenance' | 'waiting'> {
  readonly schema: 'urn:writ:gate-report:v1';
  /** None of these people may approve the change. */
  readonly authorship: Authorship & { readonly tip?: string };
}

const maxBytes = 64 * 1024 * 1024;

/** Validates these members and ignores all others. */
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

/** Why a value cannot be shown as a gate report; empty if it can. */
export function gateReportProblems(value: unknown): readonly string[] {
  const problems: string[] = [];
  shape.check(value, '', problems);
  return problems;
}

/** OBJECT_CORRUPT. */
export function readGateReport(bytes: Uint8Array): GateReport {
  return parseShaped('gate-report.json', shape as Shape<GateReport>, bytes, { maxBytes });
}

export const authorshipShape = fields(
  { authors: listOf(text), committers: listOf(text) },
  { broughtBy: text },
);

/**
 * The people of a change as `Name <mail>`, read when it arrived: authors that its mails or commits name, main author
 * first; committers of the range; and who submitted it, if a part of the change names no author.
 */
export type Authorship = TypeOf<typeof authorshipShape>;

export function peopleOf({ authors, committers, broughtBy }: Authorship): readonly string[] {
  return [...new Set([...authors, ...committers, ...(broughtBy === undefined ? [] : [broughtBy])])];
}
