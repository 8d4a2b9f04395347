/* The gate report of a run, and how a stored one is validated. */
import type { RunView } from '../../core/interfaces/run-view.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import {
  asked,
  finding,
  laidRun,
  observed,
  outputTail,
  ranOn,
  scan,
  tests,
  wroteOutside,
} from '../object-shapes.ts';
import {
  fields,
  flag,
  gitObject,
  listOf,
  oneOf,
  openShape,
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

const artifact = fields({ name: text, stage: text, path: text, sha256: sha256Text, sizeBytes: wholeNumber });
const check = fields(
  {
    id: text,
    kind: text,
    command: text,
    status: oneOf('passed', 'failed', 'waiting'),
    required: flag,
    timedOut: flag,
    startedAt: text,
    artifacts: listOf(artifact),
    findings: listOf(finding),
  },
  {
    tolerated: flag,
    exitCode: wholeNumber,
    signal: text,
    tests,
    outputTail,
    atPolicy: laidRun,
    withBaseTests: laidRun,
    onBaseProduct: laidRun,
    observed,
    scan,
    wroteOutside,
    ranOn,
  },
);
const stage = fields(
  {
    stage: oneOf(...stageNames),
    status: oneOf('passed', 'failed', 'skipped', 'waiting'),
    expected: wholeNumber,
    ran: wholeNumber,
    checks: listOf(check),
    findings: listOf(finding),
  },
  { asked },
);
const people = { authors: listOf(text), committers: listOf(text) };
const shape = openShape(
  fields(
    {
      schema: oneOf('urn:writ:gate-report:v1'),
      runId: text,
      threadId: text,
      startedAt: text,
      spec: fields({ id: text, digest: sha256Text, summary: text, objectives: listOf(text) }),
      targetRef: text,
      sandbox: text,
      authorship: fields(people, { broughtBy: text, tip: gitObject }),
      stages: listOf(stage),
      findings: listOf(finding),
      artifacts: listOf(artifact),
    },
    {
      baseCommit: text,
      policyCommit: text,
      policyRef: text,
      defaultRef: orNull(text),
      patch: fields({ digest: sha256Text, candidateTree: text, files: listOf(fields({ path: text })) }),
      notices: listOf(text),
    },
  ),
);

/** Why a value cannot be shown as a gate report; empty if it can. */
export function gateReportProblems(value: unknown): readonly string[] {
  const problems: string[] = [];
  shape.check(value, '', problems);
  return problems;
}

/** OBJECT_CORRUPT. */
export function readGateReport(bytes: Uint8Array): GateReport {
  return parseShaped('gate-report.json', shape as Shape<unknown> as Shape<GateReport>, bytes, { maxBytes });
}

export const authorshipShape = fields(people, { broughtBy: text });

/**
 * The people of a change as `Name <mail>`, read when it arrived: authors that its mails or commits name, main author
 * first; committers of the range; and who submitted it, if a part of the change names no author.
 */
export type Authorship = TypeOf<typeof authorshipShape>;

export function peopleOf({ authors, committers, broughtBy }: Authorship): readonly string[] {
  return [...new Set([...authors, ...committers, ...(broughtBy === undefined ? [] : [broughtBy])])];
}
