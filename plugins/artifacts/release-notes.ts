import type { ArtifactProducer, ArtifactRequest } from '../../core/contract/artifact-producer.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import type { CheckRecord, StageRecord } from '../../core/contract/stage.ts';
import { markdownRaw, markdownText } from '../../readers/documents/markdown-text.ts';
import { codeSpan } from './code-span.ts';

/** How a kind of change is called in front of readers. */
const headings: Readonly<Record<string, string>> = {
  bugfix: 'Fix',
  feature: 'Feature',
  refactor: 'Refactoring',
  performance: 'Performance',
  security: 'Security',
  docs: 'Documentation',
  chore: 'Maintenance',
  unknown: 'Change',
};

const maxFiles = 500;

/**
 * `release-notes`: what was asked for, what changed, and what the gates said so far, as Markdown. Untrusted text is
 * escaped, unless the contract's `encodingPolicy` is `none`: then HTML alone is.
 */
export const releaseNotesProducer = {
  contentType: 'text/markdown; charset=utf-8',
  extension: 'md',
  async produce(request) {
    const isRaw = request.spec.security.outputHandling.encodingPolicy === 'none';
    const notes = isRaw ? toReleaseNotes(request, markdownRaw) : toReleaseNotes(request, markdownText);
    return Buffer.from(`${notes.join('\n')}\n`);
  },
} satisfies ArtifactProducer;

function toReleaseNotes({ spec, patch, stages }: ArtifactRequest, prose: (text: string) => string): string[] {
  const { intent, acceptance, metadata } = spec;
  return [
    `# ${headings[intent.changeType] ?? 'Change'}: ${prose(intent.summary)}`,
    '',
    ...section(
      'Objectives',
      intent.objectives.map((objective) => `- ${prose(objective)}`),
    ),
    ...section(
      'Accepted when',
      acceptance.successCriteria.map((criterion) => `- ${prose(criterion)}`),
    ),
    ...section(`Files (${patch.files.length})`, fileLines(patch.files)),
    ...section('Gates', stages.flatMap(stageLines)),
    '---',
    '',
    `Intent ${codeSpan(metadata.id)}, patchset ${codeSpan(`sha256:${patch.digest}`)}`,
  ];
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`## ${heading}`, '', ...lines, ''];
}

function fileLines(files: readonly PatchFile[]): string[] {
  const lines = files.slice(0, maxFiles).map((file) => {
    const from =
      file.oldPath === undefined || file.oldPath === file.path ? '' : ` from ${codeSpan(file.oldPath)}`;
    const size = file.binary ? 'binary' : `+${file.linesAdded} −${file.linesDeleted}`;
    return `- ${codeSpan(file.path)}: ${file.changeType}${from}, ${size}`;
  });
  return files.length > maxFiles ? [...lines, `- and ${files.length - maxFiles} more`] : lines;
}

function stageLines(stage: StageRecord): string[] {
  const ran = stage.status === 'skipped' ? 'no checks' : `${stage.ran} of ${stage.expected} checks ran`;
  return [
    `- ${stage.stage}: **${stage.status}** (${ran})`,
    ...stage.checks.map((check) => `  - ${checkLine(check)}`),
  ];
}

function checkLine({ id, status, required, tests }: CheckRecord): string {
  const counts =
    tests === undefined
      ? ''
      : `, ${tests.passed} tests passed, ${tests.failed} failed, ${tests.skipped} skipped`;
  return `${codeSpan(id)}: **${status}**${required ? '' : ' (not required)'}${counts}`;
}
