/* Renders a run as Markdown and as SARIF. */
import { stageFindings } from '../../api/run/run-data.ts';
import { policyReasons, toVerdict } from '../../api/run/verdict.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { DescribedRule } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { markdownText } from '../../readers/documents/markdown-text.ts';
import { buildSarif } from '../../readers/documents/sarif/build-sarif.ts';
import {
  printOnce,
  toCount,
  toDuration,
  toSealedCommit,
  toSize,
  toStageWords,
  toTimeSpan,
  wroteOutside,
} from './words.ts';

/** Rows per list; the rest is counted. */
const most = 100;

/**
 * One run as Markdown for a pull request: decision, stages, findings, evidence, what to verify. Untrusted text is
 * inert.
 */
export function renderRunMarkdown(view: RunView): string {
  const verdict = toVerdict(view);
  const findings = [
    ...view.findings.map((finding) => ({ finding, place: 'patch' })),
    ...view.stages.flatMap((stage) =>
      stageFindings(stage).map(({ finding }) => ({ finding, place: stage.stage })),
    ),
  ];
  const outside = wroteOutside(view.stages);
  const once = printOnce();
  for (const reason of policyReasons(view)) once(reason);
  const lines = [
    `## ${verdict.word}: ${text(view.spec.summary, 256)}`,
    '',
    text(verdict.sentence),
    '',
    ...commitLines(view),
    '| Stage | Status | Checks | Time |',
    '| --- | --- | --- | ---: |',
    ...view.stages.map((stage) => {
      const time = toTimeSpan(stage.checks).lengthMs;
      return `| ${stage.stage} | ${stage.status} | ${text(toStageWords(stage, view.artifacts), 512)} | ${stage.checks.length === 0 ? '' : toDuration(time)} |`;
    }),
    '',
    ...outside.slice(0, most).map(([id, words]) => `- ${text(id, 128)}: ${text(words)}`),
    ...(outside.length > most ? ['', `and ${outside.length - most} more`] : []),
    ...(outside.length > 0 ? [''] : []),
    '### Findings',
    '',
    ...(findings.length === 0
      ? ['None.']
      : findings.slice(0, most).map(({ finding, place }) => findingLine(finding, place, once))),
    ...(findings.length > most ? ['', `and ${findings.length - most} more`] : []),
    '',
    '### Evidence',
    '',
    ...(view.artifacts.length === 0
      ? ['None.']
      : [
          '| Artifact | SHA-256 | Size |',
          '| --- | --- | ---: |',
          ...view.artifacts
            .slice(0, most)
            .map(
              (artifact) =>
                `| ${text(artifact.name, 128)} | \`${code(artifact.sha256)}\` | ${toSize(artifact.sizeBytes)} |`,
            ),
        ]),
    ...(view.artifacts.length > most
      ? ['', `and ${toCount(view.artifacts.length - most, 'more artifact')}`]
      : []),
    '',
    '### Verify',
    '',
    ...verdict.next.map(({ line, about }) => `- \`${code(line)}\`: ${text(about)}`),
    '',
    `Run \`${code(view.runId)}\`, IntentSpec \`${code(view.spec.digest)}\`.`,
  ];
  return `${lines.join('\n')}\n`;
}

function commitLines(view: RunView): readonly string[] {
  const commit = toSealedCommit(view);
  if (commit === undefined) return [];
  const sha = `\`${code(commit.sha)}\``;
  const ref = `\`${code(view.targetRef)}\``;
  return [
    commit.onBranch ? `Commit ${sha} on ${ref}.` : `Commit object ${sha} was made, but not put on ${ref}.`,
    '',
  ];
}

function findingLine(finding: Finding, place: string, once: (text: string) => string): string {
  const message = once(finding.message) || 'said above';
  const where =
    finding.path === undefined
      ? ''
      : ` in ${text(finding.path, 1024)}${finding.line === undefined ? '' : ` line ${finding.line}`}`;
  return `- **${finding.severity}** ${text(finding.rule, 128)} (${place})${where}: ${text(message, 2000)}`;
}

/** Untrusted text for one line, at most `maxLength` characters of it. */
function text(value: string, maxLength = 4000): string {
  return markdownText(value.length > maxLength ? `${value.slice(0, maxLength)}…` : value);
}

/** For a code span: ids, digests, refs and command lines keep their letters, everything else becomes `?`. */
function code(value: string): string {
  return value.slice(0, 512).replace(/[^\w ./:+@=-]/g, '?');
}

/** Renders every finding of a run as SARIF 2.1.0. A run with unsettled stages is marked incomplete. */
export function renderRunSarif(
  view: RunView,
  version: string,
  described: readonly DescribedRule[] = [],
): string {
  const ofStages = view.stages.flatMap((stage) => stageFindings(stage).map(({ finding }) => finding));
  const sarif = buildSarif({
    findings: [...view.findings, ...ofStages],
    ruleIds: [],
    described,
    version,
    complete: view.state === 'decided' && view.stages.every(({ expected, ran }) => ran === expected),
    ...(view.decision?.commitSha === undefined ? {} : { commit: view.decision.commitSha }),
  });
  return `${JSON.stringify(sarif, undefined, 2)}\n`;
}
