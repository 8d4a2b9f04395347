/* The rule `suppressions`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { createAnchorSearch } from '../../readers/anchors/anchor-search.ts';
import { hunkLines } from '../../readers/diff/read-sections.ts';
import { addedBinaryLines, isNamedAsText } from '../source/changed-source.ts';

/** One form of source that suppresses a tool's findings. */
interface SuppressionMarker {
  /** The tool that looks away. */
  readonly tool: string;
  /** What every form begins with, at least four bytes of it. */
  readonly anchors: readonly string[];
  /** Matched from the anchor on, within one line. */
  readonly form: RegExp;
  /** Where the marker is syntax of the language, no comment has to open before it. */
  readonly isSyntax?: boolean;
}

/** Documented inline suppressions of analysers, type checkers, linters and secret scanners. */
export const suppressionMarkers: readonly SuppressionMarker[] = [
  { tool: 'writ', anchors: ['writ:allow-'], form: /^writ:allow-[a-z-]{1,40}/ },
  { tool: 'semgrep', anchors: ['nosem'], form: /^nosem(?:grep)?\b/ },
  { tool: 'bandit', anchors: ['nosec'], form: /^nosec\b/ },
  { tool: 'gosec', anchors: ['#nosec'], form: /^#nosec\b/ },
  { tool: 'sonar', anchors: ['NOSONAR'], form: /^NOSONAR\b/ },
  { tool: 'codeql', anchors: ['codeql', 'lgtm'], form: /^(?:codeql|lgtm)\s{0,4}\[/ },
  { tool: 'eslint', anchors: ['eslint-disable'], form: /^eslint-disable(?:-next-line|-line)?\b/ },
  { tool: 'biome', anchors: ['biome-ignore'], form: /^biome-ignore(?:-all|-start)?\b/ },
  {
    tool: 'typescript',
    anchors: ['@ts-ignore', '@ts-nocheck', '@ts-expect-error'],
    form: /^@ts-(?:ignore|nocheck|expect-error)\b/,
  },
  { tool: 'flake8', anchors: ['noqa', 'NOQA'], form: /^noqa\b/i },
  { tool: 'ruff', anchors: ['ruff:'], form: /^ruff: {0,4}noqa\b/ },
  { tool: 'mypy', anchors: ['type:'], form: /^type: {0,4}ignore\b/ },
  { tool: 'pyright', anchors: ['pyright:'], form: /^pyright: {0,4}ignore\b/ },
  { tool: 'pylint', anchors: ['pylint:'], form: /^pylint: {0,4}(?:disable|skip-file)\b/ },
  { tool: 'golangci-lint', anchors: ['nolint'], form: /^nolint\b/ },
  {
    tool: 'staticcheck',
    anchors: ['lint:ignore', 'lint:file-ignore'],
    form: /^lint:(?:ignore|file-ignore)\b/,
  },
  { tool: 'clang-tidy', anchors: ['NOLINT'], form: /^NOLINT(?:NEXTLINE|BEGIN)?\b/ },
  { tool: 'rubocop', anchors: ['rubocop:'], form: /^rubocop: {0,4}(?:disable|todo)\b/ },
  {
    tool: 'phpcs',
    anchors: ['phpcs:', '@codingStandardsIgnore'],
    form: /^(?:phpcs:(?:ignore|disable)|@codingStandardsIgnore)/,
  },
  { tool: 'phpstan', anchors: ['@phpstan-ignore'], form: /^@phpstan-ignore/ },
  { tool: 'psalm', anchors: ['@psalm-suppress'], form: /^@psalm-suppress\b/ },
  { tool: 'shellcheck', anchors: ['shellcheck'], form: /^shellcheck +disable=/ },
  { tool: 'hadolint', anchors: ['hadolint'], form: /^hadolint +(?:global +)?ignore=/ },
  { tool: 'checkov', anchors: ['checkov:skip='], form: /^checkov:skip=/ },
  { tool: 'trivy', anchors: ['trivy:ignore:', 'tfsec:ignore:'], form: /^(?:trivy|tfsec):ignore:/ },
  {
    tool: 'snyk',
    anchors: ['snyk:ignore', 'file deepcode ignore', 'deepcode ignore'],
    form: /^(?:snyk:ignore|file deepcode ignore|deepcode ignore)\b/,
  },
  { tool: 'gitleaks', anchors: ['gitleaks:allow'], form: /^gitleaks:allow\b/ },
  { tool: 'trufflehog', anchors: ['trufflehog:ignore'], form: /^trufflehog:ignore\b/ },
  {
    tool: 'detect-secrets',
    anchors: ['pragma:'],
    form: /^pragma: {0,4}(?:allowlist|whitelist) +(?:nextline +)?secret\b/,
  },
  {
    tool: 'javac',
    anchors: ['@Suppress'],
    form: /^@Suppress(?:Warnings|Lint|FBWarnings)?\s{0,4}\(/,
    isSyntax: true,
  },
  { tool: 'rustc', anchors: ['[allow(', '[expect('], form: /^\[(?:allow|expect)\(/, isSyntax: true },
  {
    tool: 'dotnet',
    anchors: ['#pragma warning disable', 'SuppressMessage'],
    form: /^(?:#pragma warning disable\b|SuppressMessage\s{0,4}\()/,
    isSyntax: true,
  },
];

const rule = 'suppressions';
const maxFindings = 500;
/** The search stops this deep in a line: no comment begins there. */
const maxLineBytes = 64 * 1024;
const maxFormBytes = 120;
const known = new Set(['forbid', 'allow_tools']);
const search = createAnchorSearch(
  suppressionMarkers.flatMap((marker) => marker.anchors.map((anchor) => [marker, anchor] as const)),
);
const openings = /\/\/|\/\*|#|--|<!--|;|%|^\s*\*|"""|'''/;

/**
 * Lists every added line that suppresses a tool's findings, because an inline suppression hides them from the
 * reviewer. `[rules.suppressions] forbid = true` refuses them, except those of `allow_tools`.
 */
export const judge: RuleFunction = (input) => {
  const { forbid = false, allow_tools: allowed = [] } = input.options;
  const problem = optionProblem(input.options);
  if (problem !== undefined)
    return [
      {
        rule,
        severity: 'error',
        message: `\`[rules.suppressions]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
      },
    ];
  const findings: Finding[] = [];
  for (const file of input.patch.files) {
    if (file.changeType === 'delete' || isPicture(file)) continue;
    for (const { line, column, tool } of marked(input, file)) {
      const isForbidden = forbid === true && !(allowed as readonly string[]).includes(tool);
      findings.push({
        rule,
        severity: isForbidden ? 'error' : 'note',
        message: `an added line instructs \`${tool}\` to look away`,
        path: file.path,
        line,
        column,
        detail: { tool },
      });
      if (findings.length >= maxFindings) return [...findings, tooMany(forbid === true)];
    }
  }
  return findings;
};

/** Binary files with a name that does not indicate text. A NUL must not hide any other file. */
function isPicture({ binary, path }: PatchFile): boolean {
  return binary && !isNamedAsText(path);
}

interface AddedLine {
  readonly line: number;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** For a binary file, the lines that the diff contains. The rule `secrets` reports each binary file without any. */
function* addedLines({ patch: { diff } }: RuleInput, file: PatchFile): Generator<AddedLine> {
  if (file.binary) {
    for (const { line, bytes } of addedBinaryLines(diff, file) ?? []) {
      const plain = bytes.includes(0) ? Buffer.from(bytes.filter((byte) => byte !== 0)) : bytes;
      yield { line, bytes: plain, start: 0, end: plain.length };
    }
    return;
  }
  const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
  for (const { kind, line, start, end } of hunkLines(diff, file))
    if (kind === 'added') yield { line, bytes, start, end };
}

interface Marked {
  readonly line: number;
  readonly column: number;
  readonly tool: string;
}

function* marked(input: RuleInput, file: PatchFile): Generator<Marked> {
  for (const { line, bytes, start, end } of addedLines(input, file)) {
    const last = Math.min(end, start + maxLineBytes);
    const places: { readonly at: number; readonly marker: SuppressionMarker }[] = [];
    search.scan(bytes, start, last, (marker, at) => {
      places.push({ at, marker });
      return false;
    });
    const tools = new Set<string>();
    // `#nosec` must not match again as `nosec`.
    let covered = start;
    for (const { at, marker } of places) {
      if (at < covered || tools.has(marker.tool) || !isMarker(marker, bytes, start, at, last)) continue;
      covered = at + formLength(marker, bytes, at, last);
      tools.add(marker.tool);
      yield { line, column: bytes.toString('utf8', start, at).length + 1, tool: marker.tool };
    }
  }
}

function formLength({ form }: SuppressionMarker, diff: Buffer, at: number, end: number): number {
  return form.exec(diff.toString('latin1', at, Math.min(end, at + maxFormBytes)))?.[0].length ?? 0;
}

/** Whether the form is a separate word, in a comment or as syntax. */
function isMarker(marker: SuppressionMarker, diff: Buffer, start: number, at: number, end: number): boolean {
  if (formLength(marker, diff, at, end) === 0) return false;
  const before = diff.toString('latin1', start, at);
  if (/[\w-]$/.test(before)) return false;
  return marker.isSyntax === true || marker.form.source.startsWith('^#') || openings.test(before);
}

function optionProblem(options: RuleInput['options']): string | undefined {
  const { forbid = false, allow_tools: allowed = [] } = options;
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown !== undefined) return `\`${unknown}\` is no option; known are \`forbid\` and \`allow_tools\``;
  if (typeof forbid !== 'boolean') return '`forbid` is expected to be true or false';
  const tools = new Set(suppressionMarkers.map(({ tool }) => tool));
  const wrong = Array.isArray(allowed) ? allowed.find((tool) => !tools.has(String(tool))) : String(allowed);
  if (wrong === undefined) return undefined;
  return `\`allow_tools\` is expected to name tools among ${[...tools].join(', ')}`;
}

function tooMany(forbid: boolean): Finding {
  const message = `more than ${maxFindings} inline suppressions; the rest is not listed`;
  return { rule, severity: forbid ? 'error' : 'note', message };
}
