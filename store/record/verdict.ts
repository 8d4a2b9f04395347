import { canonicalDigest, canonicalize } from '../../core/base/canonical.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { type CheckRecord, type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import { peopleOf } from './authorship.ts';
import type { GateReport } from './gate-report.ts';

/** A finding as it is judged again: its words without times, which differ from one judging to the next. */
export interface VerdictFinding extends Pick<Finding, 'rule' | 'severity' | 'message' | 'path' | 'line'> {
  /** It says that people have to speak first. */
  readonly waiting?: true;
}

/** What a check came to. */
export interface VerdictCheck
  extends Pick<CheckRecord, 'id' | 'kind' | 'command' | 'status' | 'required' | 'timedOut' | 'tolerated'> {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly tests?: {
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly failedTests: readonly string[];
  };
  /** Names, sorted. */
  readonly artifacts: readonly string[];
  readonly findings: readonly VerdictFinding[];
}

/** What a stage came to. */
export interface VerdictStage extends Pick<StageRecord, 'stage' | 'status' | 'expected' | 'ran'> {
  readonly checks: readonly VerdictCheck[];
  readonly findings: readonly VerdictFinding[];
  /** Names of everything that the stage left, sorted. */
  readonly artifacts: readonly string[];
}

/**
 * What the gates made of a change, and no more (`docs/approval.md`, The verdict): two honest judgings of one change
 * come to the same, whatever they took, wherever they ran. Approvals are bound to its digest.
 */
export interface Verdict {
  readonly schema: 'urn:writ:verdict:v1';
  /** The branch that the change is for. */
  readonly target: string;
  /** Who made the change or brought it, sorted. */
  readonly authors: readonly string[];
  /** Findings of the patch. */
  readonly findings: readonly VerdictFinding[];
  readonly stages: readonly VerdictStage[];
}

/** The verdict in a gate report. Pure. */
export function verdictOf(report: GateReport): Verdict {
  return {
    schema: 'urn:writ:verdict:v1',
    target: report.targetRef,
    authors: [...peopleOf(report.authorship)].sort(),
    findings: toFindings(report.findings),
    stages: stageNames.flatMap((name) =>
      report.stages.filter(({ stage }) => stage === name).map((stage) => toStage(stage, report)),
    ),
  };
}

/** SHA-256, hex, of the verdict's canonical form. */
export function verdictDigest(report: GateReport): string {
  return canonicalDigest(verdictOf(report));
}

function toStage(record: StageRecord, { artifacts }: GateReport): VerdictStage {
  const { stage, status, expected, ran, checks, findings } = record;
  return {
    stage,
    status,
    expected,
    ran,
    checks: checks.map(toCheck),
    findings: toFindings(findings),
    artifacts: namesOf(artifacts.filter((artifact) => artifact.stage === stage)),
  };
}

function toCheck(check: CheckRecord): VerdictCheck {
  const { id, kind, command, status, required, timedOut, tolerated, exitCode, signal, tests } = check;
  return {
    id,
    kind,
    command,
    status,
    required,
    timedOut,
    ...(tolerated ? { tolerated } : {}),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(tests === undefined
      ? {}
      : {
          tests: {
            passed: tests.passed,
            failed: tests.failed,
            skipped: tests.skipped,
            failedTests: (tests.failedTests ?? []).map(({ name }) => withoutTimes(name)).sort(),
          },
        }),
    artifacts: namesOf(check.artifacts),
    findings: toFindings(check.findings),
  };
}

function toFindings(findings: readonly Finding[]): readonly VerdictFinding[] {
  return findings
    .map(({ rule, severity, message, path, line, detail }): VerdictFinding => {
      const words = withoutTimes(message);
      return {
        rule,
        severity,
        // Metrics are measured anew each time; whether they are too bad is the severity.
        message: rule === 'regression' ? words.replace(/\d+/g, '#') : words,
        ...(path === undefined ? {} : { path }),
        ...(line === undefined ? {} : { line }),
        ...(detail?.waiting === true ? { waiting: true } : {}),
      };
    })
    .map((finding) => [canonicalize(finding), finding] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, finding]) => finding);
}

function namesOf(artifacts: readonly { readonly name: string }[]): readonly string[] {
  return [...new Set(artifacts.map(({ name }) => name))].sort();
}

const moment = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g;
const duration = /\b\d{1,12}(?:\.\d{1,9})? ?(?:ns|\u00b5s|ms|s|sec|secs|seconds?|min|minutes?|h|hours?)\b/g;

function withoutTimes(text: string): string {
  return text.replace(moment, '⟨time⟩').replace(duration, '⟨time⟩');
}
