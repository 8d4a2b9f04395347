/* The verdict of the gates on a change, and the differences between two verdicts. */
import { canonicalDigest, canonicalize } from '../../core/base/canonical.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { type CheckRecord, type StageRecord, stageNames } from '../../core/interfaces/stage.ts';
import { type GateReport, peopleOf } from './gate-report.ts';

/** A finding without times in its text, so that two evaluations of one change are equal. */
interface VerdictFinding extends Pick<Finding, 'rule' | 'severity' | 'message' | 'path' | 'line'> {
  /** The finding is about a missing approval. */
  readonly waiting?: true;
}

type VerdictCheck = ReturnType<typeof toCheck>;
type VerdictStage = ReturnType<typeof toStage>;

/**
 * The result of the gates only (`docs/reference/approval.md`, The verdict): two evaluations of one change are equal,
 * on any machine. Approvals are bound to its digest.
 */
export interface Verdict {
  readonly schema: 'urn:writ:verdict:v1';
  readonly target: string;
  /** Authors, committers and submitter, sorted. */
  readonly authors: readonly string[];
  /** Findings of the patch. */
  readonly findings: readonly VerdictFinding[];
  readonly stages: readonly VerdictStage[];
}

/** Pure. */
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

function toStage(record: StageRecord, { artifacts }: GateReport) {
  const { stage, status, expected, ran, checks, findings } = record;
  return {
    stage,
    status,
    expected,
    ran,
    checks: checks.map(toCheck),
    findings: toFindings(findings),
    /** Names of all artifacts of the stage, sorted. */
    artifacts: namesOf(artifacts.filter((artifact) => artifact.stage === stage)),
  };
}

function toCheck(check: CheckRecord) {
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
        // Measured values differ each time; the severity already states whether they are acceptable.
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

interface Allowance {
  /** `after` has the approvals for which `before` waited: what waited, and everything after it, may differ. */
  readonly goesOn?: boolean;
}

const maxDifferences = 20;

/** Sentences that name stage, check, finding and count; empty if the verdicts are equal. Pure. */
export function verdictDifferences(
  before: Verdict,
  after: Verdict,
  { goesOn = false }: Allowance = {},
): readonly string[] {
  const differences: string[] = [];
  if (before.target !== after.target)
    differences.push(`the target is \`${after.target}\`, it was \`${before.target}\``);
  differences.push(...nameDifferences('author', before.authors, after.authors, false));
  differences.push(...findingDifferences('', before.findings, after.findings));
  let isOpen = false;
  for (const earlier of before.stages) {
    const later = after.stages.find(({ stage }) => stage === earlier.stage);
    if (!later) differences.push(`stage \`${earlier.stage}\` is gone`);
    else if (isOpen)
      differences.push(...valueDifferences(`stage \`${earlier.stage}\``, earlier, later, ['expected']));
    else differences.push(...stageDifferences(earlier, later, goesOn));
    isOpen ||= goesOn && earlier.status === 'waiting';
  }
  for (const { stage } of after.stages)
    if (!before.stages.some((one) => one.stage === stage)) differences.push(`stage \`${stage}\` is new`);
  const differ = canonicalize(before) !== canonicalize(after);
  // A difference that no case above names.
  if (differences.length === 0 && differ && !goesOn) differences.push('the verdict is another');
  return differences.length <= maxDifferences
    ? differences
    : [...differences.slice(0, maxDifferences), `and ${differences.length - maxDifferences} more`];
}

function stageDifferences(before: VerdictStage, after: VerdictStage, goesOn: boolean): readonly string[] {
  const where = `stage \`${before.stage}\``;
  const open = goesOn && before.status === 'waiting';
  const differences: string[] = [];
  if (!open) differences.push(...valueDifferences(where, before, after, ['status']));
  differences.push(...valueDifferences(where, before, after, ['expected', 'ran']));
  for (const earlier of before.checks) {
    const later = after.checks.find(({ id }) => id === earlier.id);
    const check = `check \`${earlier.id}\` (${before.stage})`;
    if (later) differences.push(...checkDifferences(check, earlier, later, open));
    else differences.push(`${check} is gone`);
  }
  for (const { id } of after.checks)
    if (!before.checks.some((one) => one.id === id))
      differences.push(`check \`${id}\` (${before.stage}) is new`);
  differences.push(
    ...findingDifferences(`${where}: `, settled(before.findings, open), settled(after.findings, open)),
  );
  return [...differences, ...nameDifferences(where, before.artifacts, after.artifacts, open)];
}

function checkDifferences(
  where: string,
  before: VerdictCheck,
  after: VerdictCheck,
  open: boolean,
): readonly string[] {
  const differences = [...valueDifferences(where, before, after, ['kind', 'command', 'required'])];
  if (open && before.status === 'waiting') return differences;
  differences.push(
    ...valueDifferences(where, before, after, ['status', 'exitCode', 'signal', 'timedOut', 'tolerated']),
  );
  for (const count of ['passed', 'failed', 'skipped'] as const)
    if (before.tests?.[count] !== after.tests?.[count])
      differences.push(
        `${where}: ${say(after.tests?.[count])} tests ${count}, were ${say(before.tests?.[count])}`,
      );
  const [named, now] = [before.tests?.failedTests ?? [], after.tests?.failedTests ?? []];
  differences.push(...nameDifferences(`${where}: failed test`, named, now, false));
  differences.push(...nameDifferences(where, before.artifacts, after.artifacts, false));
  return [...differences, ...findingDifferences(`${where}: `, before.findings, after.findings)];
}

function valueDifferences<T extends object>(
  where: string,
  before: T,
  after: T,
  names: readonly (keyof T & string)[],
): readonly string[] {
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => `${where}: \`${name}\` is ${say(after[name])}, was ${say(before[name])}`);
}

/** Findings that wait for approval change or vanish once it is given. */
function settled(findings: readonly VerdictFinding[], open: boolean): readonly VerdictFinding[] {
  return open ? findings.filter(({ waiting }) => !waiting) : findings;
}

function findingDifferences(
  where: string,
  before: readonly VerdictFinding[],
  after: readonly VerdictFinding[],
): readonly string[] {
  const counts = new Map<string, { readonly finding: VerdictFinding; count: number }>();
  for (const [findings, weight] of [
    [before, -1],
    [after, 1],
  ] as const)
    for (const finding of findings) {
      const key = canonicalize(finding);
      const known = counts.get(key) ?? { finding, count: 0 };
      known.count += weight;
      counts.set(key, known);
    }
  return [...counts.values()]
    .filter(({ count }) => count !== 0)
    .map(({ finding: { rule, severity, message, path, line }, count }) => {
      const at = path === undefined ? '' : ` at \`${path}${line === undefined ? '' : `:${line}`}\``;
      return `${where}${count > 0 ? 'new' : 'no longer found'}: ${severity} of \`${rule}\`${at}: ${message.slice(0, 200)}`;
    });
}

function nameDifferences(
  where: string,
  before: readonly string[],
  after: readonly string[],
  open: boolean,
): readonly string[] {
  const gone = before.filter((name) => !after.includes(name)).map((name) => `${where}: \`${name}\` is gone`);
  if (open) return gone;
  return [
    ...gone,
    ...after.filter((name) => !before.includes(name)).map((name) => `${where}: \`${name}\` is new`),
  ];
}

function say(value: unknown): string {
  return value === undefined ? 'none' : `\`${String(value)}\``;
}
