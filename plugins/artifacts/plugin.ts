/* The built-in producers of `patchset` and `release-notes`. */
import type { ArtifactProducer, ArtifactRequest } from '../../core/interfaces/artifact.ts';
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { CheckRecord, StageRecord } from '../../core/interfaces/stage.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';
import { markdownRaw, markdownText } from '../../readers/documents/markdown-text.ts';

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
 * `release-notes`: the request, the changes and the gate results so far, as Markdown. Untrusted text is escaped. If
 * the spec's `encodingPolicy` is `none`, only HTML is escaped.
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

/**
 * A Markdown code span that shows untrusted text as it is, on one line; hidden and direction-changing characters are
 * spelled out.
 */
export function codeSpan(text: string): string {
  const shown = text
    .toWellFormed()
    .replaceAll(/[\s\u2028\u2029]+/g, ' ')
    .trim()
    .replaceAll(
      /[\p{Cc}\p{Cf}]/gu,
      (hidden) => `[U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padding = longest > 0 || shown === '' ? ' ' : '';
  return `${fence}${padding}${shown}${padding}${fence}`;
}

/** `patchset`: the diff from base to candidate as `objmodel.runPolicy.patchsetFormat` wants it. */
export const patchsetProducer = {
  contentType: 'text/x-diff',
  extension: 'patch',
  async produce({ spec, patch }) {
    return spec.objmodel.runPolicy.patchsetFormat === 'GitDiff'
      ? Buffer.from(patch.diff)
      : toUnifiedDiff(patch);
  },
} satisfies ArtifactProducer;

/**
 * The diff with plain `---`/`+++` headers. A change that these cannot express (rename, copy, mode, link, binary,
 * empty file) keeps its git section. So the result, applied, gives exactly the candidate.
 */
function toUnifiedDiff({ diff, files }: Pick<PatchSet, 'diff' | 'files'>): Uint8Array {
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  const parts: Buffer[] = [];
  // Behind a git section without hunks, `---` would be read as part of that section.
  let headerOpen = false;
  for (const { start, end } of files) {
    const git = bytes.subarray(start, end);
    const plain: Buffer | undefined = headerOpen ? undefined : plainSection(git);
    parts.push(plain ?? git);
    headerOpen = plain === undefined && !git.includes('\n@@ -');
  }
  return Buffer.concat(parts);
}

function plainSection(git: Buffer): Buffer | undefined {
  const header = git.indexOf('\n--- ');
  if (header < 0) return undefined;
  const lines = git.toString('latin1', 0, header).split('\n').slice(1);
  const plain = lines.every((line) =>
    /^(?:index [0-9a-f.]+(?: 100644)?|(?:new|deleted) file mode 100644)$/.test(line),
  );
  return plain ? git.subarray(header + 1) : undefined;
}

/** What the engine makes of a change itself where no check delivered it: `patchset` and `release-notes`. */
export const artifactsPlugin = definePlugin({
  name: 'artifacts',
  api: 1,
  enforces: [
    'artifacts.required.name=patchset',
    'artifacts.required.name=release-notes',
    'objmodel.runPolicy.patchsetFormat',
  ],
  setup({ slots }) {
    slots.artifact.add('patchset', patchsetProducer);
    slots.artifact.add('release-notes', releaseNotesProducer);
    return undefined;
  },
});
